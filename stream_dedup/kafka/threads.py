"""Work that takes longer than heartbeats and health checks may wait, in a thread."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do the work in a thread while the event loop goes on; when cancelled, end only once the work has ended.

    A thread cannot be cancelled: left to itself it would go on changing the index while the next owner restores it.
    """
    working = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise
