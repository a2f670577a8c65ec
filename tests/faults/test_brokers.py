"""Three brokers, of which one dies, hangs or is restarted under load; all faults: `python -m tests.faults.brokers`."""

from pathlib import Path

import pytest

from tests.faults.brokers import FAULTS, endure
from tests.faults.cluster import cluster

pytestmark = pytest.mark.asyncio(loop_scope="session")

ARTICLES = 400
"""For each fault."""
A_DEATH, A_SILENCE = "the decide transactions' coordinator is killed", "the leader of index is suspended"


async def test_work_goes_on_while_a_broker_is_gone(tmp_path: Path) -> None:
    """Whether a broker dies or hangs: both workers live, all is decided without it, and outputs are the oracle's."""
    async with cluster(3) as brokers:
        faults = {name: FAULTS[name] for name in (A_DEATH, A_SILENCE)}
        assert await endure(brokers, tmp_path, faults, seed=20, articles=ARTICLES) == []
