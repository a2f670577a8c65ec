"""Runs a flow through workers that meet faults, and compares all that came of it."""

import contextlib
import signal
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from stream_dedup.app.process import first_of
from stream_dedup.kafka.points import Point
from tests.faults.fault import Fault
from tests.faults.members import bury, have_joined
from tests.flow.articles import Article, flow
from tests.flow.deployment import PARTITIONS, Deployment, deployment
from tests.flow.differences import Difference
from tests.flow.outputs import read_outputs
from tests.flow.reader import AttachedReader, attached
from tests.flow.workers import Worker

BATCH_RECORDS = 20
"""Small, so that few articles make many transactions."""
SESSION_TIMEOUT = "6s"
"""The shortest that Kafka takes by default (`group.min.session.timeout.ms`)."""
Round = tuple[Fault, ...]
"""Workers that run together, each with its fault; the first one is there before the others come."""


@dataclass(frozen=True, slots=True)
class Case:
    """Rounds of workers that meet faults, one after another, then as many healthy workers as in the last round."""

    name: str
    rounds: tuple[Round, ...]
    seed: int
    portion: int
    """Articles published before each round, and before the last, healthy one."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trial."""

    name: str
    met: int
    """Workers that met a fault."""
    unmet: tuple[str, ...]
    """Faults that did not happen, and workers that ended otherwise than they had to: such a case proves nothing."""
    differences: tuple[Difference, ...]
    seconds: float

    @property
    def good(self) -> bool:
        """Whether all faults happened and nothing came of them."""
        return not self.unmet and not self.differences


@dataclass(slots=True)
class Stream:
    """The flow on its way through a deployment."""

    ready: Deployment
    reader: AttachedReader
    articles: Iterator[Article]
    published: int = 0

    async def publish(self, count: int) -> None:
        """Publish the next articles."""
        portion = list(islice(self.articles, count))
        await self.ready.publish(portion)
        self.published += len(portion)

    async def is_through(self) -> None:
        """Wait until the attached reader was given an output for each article published so far."""
        await self.reader.has_seen(self.published)

    async def differences(self) -> list[Difference]:
        """How all that came out differs from what must have, with nobody at work."""
        found = await self.ready.differences()
        outputs = await read_outputs(self.ready.broker, self.ready.topics)
        await self.reader.has_seen(len(outputs))
        return found + self.reader.differences(outputs)


@contextlib.asynccontextmanager
async def stream(
    bootstrap_servers: str, logs: Path, *, articles: int, seed: int, call_timeout: str = "20s"
) -> AsyncIterator[Stream]:
    """A deployment with a reader attached and a flow to be published to it."""
    # Recent: the topics' retention goes by the records' timestamps.
    start = time.time_ns() // 1_000_000 - 3_600_000
    async with (
        deployment(
            bootstrap_servers,
            logs,
            batch_records=str(BATCH_RECORDS),
            session_timeout=SESSION_TIMEOUT,
            call_timeout=call_timeout,
        ) as ready,
        attached(ready.broker, ready.topics) as reader,
    ):
        yield Stream(ready, reader, iter(flow(articles, seed=seed, partitions=PARTITIONS, start=start)))


async def run_case(bootstrap_servers: str, logs: Path, case: Case) -> Outcome:
    """Run one case to its end."""
    begun = time.monotonic()
    unmet: list[str] = []
    met = 0
    articles = case.portion * (len(case.rounds) + 1)
    async with stream(bootstrap_servers, logs, articles=articles, seed=case.seed) as running:
        for number, faults in enumerate(case.rounds):
            codes = await _round(running, faults, f"round-{number}", case.portion)
            met += codes.count(-signal.SIGKILL)
            if -signal.SIGKILL not in codes:
                unmet.append(f"{faults[0]} was not met: the workers ended with {codes}")
            unmet += [f"a worker ended with exit code {code}" for code in codes if code not in {0, -signal.SIGKILL}]
        await running.publish(case.portion)
        codes = await _healthy(running, len(case.rounds[-1]))
        unmet += [f"a healthy worker ended with exit code {code}" for code in codes if code]
        differences = await running.differences()
    return Outcome(case.name, met, tuple(unmet), tuple(differences), time.monotonic() - begun)


async def _round(running: Stream, faults: Round, name: str, portion: int) -> list[int]:
    """Run workers until each has met its fault, or all is decided; their exit codes."""
    revoked = faults[0].point is Point.REVOKED
    async with contextlib.AsyncExitStack() as stack:
        workers: list[Worker] = []
        for number, fault in enumerate(faults):
            if number == 1:
                await _joined(running, workers)
            workers.append(await stack.enter_async_context(running.ready.worker(f"{name}-{number}", fault.program)))
        if revoked:
            await _joined(running, workers[:1])
            present = list(workers)
            if len(faults) == 1:
                present.append(await stack.enter_async_context(running.ready.worker(f"{name}-joins")))
            await _trickle(running, workers, portion)
            await _joined(running, present)
        else:
            await _joined(running, workers)
            await running.publish(portion)
        await first_of(end(workers), running.is_through())
        codes = await stopped(workers)
    await bury(running.ready)
    return codes


async def _joined(running: Stream, workers: Sequence[Worker]) -> None:
    """Wait until all have their part of the work, or one has ended."""
    await first_of(have_joined(running.ready, len(workers)), *(end([worker]) for worker in workers))


async def _trickle(running: Stream, workers: Sequence[Worker], portion: int) -> None:
    """Publish the portion one by one, so that something is under way all the time; until all workers have ended."""
    for _ in range(portion):
        if all(worker.process.returncode is not None for worker in workers):
            return
        await running.publish(1)
        await first_of(end(workers), running.is_through())


async def _healthy(running: Stream, count: int) -> list[int]:
    """Run workers without a fault until all is decided; their exit codes."""
    async with contextlib.AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(running.ready.worker(f"healthy-{number}")) for number in range(count)
        ]
        await first_of(end(workers), running.is_through())
        return await stopped(workers)


async def stopped(workers: Sequence[Worker]) -> list[int]:
    """Tell the workers to end; their exit codes."""
    for worker in workers:
        worker.signal(signal.SIGTERM)
    return [await worker.ended() for worker in workers]


async def end(workers: Sequence[Worker]) -> None:
    """Wait until all have ended."""
    for worker in workers:
        await worker.process.wait()
