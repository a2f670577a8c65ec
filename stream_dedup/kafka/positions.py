"""Where a stage may begin to read, or why it must not: pure rules over what is committed and what the logs hold.

Going on from a wrong place would drop or repeat articles in silence, so each doubt is refused with what to do.
"""

from dataclasses import dataclass

from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.changelog import RawProgress
from stream_dedup.kafka.transport import Bounds, Input
from stream_dedup.kafka.ways_out import KEEPING_THE_INDEX, WITHOUT_THE_INDEX


@dataclass(frozen=True, slots=True)
class Start:
    """A place to read from, and what a log line should say about it, if anything."""

    offset: int
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class TopicIds:
    """The ids of the topics that the fingerprint stage reads and writes."""

    raw: str
    fingerprinted: str

    def __str__(self) -> str:
        """The mark that is kept with each offset of the stage."""
        return f"{self.raw} {self.fingerprinted}"


def marked_start(of: Input, committed: int, mark: str, log: Bounds, ids: TopicIds) -> Start:
    """Where the fingerprint stage reads a raw partition from, by an offset that one of its transactions committed.

    Args:
        of: the partition.
        committed: its offset.
        mark: what is kept with it.
        log: what the raw partition holds.
        ids: the topics' now.

    Raises:
        LogRefusedError: a topic was made anew, or articles were deleted unread.
    """
    raw, _, fingerprinted = mark.partition(" ")
    if raw != ids.raw:
        raise _another_topic(of, raw, ids)
    if fingerprinted != ids.fingerprinted:
        raise LogRefusedError(
            f"the topic that articles of {of} up to offset {committed} were handed over to had the id {fingerprinted}, "
            f"now it has {ids.fingerprinted}: it was made anew, and those that waited there are lost. To fingerprint "
            f"them again: {KEEPING_THE_INDEX}"
        )
    return Start(_within(str(of), committed, log))


def unmarked_start(of: Input, committed: int | None, log: Bounds, ids: TopicIds, progress: RawProgress | None) -> Start:
    """The same where nothing is committed, or a tool has committed it.

    Args:
        of: the partition.
        committed: its offset, None where there is none.
        log: what the raw partition holds.
        ids: the topics' now.
        progress: how far articles have come, None where none was ever handed over.

    Raises:
        LogRefusedError: the offset was lost, or leads to another place than where reading ended.
    """
    if progress is None:
        # A first start, at the earliest article there is, unless somebody chose another before it.
        if committed is None:
            return Start(log.start)
        found = f"nothing was read yet, and the offset {committed} was set for {of}; beginning there"
        return Start(_within(str(of), committed, log), found)
    if progress.topic_id != ids.raw:
        raise _another_topic(of, progress.topic_id, ids)
    ended = progress.offsets.get(of.partition)
    if ended is None and committed in {None, log.start}:
        return Start(log.start)  # a partition added later, or one without articles so far
    if committed is None:
        raise LogRefusedError(
            f"the group {of.group} has no committed offset for {of}, yet its articles were read up to offset {ended}: "
            f"the offset was lost or has expired, and reading from the start would repeat articles. To go on where "
            f"reading ended: {KEEPING_THE_INDEX}"
        )
    if ended is not None and ended < committed == log.start:
        return Start(committed, f"{committed - ended} offsets of {of} were deleted unread; going on at {committed}")
    if committed != ended:
        raise LogRefusedError(
            f"the group {of.group}'s offset of {of} was set to {committed} by another tool, but its articles were read "
            f"up to offset {log.start if ended is None else ended}: articles would be "
            f"{'left out' if committed > (ended or 0) else 'repeated'}. To go on where reading ended: "
            f"{KEEPING_THE_INDEX}"
        )
    return Start(_within(str(of), committed, log))


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
                f"article so far would be judged as new. To go on without it: {WITHOUT_THE_INDEX}"
            )
        return Start(_within(name, 0, log, WITHOUT_THE_INDEX))
    if committed is not None and committed > restored:
        raise LogRefusedError(
            f"the group {of.group} has committed offset {committed} of {name}, but the changelog ends at {restored}: "
            f"its last records were lost. To decide again what they held: {KEEPING_THE_INDEX}"
        )
    offset = _within(name, restored, log)
    if committed == restored:
        return Start(offset)
    found = "no offset is committed" if committed is None else f"the committed offset is {committed}"
    return Start(offset, f"{found} for {name}; going on at {restored}, where the changelog stands")


def check_input(of: Input, noted: str, topic_id: str) -> None:
    """Hold the topic that the changelog's positions are of to the input's.

    Raises:
        LogRefusedError: the input was made anew, or the changelog is another deployment's.
    """
    if noted != topic_id:
        raise LogRefusedError(
            f"the changelog's positions are of a topic with the id {noted}, but {of.topic} has {topic_id}: {of.topic} "
            "was made anew, or the changelog is another deployment's. To fingerprint again what is not decided: "
            f"{KEEPING_THE_INDEX}"
        )


def _another_topic(of: Input, read: str, ids: TopicIds) -> LogRefusedError:
    return LogRefusedError(
        f"{of.topic} has the id {ids.raw}, but the topic that was read so far had {read}: it was made anew, or another "
        f"is named now, and no offset of before leads anywhere in it. To read all of it: {KEEPING_THE_INDEX}"
    )


def _within(name: str, offset: int, log: Bounds, way_out: str = KEEPING_THE_INDEX) -> int:
    if offset < log.start:
        raise LogRefusedError(
            f"{name} begins at offset {log.start}, but {offset} is the next one to read: {log.start - offset} offsets "
            f"were deleted unread. Raise the topic's retention. To go on with what is there: {way_out}"
        )
    if offset > log.end:
        raise LogRefusedError(
            f"{name} ends at offset {log.end}, but {offset} is the next one to read: it has lost its end. To go on "
            f"with what is there: {way_out}"
        )
    return offset
