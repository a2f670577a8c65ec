"""How far the articles of the raw topic have come, by what stands in the internal topics.

The changelog's last record tells how far they are decided; the records of the fingerprinted topic behind its position
wait. Together they know each raw article that was ever handed over, whatever became of the group's offsets.
"""

import contextlib
from collections.abc import AsyncGenerator, Iterable, Sequence

from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.changelog import ChangelogRecord, RawProgress, decode_record
from stream_dedup.kafka.records import Handover, decode_handover
from stream_dedup.kafka.transport import Broker, Record
from stream_dedup.kafka.ways_out import WITHOUT_THE_INDEX

NO_PROGRESS = RawProgress("", {})
FETCH_RECORDS = 1000
FETCH_WAIT = 0.5
"""Seconds that a fetch waits for a first record."""
LAST_OFFSETS = 8
"""Offsets in which the last record is looked for first, then eight times as many: markers take offsets, too."""


def handed_over(progress: RawProgress, handovers: Iterable[Handover]) -> RawProgress:
    """How far articles have come with these; those of another topic than the ones before begin anew."""
    topic_id, offsets = progress.topic_id, dict(progress.offsets)
    for handover in handovers:
        if handover.raw_topic_id != topic_id:
            topic_id, offsets = handover.raw_topic_id, {}
        offsets[handover.raw_partition] = handover.raw_offset + 1
    return RawProgress(topic_id, offsets)


async def last_change(broker: Broker, changelog: str) -> ChangelogRecord | None:
    """The changelog's last committed record, None where it holds none.

    Raises:
        LogRefusedError: it is torn, foreign, or of another version of this project.
    """
    last = await last_record(broker, changelog, 0)
    return None if last is None else decode_record(last.value, f"{changelog}-0 offset {last.offset}")


async def last_record(broker: Broker, topic: str, partition: int) -> Record | None:
    """A partition's last committed record, None where it holds none."""
    bounds = await broker.bounds(topic, partition)
    start, back = bounds.end, LAST_OFFSETS
    while start > bounds.start:
        start, end = max(bounds.start, bounds.end - back), start
        last: Record | None = None
        async with contextlib.aclosing(_read(broker, topic, partition, start, end)) as batches:
            async for records in batches:
                last = records[-1]
        if last is not None:
            return last
        back *= LAST_OFFSETS
    return None


async def waiting(broker: Broker, fingerprinted: str, progress: RawProgress, position: int) -> RawProgress:
    """How far articles have come with those that stand in the fingerprinted topic from a position on.

    Raises:
        LogRefusedError: a record there was not written by the fingerprint stage.
    """
    bounds = await broker.bounds(fingerprinted, 0)
    start = max(position, bounds.start)
    async with contextlib.aclosing(_read(broker, fingerprinted, 0, start, bounds.end)) as batches:
        async for records in batches:
            progress = handed_over(progress, map(decode_handover, records))
    return progress


async def read_progress(broker: Broker, fingerprinted: str, changelog: str) -> RawProgress | None:
    """How far articles have come; None where none was ever handed over.

    Raises:
        LogRefusedError: the internal topics do not tell.
    """
    last = await last_change(broker, changelog)
    if last is None and (await broker.bounds(fingerprinted, 0)).start > 0:
        raise LogRefusedError(
            f"{changelog} is empty, yet articles were decided and deleted from {fingerprinted}: how far the raw topic "
            f"was read is not known. To go on where the group's offsets stand: {WITHOUT_THE_INDEX}"
        )
    decided, position = (NO_PROGRESS, 0) if last is None else (last.raw, last.delta.end)
    progress = await waiting(broker, fingerprinted, decided, position)
    return progress if progress.topic_id else None


async def _read(broker: Broker, topic: str, partition: int, start: int, end: int) -> AsyncGenerator[Sequence[Record]]:
    """The committed records from an offset up to another, in batches that are not empty."""
    if start >= end:
        return
    source = await broker.source(topic, partition, start)
    try:
        while source.position < end:
            records = [record for record in await source.fetch(FETCH_RECORDS, FETCH_WAIT) if record.offset < end]
            if records:
                yield records
    finally:
        await source.close()
