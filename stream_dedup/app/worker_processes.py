"""Several workers on one machine: child processes that the parent starts, restarts and stops."""

import asyncio
import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess

import structlog

RESTART_PAUSE = 2.0
"""Seconds before a worker that was killed is started again."""
STOP_TIMEOUT = 12.0
"""Seconds that workers have to end; they take ten at most by themselves."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Child:
    """What a worker process runs: a function of a module and what can be pickled for it."""

    target: Callable[..., None]
    arguments: tuple[object, ...]


async def supervise(children: Sequence[Child]) -> int:
    """Keep the children running until one ends by itself or we are cancelled, then stop them all.

    A child that was killed by a signal (out of memory, say) is started again. One that ends by itself has said why on
    stderr, and would end again. Returns its exit code. Cancelled a second time, the children are killed.
    """
    keepers = [asyncio.create_task(_keep_running(child)) for child in children]
    try:
        ended, _ = await asyncio.wait(keepers, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await _cancel(keepers)
    return max(keeper.result() for keeper in ended)


async def _cancel(tasks: "Sequence[asyncio.Task[int]]") -> None:
    """Cancel and wait; a cancellation meanwhile is passed on, and raised at the end."""
    cancelled: asyncio.CancelledError | None = None
    while pending := [task for task in tasks if not task.done()]:
        for task in pending:
            task.cancel()
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


async def _keep_running(child: Child) -> int:
    """The exit code that it ends with by itself."""
    context = multiprocessing.get_context("spawn")
    while True:
        process = context.Process(target=child.target, args=child.arguments)
        process.start()
        try:
            code = await _ended(process)
        finally:
            await _stop(process)
        if code >= 0:
            return code
        log.warning("a worker was killed and is started again", signal=-code)
        await asyncio.sleep(RESTART_PAUSE)


async def _ended(process: SpawnProcess) -> int:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(process.sentinel, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(process.sentinel)
    process.join()
    return process.exitcode or 0


async def _stop(process: SpawnProcess) -> None:
    """End the process, whatever it does; another cancellation does not leave it behind."""
    if process.is_alive():
        process.terminate()
        try:
            await asyncio.wait_for(_ended(process), STOP_TIMEOUT)
        finally:
            process.kill()
            process.join()
    process.close()
