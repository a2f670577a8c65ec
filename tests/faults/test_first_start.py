"""A worker killed in its very first transaction, on real Kafka: the log has offsets, but no record."""

import time
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer

from stream_dedup.kafka.transport import Input
from tests.flow.articles import flow
from tests.flow.deployment import PARTITIONS, Deployment, deployment

pytestmark = pytest.mark.asyncio(loop_scope="session")

ARTICLES = 50


@pytest.mark.parametrize("stage", ["fingerprint", "decide"])
async def test_an_aborted_first_transaction_is_no_lost_state(broker: str, tmp_path: Path, stage: str) -> None:
    """What a transaction left behind that never committed is no sign of lost offsets or a lost index."""
    async with deployment(broker, tmp_path) as ready:
        read, written = {
            "fingerprint": (ready.topics.raw, ready.topics.fingerprinted),
            "decide": (ready.topics.fingerprinted, ready.topics.index),
        }[stage]
        await _abort(ready, Input(f"{ready.group}.{stage}", read, 0), written)
        await ready.publish(
            flow(ARTICLES, seed=2, partitions=PARTITIONS, start=time.time_ns() // 1_000_000 - 3_600_000)
        )
        async with ready.worker():
            await ready.decided(ARTICLES)
        assert await ready.differences() == []


async def _abort(ready: Deployment, of: Input, topic: str) -> None:
    """Leave an aborted transaction in a topic, as the broker does after a kill."""
    async with AIOKafkaProducer(
        bootstrap_servers=ready.broker.connection.bootstrap_servers, transactional_id=of.transactional_id
    ) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait(topic, b"never committed", partition=0)
        await producer.abort_transaction()
