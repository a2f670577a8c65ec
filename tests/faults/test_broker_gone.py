"""A worker whose broker does not answer: it still ends when it is told to."""

import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from stream_dedup.kafka.local_broker import LocalBroker, local_broker
from tests.flow.articles import flow
from tests.flow.deployment import PARTITIONS, deployment

pytestmark = pytest.mark.asyncio(loop_scope="session")

ARTICLES = 1_000
WORKERS_OWN_LIMIT = 10.0
"""Seconds that a worker has to end after SIGTERM."""
SLOW_MACHINE = 10.0
"""Seconds on top of it for a machine that is busy with other things; a worker that hangs takes a minute and more."""


@pytest_asyncio.fixture(loop_scope="session")
async def own_broker() -> AsyncIterator[LocalBroker]:
    """A Kafka of this test's own, since it is suspended."""
    async with local_broker() as running:
        yield running


async def test_a_stop_while_the_broker_is_suspended(own_broker: LocalBroker, tmp_path: Path) -> None:
    """SIGTERM ends a worker with exit code 0 though no call is answered; nothing is lost or repeated by it."""
    async with deployment(own_broker.bootstrap_servers, tmp_path, batch_records="20") as ready:
        start = time.time_ns() // 1_000_000 - 3_600_000
        await ready.publish(flow(ARTICLES, seed=4, partitions=PARTITIONS, start=start))
        async with ready.worker("stopped") as stopped:
            await ready.decided(ARTICLES // 10)
            os.killpg(own_broker.pids[0], signal.SIGSTOP)
            try:
                begun = time.monotonic()
                stopped.signal(signal.SIGTERM)
                assert await stopped.ended() == 0
                assert time.monotonic() - begun < WORKERS_OWN_LIMIT + SLOW_MACHINE
            finally:
                os.killpg(own_broker.pids[0], signal.SIGCONT)
        assert "never retrieved" not in stopped.log.read_text()
        async with ready.worker("next"):
            await ready.decided(ARTICLES)
        assert await ready.differences() == []
