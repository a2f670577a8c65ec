"""A stage as a Service of the worker: started with it, ended before anything it uses is closed."""

import asyncio
import logging
from typing import Protocol

from mode import Service

STOP_TIMEOUT = 8.0
"""Seconds for a stage to commit or abort what is open, within the ten that a worker has after SIGTERM."""


class StageRunner(Protocol):
    """A stage that runs in the worker's event loop."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set, then end what is open. An error is fatal to the worker."""
        ...


class StageService(Service):
    """Runs one stage; its fatal error ends the worker."""

    logger = logging.getLogger("mode")
    mundane_level = "debug"

    def __init__(self, runner: StageRunner) -> None:
        super().__init__()
        self._runner = runner
        self._stopping = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._crashing: asyncio.Task[None] | None = None

    async def on_start(self) -> None:
        """Start the stage."""
        self._running = asyncio.create_task(self._runner.run(self._stopping))
        self._running.add_done_callback(self._ended)

    def tell_to_end(self) -> None:
        """Tell the stage to end, without waiting for it."""
        self._stopping.set()

    async def on_stop(self) -> None:
        """Tell the stage to end, wait for it, and cancel it when it takes too long."""
        self.tell_to_end()
        if self._running is not None:
            _, late = await asyncio.wait({self._running}, timeout=STOP_TIMEOUT)
            for task in late:
                task.cancel()
                await asyncio.wait({task})

    def _ended(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        if error is None and self._stopping.is_set():
            return
        reason = error or RuntimeError("a stage ended without having been told to")
        self._crashing = asyncio.get_running_loop().create_task(self.crash(reason))
