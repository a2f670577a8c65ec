"""A reader of all outputs, as a user has one: attached before anything happens, read_committed, to the end."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Sequence

from aiokafka import AIOKafkaConsumer, TopicPartition

from stream_dedup.kafka.client import KafkaBroker, record_of
from stream_dedup.kafka.topics import TopicNames
from stream_dedup.kafka.transport import Record
from tests.flow.differences import Difference, Kind
from tests.flow.workers import DEADLINE

POLL_MS = 500
"""Of one fetch; it returns as soon as there is anything."""


class AttachedReader:
    """All that a reader of the outputs has been given."""

    def __init__(self, consumer: AIOKafkaConsumer) -> None:
        self._consumer = consumer
        self._records: list[Record] = []

    async def has_seen(self, records: int) -> None:
        """Read until it was given so many."""
        async with asyncio.timeout(DEADLINE + records / 50):
            while len(self._records) < records:
                found = await self._consumer.getmany(timeout_ms=POLL_MS)
                self._records += [record_of(one) for part in found.values() for one in part]

    def differences(self, final: Sequence[Record]) -> list[Difference]:
        """How what it was given differs from what stands in the logs: nothing else, nothing twice, nothing less."""
        places = Counter((record.topic, record.partition, record.offset) for record in self._records)
        standing = {(record.topic, record.partition, record.offset): record for record in final}
        found = [Difference(Kind.EXTRA, f"read twice: {place}") for place, times in places.items() if times > 1]
        found += [
            Difference(Kind.EXTRA, f"read, and not in the logs: {record}")
            for record in self._records
            if standing.get((record.topic, record.partition, record.offset)) != record
        ]
        return found + [Difference(Kind.LOST, f"never read: {place}") for place in standing.keys() - places.keys()]


@contextlib.asynccontextmanager
async def attached(broker: KafkaBroker, topics: TopicNames) -> AsyncIterator[AttachedReader]:
    """A reader that begins now, at the start of every partition of the outputs."""
    parts = [TopicPartition(topic, part) for topic in topics.outputs for part in range(await broker.partitions(topic))]
    consumer = AIOKafkaConsumer(
        bootstrap_servers=broker.connection.bootstrap_servers,
        isolation_level="read_committed",
        auto_offset_reset="none",
        enable_auto_commit=False,
    )
    consumer.assign(parts)
    async with consumer:
        await consumer.seek_to_beginning(*parts)
        yield AttachedReader(consumer)
