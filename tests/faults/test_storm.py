"""Rebalances without rest, on real Kafka; `make faults` has a longer one."""

from pathlib import Path

import pytest

from tests.faults.storm import run_storm

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_workers_that_come_and_go_lose_nothing(broker: str, tmp_path: Path) -> None:
    """However often the partitions change hands: each article comes out once, and whoever is told to end ends well."""
    outcome = await run_storm(broker, tmp_path, events=10, seed=1)
    assert outcome.unmet == ()
    assert outcome.differences == ()
