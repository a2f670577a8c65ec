"""What several test modules share."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings

from stream_dedup.kafka.local_broker import LocalBroker, local_broker

# Property tests judge answers, never how long a busy machine took over them.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def running_broker() -> AsyncIterator[LocalBroker]:
    """One real Kafka for the whole run."""
    async with local_broker() as running:
        yield running


@pytest.fixture(scope="session")
def broker(running_broker: LocalBroker) -> str:
    """Bootstrap servers of the run's Kafka: tests make topics and groups with names of their own."""
    return running_broker.bootstrap_servers
