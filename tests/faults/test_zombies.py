"""Workers that sleep past their session timeout and wake up, on real Kafka."""

import signal
from pathlib import Path

import pytest

from stream_dedup.kafka.observer import Stage
from stream_dedup.kafka.points import Point
from tests.faults.fault import Fault
from tests.faults.zombies import LONG_CALL, SHORT_CALL, run_zombie

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize(
    ("point", "stage", "call_timeout"),
    [
        pytest.param(Point.AFTER_SENDS, Stage.DECIDE, LONG_CALL, id="decide, in a transaction"),
        pytest.param(Point.COMMITTING, Stage.FINGERPRINT, LONG_CALL, id="fingerprint, asking for the commit"),
        pytest.param(Point.AFTER_OFFSETS, Stage.DECIDE, SHORT_CALL, id="decide, longer than a call may take"),
        pytest.param(Point.COMMITTED, Stage.DECIDE, LONG_CALL, id="decide, between transactions"),
    ],
)
async def test_who_wakes_up_too_late_writes_nothing(
    broker: str, tmp_path: Path, point: Point, stage: Stage, call_timeout: str
) -> None:
    """Another has gone on meanwhile: the one that slept is fenced, joins the group anew, and no reader notices."""
    fault = Fault(point, stage, nth=2, by=signal.SIGSTOP)
    outcome = await run_zombie(broker, tmp_path, fault, seed=1, call_timeout=call_timeout)
    assert outcome.unmet == ()
    assert outcome.differences == ()
