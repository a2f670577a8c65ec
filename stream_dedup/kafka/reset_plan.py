"""What a reset would do: pure rules from what the topics hold to where each partition goes on.

A reset mends what the stages refuse to go on with (see positions.py). It either keeps the index, and goes on where the
internal topics say that reading ended; or it begins with an empty one, from places that a person has chosen.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from stream_dedup.core.delta import Delta
from stream_dedup.core.rules import Rules
from stream_dedup.core.verdict import Kind
from stream_dedup.kafka.changelog import ChangelogRecord, RawProgress
from stream_dedup.kafka.positions import TopicIds
from stream_dedup.kafka.transport import Bounds


@dataclass(frozen=True, slots=True)
class Standing:
    """What the topics hold before a reset."""

    ids: TopicIds
    raw: Mapping[int, Bounds]
    """By raw partition."""
    fingerprinted: Bounds


@dataclass(frozen=True, slots=True)
class FirstRecord:
    """What an empty index begins with."""

    sequence: int
    """The next article's place in the total order."""
    rules: Rules
    routes: Mapping[Kind, str]


@dataclass(frozen=True, slots=True)
class RawStep:
    """Where one raw partition goes on."""

    partition: int
    ended: int | None
    """Where reading has ended so far, None where that is not known."""
    next: int
    """The offset to go on at."""

    @property
    def again(self) -> int:
        """Offsets that are read again: what stands there comes out again."""
        return 0 if self.ended is None else max(0, self.ended - self.next)

    @property
    def left_out(self) -> int:
        """Offsets that are never read."""
        return 0 if self.ended is None else max(0, self.next - self.ended)


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a reset would do."""

    raw: tuple[RawStep, ...]
    position: int
    """Offset of the fingerprinted topic that the decide stage goes on at."""
    undecided: int
    """Offsets of the fingerprinted topic between where deciding ended and the position: what stands there is not
    decided, but fingerprinted again where a raw partition goes back."""
    entries: int
    """Kept articles that the index goes on with."""
    record: ChangelogRecord
    """The event that is written into the changelog."""
    empties: bool
    """All of the changelog is deleted first, and of the fingerprinted topic what is below the position."""


def keeping_the_index(
    standing: Standing, last: ChangelogRecord, waiting: RawProgress | None, entries: int, sequence: int
) -> Plan:
    """Go on where the internal topics say that reading ended.

    Args:
        standing: what the topics hold.
        last: the changelog's last record.
        waiting: how far articles have come with those that wait to be decided; None where those are lost.
        entries: of the index.
        sequence: the next article's place in the total order, not below the changelog's.
    """
    delta = last.delta
    position = standing.fingerprinted.end if waiting is None else delta.end
    come = last.raw if waiting is None else waiting
    steps = tuple(
        _step(partition, come.offsets.get(partition) if come.topic_id == standing.ids.raw else None, log)
        for partition, log in standing.raw.items()
    )
    # What waits is not decided, and the changelog says what is.
    decided = last.raw if waiting is not None else _progress(standing, steps)
    event = Delta(delta.end, position, sequence, delta.clock, (), delta.evicted_below, delta.rules)
    return Plan(
        raw=steps,
        position=position,
        undecided=0 if waiting is not None else max(0, position - standing.fingerprinted.start),
        entries=entries,
        record=ChangelogRecord(event, last.routes, standing.ids.fingerprinted, decided),
        empties=False,
    )


def _step(partition: int, ended: int | None, log: Bounds) -> RawStep:
    """A partition of which nothing is known was never read, or made anew: from its start."""
    return RawStep(partition, ended, log.start if ended is None else min(max(ended, log.start), log.end))


def with_an_empty_index(
    standing: Standing,
    ended: RawProgress | None,
    chosen: Mapping[int, int],
    position: int,
    first: FirstRecord,
) -> Plan:
    """Go on at chosen offsets with nothing kept.

    Args:
        standing: what the topics hold.
        ended: how far articles have come, None where that is not known.
        chosen: the offset of each raw partition to go on at.
        position: offset of the fingerprinted topic that the decide stage goes on at.
        first: what the changelog begins with.
    """
    offsets = ended.offsets if ended is not None and ended.topic_id == standing.ids.raw else {}
    steps = tuple(RawStep(partition, offsets.get(partition), chosen[partition]) for partition in standing.raw)
    delta = Delta(position, position, first.sequence, (), (), 0, first.rules)
    return Plan(
        raw=steps,
        position=position,
        undecided=0,
        entries=0,
        record=ChangelogRecord(delta, first.routes, standing.ids.fingerprinted, _progress(standing, steps)),
        empties=True,
    )


def _progress(standing: Standing, steps: tuple[RawStep, ...]) -> RawProgress:
    return RawProgress(standing.ids.raw, {step.partition: step.next for step in steps})
