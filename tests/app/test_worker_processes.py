"""Worker processes: started again, ended together, never left behind."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stream_dedup.app import worker_processes
from stream_dedup.app.process import end_child, first_of, run_main
from stream_dedup.app.worker_processes import Child, supervise
from stream_dedup.errors import RecipeMismatchError

PATIENCE = 60.0
"""Seconds that a test waits for what takes a second on an idle machine."""


def wait_until_cancelled(folder: str) -> None:
    """A child's life: say that it is there, wait, say that it ended in order."""
    started, ended = (Path(folder, f"{os.getpid()}.{what}") for what in ("started", "ended"))

    async def main() -> None:
        try:
            asyncio.get_running_loop().call_soon(started.touch)
            await asyncio.Event().wait()
        finally:
            ended.touch()

    end_child(lambda: run_main(main()))


def close_when_told(folder: str) -> None:
    """A child's life: as above, but what it closes takes until a file is there."""
    started, closing, ended = (Path(folder, f"{os.getpid()}.{what}") for what in ("started", "closing", "ended"))

    async def main() -> None:
        try:
            asyncio.get_running_loop().call_soon(started.touch)
            await asyncio.Event().wait()
        finally:
            closing.touch()
            await until(Path(folder, "released").exists)
            ended.touch()

    end_child(lambda: run_main(main()))


def wait_for_ever_when_told(folder: str) -> None:
    """A child's life: as above, but what it closes is never answered, whoever cancels it."""
    started, closing = (Path(folder, f"{os.getpid()}.{what}") for what in ("started", "closing"))

    async def main() -> None:
        asyncio.get_running_loop().call_soon(started.touch)
        try:
            await asyncio.Event().wait()
        finally:
            while True:
                closing.touch()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()

    end_child(lambda: run_main(main()))


def close_though_told_again(folder: str) -> None:
    """A child's life: as the first, but while it closes it gets SIGTERM once more."""
    started, ended = (Path(folder, f"{os.getpid()}.{what}") for what in ("started", "ended"))

    async def main() -> None:
        asyncio.get_running_loop().call_soon(started.touch)
        try:
            await asyncio.Event().wait()
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            for _ in range(10):  # turns of the loop, in which the signal's handler is called
                await asyncio.sleep(0)
            ended.touch()

    end_child(lambda: run_main(main()))


def fail() -> None:
    """A child that cannot work."""

    def work() -> None:
        raise RecipeMismatchError("other words")

    end_child(work)


def parent(folder: str) -> None:
    """A parent of one child."""
    asyncio.run(supervise([Child(wait_until_cancelled, (folder,))]))


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - other processes set no event of ours
            await asyncio.sleep(0.02)


def pids(folder: Path, what: str) -> set[int]:
    """Processes that have started or ended."""
    return {int(path.stem) for path in folder.glob(f"*.{what}")}


def lives(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_killed_child_is_started_again_and_all_end_with_the_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After SIGKILL there is another one; cancelled, the parent ends its children in order."""
    monkeypatch.setattr(worker_processes, "RESTART_PAUSE", 0.01)
    supervising = asyncio.create_task(supervise([Child(wait_until_cancelled, (str(tmp_path),))] * 2))
    await until(lambda: len(pids(tmp_path, "started")) == 2)
    killed, living = pids(tmp_path, "started")
    os.kill(killed, signal.SIGKILL)
    await until(lambda: len(pids(tmp_path, "started")) == 3)
    supervising.cancel()
    await asyncio.wait({supervising})
    assert pids(tmp_path, "ended") == pids(tmp_path, "started") - {killed}
    assert not lives(living)


async def test_a_child_that_ends_by_itself_ends_all(tmp_path: Path) -> None:
    """The exit code is the child's; the others are stopped."""
    async with asyncio.timeout(PATIENCE):
        code = await supervise([Child(wait_until_cancelled, (str(tmp_path),)), Child(fail, ())])
    assert code == RecipeMismatchError.exit_code
    assert not any(lives(pid) for pid in pids(tmp_path, "started"))


async def test_no_child_outlives_a_parent_that_was_killed(tmp_path: Path) -> None:
    """A parent killed by SIGKILL cannot stop anybody: its children notice, and end in order."""
    code = f"from {__name__} import parent; parent({str(tmp_path)!r})"
    root = Path(__file__).parents[2]
    process = subprocess.Popen([sys.executable, "-c", code], cwd=root)  # noqa: ASYNC220 - returns at once
    await until(lambda: len(pids(tmp_path, "started")) == 1)
    process.kill()
    process.wait()
    await until(lambda: pids(tmp_path, "ended") == pids(tmp_path, "started"))


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_signals_end_a_process_in_order(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    """SIGTERM is a proper end, Ctrl-C is 130; either way everything is closed first."""
    process = _child(tmp_path, wait_until_cancelled)
    process.send_signal(sent)
    assert process.wait(PATIENCE) == code
    assert pids(tmp_path, "ended") == {process.pid}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (signal.SIGTERM, signal.SIGTERM),
        (signal.SIGTERM, signal.SIGINT),
        (signal.SIGINT, signal.SIGINT),
        (signal.SIGINT, signal.SIGTERM),
    ],
)
def test_a_second_signal_ends_a_process_at_once(tmp_path: Path, first: signal.Signals, second: signal.Signals) -> None:
    """What waits for somebody is not waited for any more; the code says that it was broken off, and by what."""
    process = _child(tmp_path, wait_for_ever_when_told)
    process.send_signal(first)
    _wait_for(lambda: bool(pids(tmp_path, "closing")))
    process.send_signal(second)
    assert process.wait(PATIENCE) == 128 + second
    assert not pids(tmp_path, "ended")


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT])
async def test_a_child_leaves_impatience_to_its_parent(tmp_path: Path, first: signal.Signals) -> None:
    """A service manager and the parent each send SIGTERM to a child: that is one wish, and it still closes in order."""
    supervising = asyncio.create_task(supervise([Child(close_though_told_again, (str(tmp_path),))]))
    await until(lambda: bool(pids(tmp_path, "started")))
    (child,) = pids(tmp_path, "started")
    os.kill(child, first)
    assert await supervising == (0 if first is signal.SIGTERM else 130)
    assert pids(tmp_path, "ended") == {child}


async def test_an_impatient_parent_kills_its_children(tmp_path: Path) -> None:
    """Cancelled a second time, a parent does not wait for what its children still close, and leaves none behind."""
    supervising = asyncio.create_task(supervise([Child(close_when_told, (str(tmp_path),))] * 2))
    await until(lambda: len(pids(tmp_path, "started")) == 2)
    supervising.cancel()
    await until(lambda: len(pids(tmp_path, "closing")) == 2)
    supervising.cancel()
    await asyncio.wait({supervising})
    assert supervising.cancelled()
    assert not any(lives(pid) for pid in pids(tmp_path, "started"))
    assert not pids(tmp_path, "ended")


def _child(folder: Path, life: Callable[[str], None]) -> "subprocess.Popen[bytes]":
    """A child process that has started to live."""
    program = f"from {__name__} import {life.__name__} as life; life({str(folder)!r})"
    process = subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parents[2])
    _wait_for(lambda: bool(pids(folder, "started")))
    return process


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_the_first_to_end_ends_the_others(order: tuple[int, int]) -> None:
    """What runs side by side ends together, and an error is raised wherever it came from."""
    closed = asyncio.Event()

    async def fails() -> None:
        raise OSError("gone")

    async def goes_on() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()

    works = (fails(), goes_on())
    with pytest.raises(OSError, match="gone"):
        await first_of(*(works[number] for number in order))
    assert closed.is_set()
