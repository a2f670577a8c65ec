"""The real transport where no Kafka answers, and what it reads where one does."""

import asyncio
import uuid
from unittest.mock import patch

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from stream_dedup.kafka import client
from stream_dedup.kafka.client import KafkaBroker, connect
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.topics import wait_until_known


class _Connecting(AIOKafkaConsumer):  # type: ignore[misc]  # aiokafka has no types
    """A consumer that never gets through, and remembers whether it was stopped."""

    begun = asyncio.Event()
    stopped = False

    async def start(self) -> None:
        """Wait for ever."""
        self.begun.set()
        await asyncio.Event().wait()

    async def stop(self) -> None:
        """Remember."""
        type(self).stopped = True
        await super().stop()


async def test_a_reader_that_is_cut_off_while_it_connects_is_closed() -> None:
    """A worker that stops in the middle of a restore leaves no connection behind."""
    connection = Connection("127.0.0.1:1")
    admin, probe = AIOKafkaAdminClient(), AIOKafkaConsumer()
    broker = KafkaBroker(connection, admin, probe)
    with patch.object(client, "TolerantConsumer", _Connecting):
        opening = asyncio.create_task(broker.source("index", 0, 0))
        await _Connecting.begun.wait()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
    assert _Connecting.stopped
    await probe.stop()
    await admin.close()


@pytest.mark.asyncio(loop_scope="session")
async def test_what_compresses_well_is_handed_out_in_bounded_batches(broker: str) -> None:
    """Ten megabytes that came as some kilobytes are handed out a few at a time, each once and in order."""
    topic, batch_bytes = f"compressed-{uuid.uuid4().hex[:8]}", 3_000_000
    values = [b"%d" % number + bytes(1_000_000) for number in range(10)]
    async with connect(Connection(broker, batch_bytes=batch_bytes)) as kafka:
        await kafka.admin.create_topics([NewTopic(topic, 1, 1)])
        await wait_until_known(kafka, topic)
        producer = AIOKafkaProducer(
            bootstrap_servers=broker, compression_type="gzip", max_batch_size=2**25, max_request_size=2**25
        )
        await producer.start()
        await asyncio.gather(*[await producer.send(topic, value) for value in values])
        await producer.stop()
        source = await kafka.source(topic, 0, 0)
        read: list[bytes | None] = []
        async with asyncio.timeout(60):
            while len(read) < len(values):
                found = await source.fetch(1000, 0.2)
                assert sum(len(record.value or b"") for record in found) <= batch_bytes
                read += [record.value for record in found]
                assert source.position == len(read)
        await source.close()
    assert read == values
