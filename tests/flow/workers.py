"""Workers as processes of their own: started, killed, stopped and waited for."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

RUN = (str(Path(sys.executable).with_name("stream-dedup")), "run")
"""What people run."""
DEADLINE = 120.0
"""Seconds that anything here may take; generous, for machines that are slow."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One running worker process."""

    process: asyncio.subprocess.Process
    log: Path

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it, if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    async def ended(self) -> int:
        """Its exit code, once it has ended."""
        async with asyncio.timeout(DEADLINE):
            return await self.process.wait()


@contextlib.asynccontextmanager
async def worker(settings: Mapping[str, str], log: Path, program: Sequence[str] = RUN) -> AsyncIterator[Worker]:
    """A worker with these settings (their names as in the environment); killed at the end if it still runs."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAM_DEDUP_")}
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *program,
            env={**environment, **settings},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    running = Worker(process, log)
    try:
        yield running
    finally:
        running.signal(signal.SIGKILL)
        await process.wait()
