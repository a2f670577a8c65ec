"""Where a stage may begin to read, or why it must not: pure rules over what is committed and what the logs hold.

Going on from a wrong place would drop or repeat articles in silence, so each doubt is refused with what to do.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.transport import Bounds, Input


@dataclass(frozen=True, slots=True)
class Start:
    """A place to read from, and what a log line should say about it, if anything."""

    offset: int
    warning: str | None = None


def fingerprint_start(of: Input, committed: Mapping[int, int], log: Bounds, *, begun: bool) -> Start:
    """Where the fingerprint stage reads a raw partition from.

    Args:
        of: the partition.
        committed: the group's offsets of the topic, by partition.
        log: what the raw partition holds.
        begun: something has been fingerprinted before.

    Raises:
        LogRefusedError: offsets were lost, or articles were deleted unread.
    """
    offset = committed.get(of.partition)
    name = str(of)
    if offset is not None:
        remedy = (
            f"To go on with what is there, set the group's offset: kafka-consumer-groups --group {of.group} "
            f"--topic {of.topic}:{of.partition} --reset-offsets --to-earliest --execute"
        )
        return Start(_within(name, offset, log, remedy))
    if not committed and begun:
        raise LogRefusedError(
            f"the group {of.group} has no committed offsets for {of.topic}, yet articles were fingerprinted: "
            "its offsets were lost or have expired, and reading from the start would repeat articles. "
            f"Set them (kafka-consumer-groups --group {of.group} --topic {of.topic} --reset-offsets), then start again"
        )
    # A first start, or a partition added later: from the earliest article there is.
    return Start(log.start)


def decide_start(of: Input, restored: int | None, committed: int | None, log: Bounds, changelog: Bounds) -> Start:
    """Where the decide stage reads from: the changelog's position is the authority.

    Args:
        of: the input partition.
        restored: the next input offset by the changelog, None where it holds no record.
        committed: the group's committed offset, None where nothing is committed.
        log: what the input holds.
        changelog: what the changelog holds.

    Raises:
        LogRefusedError: changelog, offset and input contradict each other.
    """
    name = str(of)
    if restored is None:
        # A first transaction that was aborted leaves offsets in the changelog, and nothing else.
        if committed is not None or changelog.start > 0:
            raise LogRefusedError(
                f"the changelog is empty, yet the group {of.group} has committed offset {committed} of {name} and the "
                f"changelog's log goes from {changelog.start} to {changelog.end}: the index was lost, and every "
                "article so far would be judged as new. " + _hint(of)
            )
        return Start(_within(name, 0, log, _hint(of)))
    if committed is not None and committed > restored:
        raise LogRefusedError(
            f"the group {of.group} has committed offset {committed} of {name}, but the changelog ends at {restored}: "
            f"its last records were lost. Set the offset back to {restored} and remove what was written since, or "
            "begin anew. " + _hint(of)
        )
    offset = _within(name, restored, log, _hint(of))
    if committed == restored:
        return Start(offset)
    found = "no offset is committed" if committed is None else f"the committed offset is {committed}"
    return Start(offset, f"{found} for {name}; going on at {restored}, where the changelog stands")


def _within(name: str, offset: int, log: Bounds, remedy: str) -> int:
    if offset < log.start:
        raise LogRefusedError(
            f"{name} begins at offset {log.start}, but {offset} is the next one to read: {log.start - offset} offsets "
            f"were deleted unread. Raise the topic's retention. {remedy}"
        )
    if offset > log.end:
        raise LogRefusedError(
            f"{name} ends at offset {log.end}, but {offset} is the next one to read: the topic was made anew or has "
            f"lost its end. {remedy}"
        )
    return offset


def _hint(of: Input) -> str:
    group = of.group.rsplit(".", 1)[0]
    return (
        f"To begin anew: stop all workers, delete {of.topic}, the changelog and the offsets of {group}.*, start again"
    )
