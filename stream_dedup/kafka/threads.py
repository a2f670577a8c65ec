"""Work in a thread that is never left running behind."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import structlog

log = structlog.get_logger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The function's result, computed in a thread so that heartbeats and health checks go on meanwhile.

    A cancellation waits for the function to end: a loop that is cut off would otherwise leave its state to the next
    one while it is still changing. An error of the function is then logged, for nobody else would hear of it.
    """
    running = asyncio.create_task(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await _ended(running)
        error = running.exception()
        if error is not None:
            log.exception("work failed that nobody waited for any more", error=repr(error), exc_info=error)
        raise


async def _ended(running: asyncio.Task[T]) -> None:
    """Wait for the end, whoever cancels meanwhile: the cancellation that led here is raised afterwards."""
    while not running.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({running})
