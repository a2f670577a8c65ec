"""Three brokers, of which one dies, hangs or is restarted under load."""

from pathlib import Path

import pytest

from tests.faults.brokers import FAULTS, endure
from tests.faults.cluster import cluster

pytestmark = pytest.mark.asyncio(loop_scope="session")

ARTICLES = 400
"""For each fault."""


async def test_work_goes_on_while_a_broker_is_gone(tmp_path: Path) -> None:
    """Whichever broker is lost: both workers live on, all is decided without it, and every output is the oracle's."""
    async with cluster(3) as brokers:
        assert await endure(brokers, tmp_path, FAULTS, seed=20, articles=ARTICLES) == []
