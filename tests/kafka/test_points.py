"""The points that a transaction passes, on real Kafka."""

import uuid

import pytest
from aiokafka.admin import NewTopic

from stream_dedup.kafka.client import connect
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.points import Point
from stream_dedup.kafka.transport import Input, Message

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_transaction_passes_its_points_in_order(broker: str) -> None:
    """Each once, but for the answers to its record batches: one for each partition here."""
    of = Input("group", f"in-{uuid.uuid4().hex[:8]}", 0)
    passed: list[tuple[Point, Input]] = []
    async with connect(Connection(broker), lambda point, at: passed.append((point, at))) as kafka:
        await kafka.admin.create_topics([NewTopic(of.topic, 2, 1)])
        transactions = kafka.transactions(of)
        await transactions.start()
        await transactions.commit([Message(of.topic, partition, 0, None, b"value") for partition in (0, 1)], 1)
        await transactions.close()
    assert passed == [
        (Point.BEFORE_BEGIN, of),
        (Point.BETWEEN_SENDS, of),
        (Point.BETWEEN_SENDS, of),
        (Point.AFTER_SENDS, of),
        (Point.AFTER_OFFSETS, of),
        (Point.COMMITTING, of),
        (Point.COMMITTED, of),
    ]
