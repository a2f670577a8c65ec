"""A standby takes over with the index that it holds."""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from stream_dedup.kafka.connection import RETRY_PAUSE
from tests.faults.driver import stopped, stream
from tests.faults.members import have_joined
from tests.flow.workers import DEADLINE, Worker

pytestmark = pytest.mark.asyncio(loop_scope="session")

PORTION = 120


async def test_a_standby_has_followed_when_the_owner_is_killed(broker: str, tmp_path: Path) -> None:
    """It restores from where it stands instead of from the start, and its verdicts are those of an undisturbed run."""
    async with stream(broker, tmp_path, articles=2 * PORTION, seed=1) as running:
        async with running.ready.worker("first") as first, running.ready.worker("second") as second:
            await have_joined(running.ready, 2)
            await running.publish(PORTION)
            await running.is_through()
            owner, other = (second, first) if _lines(first, "standing by") else (first, second)
            await _says(other, "ready to take over")
            owner.signal(signal.SIGKILL)
            assert await owner.ended() == -signal.SIGKILL
            await running.publish(PORTION)
            await running.is_through()
            assert await stopped([other]) == [0]
        (restored,) = _lines(other, "index restored")
        assert isinstance(restored["changelog_from"], int)
        assert restored["changelog_from"] > 0
        assert await running.differences() == []


def _lines(worker: Worker, event: str) -> list[dict[str, object]]:
    """What a worker has logged of one kind."""
    lines = [json.loads(line) for line in worker.log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


async def _says(worker: Worker, event: str) -> None:
    async with asyncio.timeout(DEADLINE):
        while True:
            if _lines(worker, event):
                return
            await asyncio.sleep(RETRY_PAUSE)
