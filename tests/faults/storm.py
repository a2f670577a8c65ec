"""A storm of rebalances: workers join, leave and die every few seconds while articles come in."""

import asyncio
import contextlib
import random
import signal
import time
from pathlib import Path

from stream_dedup.app.process import first_of
from tests.faults.driver import Outcome, Stream, end, stopped, stream
from tests.flow.workers import Worker

MOST_WORKERS = 4
PORTION = 40
"""Articles published with each event."""
PAUSES = (0.5, 4.0)
"""Seconds between two events: less than a worker takes to start, and more than a rebalance takes."""
ENDS = (0, -signal.SIGKILL, -signal.SIGTERM)
"""How a worker may end; by SIGTERM itself, when it is told before it is up and listens for it."""
KILLED = 0.3
"""Share of those that go without saying so; the others are told to end."""


async def run_storm(bootstrap_servers: str, logs: Path, events: int, seed: int) -> Outcome:
    """Let workers come and go so many times, then leave one to finish."""
    begun = time.monotonic()
    unmet: list[str] = []
    async with stream(bootstrap_servers, logs, articles=events * PORTION, seed=seed) as running:
        async with contextlib.AsyncExitStack() as stack:
            gone, left = await _weather(running, stack, events, seed)
            left.append(await stack.enter_async_context(running.ready.worker("last")))
            await first_of(running.is_through(), end(left))
            codes = [await worker.ended() for worker in gone] + await stopped(left)
        unmet += [f"a worker ended with {code}" for code in codes if code not in ENDS]
        differences = await running.differences()
    name = f"storm of {events} events, seed {seed}"
    kills = codes.count(-signal.SIGKILL)
    return Outcome(name, kills, tuple(unmet), tuple(differences), time.monotonic() - begun)


async def _weather(
    running: Stream, stack: contextlib.AsyncExitStack, events: int, seed: int
) -> tuple[list[Worker], list[Worker]]:
    """The workers that have gone, and those that are left."""
    dice = random.Random(seed)  # noqa: S311 - a test's choices, nothing secret
    gone: list[Worker] = []
    here: list[Worker] = []
    for number in range(events):
        await running.publish(PORTION)
        if len(here) < 2 or (len(here) < MOST_WORKERS and dice.random() < 0.5):
            here.append(await stack.enter_async_context(running.ready.worker(f"worker-{number}")))
        else:
            leaving = here.pop(dice.randrange(len(here)))
            leaving.signal(signal.SIGKILL if dice.random() < KILLED else signal.SIGTERM)
            gone.append(leaving)
        # The storm's own rhythm: nothing waits here for anything to have happened.
        await asyncio.sleep(dice.uniform(*PAUSES))
    return gone, here
