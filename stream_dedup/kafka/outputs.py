"""Reads several topics together, committed records only, and knows which partitions are read to their end."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from stream_dedup.errors import BrokerUnreachableError
from stream_dedup.kafka.client import record_of
from stream_dedup.kafka.connection import Connection, close_quietly, retried
from stream_dedup.kafka.transport import Record

FETCH_RECORDS = 2000


class Begin(StrEnum):
    """Where to begin reading."""

    EARLIEST = "earliest"
    LATEST = "latest"


class OutputReader:
    """Reads the partitions it was made for, outside any group."""

    def __init__(self, consumer: AIOKafkaConsumer, partitions: Sequence[TopicPartition]) -> None:
        self._consumer = consumer
        self.partitions = [(of.topic, of.partition) for of in partitions]
        """Topic and partition."""

    async def fetch(self, wait: float) -> list[Record]:
        """The next records, in order on each partition; none after `wait` seconds.

        Raises:
            BrokerUnreachableError: the broker refuses or does not answer.
        """
        try:
            found = await self._consumer.getmany(timeout_ms=int(wait * 1000), max_records=FETCH_RECORDS)
        except KafkaError as error:
            raise BrokerUnreachableError(f"the outputs cannot be read: {error!r}") from error
        return [record_of(one) for records in found.values() for one in records]

    async def ended(self) -> set[tuple[str, int]]:
        """The partitions of which everything committed has been read."""
        ended = set()
        for topic, partition in self.partitions:
            of = TopicPartition(topic, partition)
            end = self._consumer.last_stable_offset(of)
            if end is not None and 0 <= end <= await self._consumer.position(of):
                ended.add((topic, partition))
        return ended


@contextlib.asynccontextmanager
async def output_reader(
    connection: Connection, partitions: Sequence[tuple[str, int]], begin: Begin
) -> AsyncIterator[OutputReader]:
    """A reader of these partitions of topics that exist; a position is fixed before it is given out."""
    consumer = AIOKafkaConsumer(
        bootstrap_servers=connection.bootstrap_servers,
        client_id=connection.client_id,
        isolation_level="read_committed",
        auto_offset_reset=begin.value,
        enable_auto_commit=False,
        request_timeout_ms=int(connection.call_timeout * 1000),
        max_partition_fetch_bytes=connection.batch_bytes,
        fetch_max_bytes=connection.batch_bytes,
    )
    of = [TopicPartition(topic, partition) for topic, partition in partitions]
    try:
        async with asyncio.timeout(connection.call_timeout):
            await consumer.start()
        consumer.assign(of)
        offsets = consumer.beginning_offsets if begin is Begin.EARLIEST else consumer.end_offsets
        for partition, offset in (await retried(lambda: offsets(of), connection.call_timeout)).items():
            consumer.seek(partition, offset)
        yield OutputReader(consumer, of)
    finally:
        await close_quietly(consumer.stop())
