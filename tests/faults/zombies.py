"""A worker that is stopped for longer than its session, and wakes up when another has its partitions."""

import asyncio
import os
import signal
import time
from pathlib import Path

from stream_dedup.app.process import first_of
from stream_dedup.kafka.connection import RETRY_PAUSE
from stream_dedup.kafka.points import Point
from tests.faults.driver import Outcome, end, stopped, stream
from tests.faults.fault import Fault
from tests.faults.members import have_joined
from tests.flow.workers import DEADLINE, Worker

PORTION = 120
LONG_CALL, SHORT_CALL = "60s", "6s"
"""Settings of `call_timeout`: one that outlasts the sleep, and one that has passed when the worker wakes up, so that
its transaction fails for that, and it would begin again."""
FENCED = "another owner has taken"
"""What a worker says that was fenced."""
IN_TRANSACTION = (Point.BETWEEN_SENDS, Point.AFTER_SENDS, Point.AFTER_OFFSETS, Point.COMMITTING)
"""Whoever wakes up at one of these has a transaction open that is no longer his."""


async def run_zombie(bootstrap_servers: str, logs: Path, fault: Fault, seed: int, call_timeout: str) -> Outcome:
    """Stop a worker at a point, let another take over and finish, wake the first one, and go on with both."""
    begun = time.monotonic()
    unmet: list[str] = []
    async with stream(bootstrap_servers, logs, articles=2 * PORTION, seed=seed, call_timeout=call_timeout) as running:
        async with running.ready.worker("sleeper", fault.program) as sleeper:
            await running.publish(PORTION)
            await first_of(_asleep(sleeper), end([sleeper]))
            async with running.ready.worker("successor") as successor:
                await running.is_through()
                sleeper.signal(signal.SIGCONT)
                await first_of(have_joined(running.ready, 2), end([sleeper]), end([successor]))
                await running.publish(PORTION)
                await running.is_through()
                codes = await stopped([sleeper, successor])
        if codes != [0, 0]:
            unmet.append(f"the workers ended with {codes}")
        told = FENCED in sleeper.log.read_text()
        if fault.point in IN_TRANSACTION and call_timeout == LONG_CALL and not told:
            unmet.append("nothing tells that the worker which slept was fenced")
        differences = await running.differences()
    name = f"asleep: {fault}, calls of {call_timeout}, seed {seed}"
    return Outcome(name, 1, tuple(unmet), tuple(differences), time.monotonic() - begun)


async def _asleep(worker: Worker) -> None:
    """Wait until the process is stopped."""
    async with asyncio.timeout(DEADLINE):
        while True:
            if _is_stopped(worker.process.pid):
                return
            await asyncio.sleep(RETRY_PAUSE)


def _is_stopped(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
