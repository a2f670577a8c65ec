"""How a stage begins and ends its loops."""

import asyncio
from collections.abc import Callable

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import UnknownMemberIdError
from structlog.testing import capture_logs

from stream_dedup.errors import FencedError
from stream_dedup.kafka import runner
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.observer import Stage
from stream_dedup.kafka.runner import Loop, Membership, StageRunner
from tests.kafka.test_loop import Watcher

PARTITION = TopicPartition("in", 0)


class _Slow:
    """A loop that has to finish something after it was told to stop."""

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self.go_on = asyncio.Event()
        self.ended = False

    async def run(self, stop: asyncio.Event) -> None:
        """Wait to be told to stop, then to be let go."""
        try:
            await stop.wait()
            self.stopping.set()
            await self.go_on.wait()
        finally:
            self.ended = True


class _Fenced:
    """A loop that has lost its id."""

    async def run(self, stop: asyncio.Event) -> None:
        """End with the error once told to stop."""
        await stop.wait()
        raise FencedError("taken by another")


class _Member:
    """A place in the group."""

    def pause(self, *partitions: TopicPartition) -> None:
        """Read nothing, as ever."""


def _runner(new_loop: Callable[[int], Loop], member: _Member | None) -> StageRunner:
    membership = Membership("group", "in", 10.0)
    stage = StageRunner(Connection("127.0.0.1:1"), membership, Stage.DECIDE, new_loop, Watcher(0))
    stage._member = member  # noqa: SLF001 (a group's part in it is tested on real Kafka)
    return stage


async def test_a_revocation_that_is_cut_off_leaves_no_loop_behind() -> None:
    """Closing the member in the middle of a revocation: the loops have ended before anything they use is closed."""
    loop = _Slow()
    stage = _runner(lambda _partition: loop, _Member())
    await stage.on_partitions_assigned([PARTITION])
    revoking = asyncio.create_task(stage.on_partitions_revoked([PARTITION]))
    await loop.stopping.wait()
    revoking.cancel()
    asyncio.get_running_loop().call_later(0.05, loop.go_on.set)
    await stage.on_partitions_revoked([PARTITION])
    assert loop.ended


async def test_a_loop_that_does_not_end_in_time_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The group waits for a revocation only so long."""
    monkeypatch.setattr(runner, "STOP_DEADLINE", 0.05)
    loop = _Slow()
    stage = _runner(lambda _partition: loop, _Member())
    await stage.on_partitions_assigned([PARTITION])
    await stage.on_partitions_revoked([PARTITION])
    assert loop.ended
    assert not loop.go_on.is_set()


async def test_what_a_loop_ends_with_is_told() -> None:
    """An error at the end of a loop is no reason not to give its partition back, and not forgotten."""
    stage = _runner(lambda _partition: _Fenced(), _Member())
    await stage.on_partitions_assigned([PARTITION])
    with capture_logs() as logs:
        await stage.on_partitions_revoked([PARTITION])
    assert [line["log_level"] for line in logs] == ["warning"]
    assert "taken by another" in logs[0]["error"]


async def test_a_rebalance_that_ends_while_the_group_is_left_starts_no_loops() -> None:
    """Nobody would end them: they would go on beside those of the next membership, or after the worker's stop."""
    started: list[int] = []

    def new_loop(partition: int) -> Loop:
        started.append(partition)
        return _Slow()

    await _runner(new_loop, None).on_partitions_assigned([PARTITION])
    assert started == []


async def test_a_stop_does_not_wait_until_the_group_would_be_joined_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told to stop while it rests after a lost membership, a stage ends."""
    monkeypatch.setattr(runner, "REJOIN_PAUSE", 1_000_000.0)
    stop, lost = asyncio.Event(), asyncio.Event()

    async def lose_membership(_stop: asyncio.Event) -> None:
        lost.set()
        raise UnknownMemberIdError

    stage = _runner(lambda _partition: _Slow(), None)
    monkeypatch.setattr(stage, "_be_member", lose_membership)
    running = asyncio.create_task(stage.run(stop))
    await lost.wait()
    stop.set()
    async with asyncio.timeout(60):
        await running
