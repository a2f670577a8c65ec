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


class _EndedError(Exception):
    """A child ended by itself."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


async def supervise(children: Sequence[Child]) -> int:
    """Keep the children running until one ends by itself or we are cancelled, then stop them all.

    A child that was killed by a signal (out of memory, say) is started again. One that ends by itself has said why on
    stderr, and would end again. Returns its exit code.
    """
    code = 0
    try:
        async with asyncio.TaskGroup() as group:
            for child in children:
                group.create_task(_keep_running(child))
    except* _EndedError as ended:
        code = max(error.code for error in ended.exceptions if isinstance(error, _EndedError))
    return code


async def _keep_running(child: Child) -> None:
    context = multiprocessing.get_context("spawn")
    while True:
        process = context.Process(target=child.target, args=child.arguments)
        process.start()
        try:
            code = await _ended(process)
        finally:
            await _stop(process)
        if code >= 0:
            raise _EndedError(code)
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
