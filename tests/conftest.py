"""What several test modules share."""

from collections.abc import AsyncIterator

import pytest_asyncio

from stream_dedup.kafka.local_broker import local_broker


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def broker() -> AsyncIterator[str]:
    """Bootstrap servers of one real Kafka for the whole run: tests make topics and groups with names of their own."""
    async with local_broker() as running:
        yield running.bootstrap_servers
