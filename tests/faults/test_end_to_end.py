"""The whole path on real Kafka, workers as processes: all committed output, record by record, against the oracle."""

import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.flow.articles import flow
from tests.flow.deployment import PARTITIONS, Deployment, deployment
from tests.flow.outputs import read_outputs

pytestmark = pytest.mark.asyncio(loop_scope="session")

ARTICLES = 3_000


def _an_hour_ago() -> int:
    """Recent, for the raw topic's retention deletes records by their timestamps; ms."""
    return time.time_ns() // 1_000_000 - 3_600_000


@pytest_asyncio.fixture(loop_scope="session")
async def filled(broker: str, tmp_path: Path) -> AsyncIterator[Deployment]:
    """A deployment with the flow already published."""
    async with deployment(broker, tmp_path, batch_records="100") as ready:
        await ready.publish(flow(ARTICLES, seed=1, partitions=PARTITIONS, start=_an_hour_ago()))
        yield ready


async def test_one_worker(filled: Deployment) -> None:
    """Every article comes out exactly once, untouched, with the oracle's verdict and evidence."""
    async with filled.worker():
        await filled.decided(ARTICLES)
    assert await filled.differences() == []


async def test_two_workers(filled: Deployment) -> None:
    """Two workers share the raw partitions, one of them decides: the outcome is as exact as one worker's."""
    async with filled.worker("first"), filled.worker("second"):
        await filled.decided(ARTICLES)
    assert await filled.differences() == []


async def test_a_worker_killed_in_the_middle(filled: Deployment) -> None:
    """SIGKILL half-way, then another worker: nothing is lost, repeated or judged otherwise."""
    async with filled.worker("killed") as killed:
        await filled.decided(ARTICLES // 4)
        killed.signal(signal.SIGKILL)
        assert await killed.ended() == -signal.SIGKILL
    seen = await read_outputs(filled.broker, filled.topics)
    assert len(seen) < ARTICLES, "the worker was killed too late to prove anything"
    async with filled.worker("next"):
        await filled.decided(ARTICLES)
    assert await filled.differences() == []
    assert (await read_outputs(filled.broker, filled.topics))[: len(seen)] == seen


async def test_a_stop_under_load(filled: Deployment) -> None:
    """SIGTERM in the middle of the work ends a worker within 10 s, with exit code 0 and no transaction left open."""
    async with filled.worker("stopped") as stopped:
        await filled.decided(ARTICLES // 4)
        stopped.signal(signal.SIGTERM)
        assert await stopped.ended() == 0
    async with filled.worker("next"):
        await filled.decided(ARTICLES)
    assert await filled.differences() == []
