"""The real transport where no Kafka answers."""

import asyncio
from unittest.mock import patch

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient

from stream_dedup.kafka import client
from stream_dedup.kafka.client import KafkaBroker
from stream_dedup.kafka.connection import Connection


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
