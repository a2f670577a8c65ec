"""Work in a thread that is never left running behind."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The function's result, computed in a thread so that heartbeats and health checks go on meanwhile.

    A cancellation waits for the function to end: a loop that is cut off would otherwise leave its state to the next
    one while it is still changing.
    """
    running = asyncio.create_task(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        raise
