"""Work in a thread."""

import asyncio
import threading

import pytest
from structlog.testing import capture_logs

from stream_dedup.kafka.threads import in_thread

DEADLINE = 60.0


async def test_a_cancelled_task_outlives_its_thread() -> None:
    """Nobody comes to the state after a cancellation, or two, while the thread may still change it."""
    begun, go_on = asyncio.Event(), threading.Event()
    loop, state = asyncio.get_running_loop(), list[str]()

    def work() -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(DEADLINE)
        state.append("changed")

    task = asyncio.create_task(in_thread(work))
    await begun.wait()
    task.cancel()
    loop.call_later(0.02, task.cancel)
    loop.call_later(0.05, go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert state == ["changed"]


async def test_results_and_errors_come_back() -> None:
    """As if the work was called here."""
    assert await in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 7, 0)


async def test_an_error_after_a_cancellation_is_told() -> None:
    """The cancellation comes back to whoever asked for it, and the log has what went wrong."""
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(DEADLINE)
        raise ValueError("the state is torn")

    task = asyncio.create_task(in_thread(work))
    await begun.wait()
    task.cancel()
    loop.call_later(0.05, go_on.set)
    with capture_logs() as logs, pytest.raises(asyncio.CancelledError):
        await task
    assert [(line["log_level"], line["error"]) for line in logs] == [("error", "ValueError('the state is torn')")]
