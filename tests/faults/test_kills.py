"""Workers killed at every point, on real Kafka; `make faults` runs the whole matrix."""

from pathlib import Path

import pytest

from tests.faults.cases import chain
from tests.faults.driver import run_case

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_worker_killed_at_each_point_in_turn(broker: str, tmp_path: Path) -> None:
    """Whenever it dies, the next one goes on: no record lost, repeated or judged otherwise, the index as it must be."""
    case = chain(seed=1)
    outcome = await run_case(broker, tmp_path, case)
    assert outcome.unmet == ()
    assert outcome.differences == ()
    assert outcome.met == len(case.rounds)
