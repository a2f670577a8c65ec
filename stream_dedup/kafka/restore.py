"""Reading the changelog into a decider, record by record, with the chain checked."""

from collections.abc import Callable, Sequence

from stream_dedup.core.decider import Decider
from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.changelog import ChangelogRecord, decode_record
from stream_dedup.kafka.threads import in_thread
from stream_dedup.kafka.transport import Bounds, Broker, Record

SLICE = 200
"""Records applied at a time, in a thread, so that heartbeats and health checks go on meanwhile."""
FETCH_WAIT = 0.5


async def restore(
    broker: Broker,
    topic: str,
    *,
    from_offset: int,
    decider: Decider | None,
    new: Callable[[int], Decider],
    applied: Callable[[int, ChangelogRecord], None],
    progressed: Callable[[], None],
) -> tuple[Decider | None, Bounds]:
    """The decider after every committed record of the changelog, and where the changelog stood.

    Args:
        broker: where the changelog stands.
        topic: the changelog; it has one partition.
        from_offset: the changelog offset up to which `decider` has been brought.
        decider: one that stands at an earlier record, kept from an earlier ownership; None to begin.
        new: makes an empty decider at an input position.
        applied: called with each record and its offset once it is applied.
        progressed: called after each slice; not while the broker gives nothing.

    Returns:
        The decider, None where the changelog holds no record; and what the changelog held: every record up to its
        end is part of the decider, and nothing of what another owner may have written since.

    Raises:
        LogRefusedError: the chain is broken, a record is no delta, or the changelog ends before `from_offset`.
    """
    bounds = await broker.bounds(topic, 0)
    decider = _continuable(decider, from_offset, topic, bounds)
    offset = bounds.start if decider is None else from_offset
    source = await broker.source(topic, 0, offset)
    try:
        while source.position < bounds.end:
            before = source.position
            records = await source.fetch(SLICE, FETCH_WAIT)
            if records:
                decider = await in_thread(_apply, decider, records, new, applied)
            if source.position > before:
                progressed()
    finally:
        await source.close()
    return decider, bounds


def _continuable(decider: Decider | None, from_offset: int, topic: str, bounds: Bounds) -> Decider | None:
    """The decider, unless its next records are trimmed: then only the whole changelog still makes a chain."""
    if decider is None or from_offset < bounds.start:
        return None
    # One record at least has brought it to where it stands, and the last one is never deleted.
    if bounds.end < max(from_offset, 1):
        raise LogRefusedError(
            f"{topic} ends at offset {bounds.end}, but the index was brought up to {from_offset}: the changelog was "
            "made anew or has lost its end, and the index could not be restored from it after the next start"
        )
    return decider


def _apply(
    decider: Decider | None,
    records: Sequence[Record],
    new: Callable[[int], Decider],
    applied: Callable[[int, ChangelogRecord], None],
) -> Decider | None:
    for record in records:
        where = f"{record.topic}-{record.partition} offset {record.offset}"
        changed = decode_record(record.value, where)
        delta = changed.delta
        if decider is None:
            decider = new(delta.start)
        if delta.start != decider.position:
            raise LogRefusedError(
                f"the chain of {record.topic} is broken: {where} starts at position {delta.start}, but the records "
                f"before it end at {decider.position}. A part of the changelog is missing or foreign: the index cannot "
                "be restored from it"
            )
        decider.apply(delta)
        applied(record.offset, changed)
    return decider
