"""The worker: services that start and end together, figures from the statistics topic, the web server."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from urllib.request import urlopen

import pytest
from prometheus_client import CollectorRegistry

from stream_dedup.app.health import Health
from stream_dedup.app.stage_service import StageRunner
from stream_dedup.app.statistics import Statistics
from stream_dedup.app.web import Pages, bind, url_of
from stream_dedup.app.worker import WorkerPlan, run_worker
from stream_dedup.core.verdict import Kind, Verdict
from stream_dedup.errors import LogRefusedError, PortInUseError, SettingsError
from stream_dedup.kafka.memory import MemoryBroker
from stream_dedup.kafka.statistics_record import Counted, summarise
from stream_dedup.kafka.transport import Message

TOPIC = "statistics"
PATIENCE = 60.0
"""Seconds that a test waits for what takes milliseconds on an idle machine."""


class Patient:
    """A stage that works until it is told to stop, and then takes a moment to finish."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.finished = False

    async def run(self, stop: asyncio.Event) -> None:
        """Work."""
        self.started.set()
        await stop.wait()
        await asyncio.sleep(0)
        self.finished = True


class Slow:
    """A stage that ends only when all others of the worker are ending as well."""

    def __init__(self, meeting: asyncio.Barrier) -> None:
        self.started = asyncio.Event()
        self.finished = False
        self._meeting = meeting

    async def run(self, stop: asyncio.Event) -> None:
        """Work."""
        self.started.set()
        await stop.wait()
        await self._meeting.wait()
        self.finished = True


class Failing:
    """A stage that cannot go on."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    async def run(self, stop: asyncio.Event) -> None:  # noqa: ARG002 - it ends before it is told to
        """Fail."""
        raise self._error


class Deserting:
    """A stage that ends although nobody told it to."""

    async def run(self, stop: asyncio.Event) -> None:
        """End."""


@contextlib.asynccontextmanager
async def plan(broker: MemoryBroker, stages: Sequence[StageRunner]) -> AsyncIterator[WorkerPlan]:
    """A worker's parts around these stages."""
    broker.create_topic(TOPIC, 1)
    pages = Pages(Health(lambda: 0.0), CollectorRegistry(), Statistics(60_000))
    with bind("127.0.0.1", 0) as listening:
        yield WorkerPlan("test", broker, stages, TOPIC, 60.0, pages, listening)


def get(url: str) -> bytes:
    """The body of a page."""
    with urlopen(url, timeout=PATIENCE) as response:  # noqa: S310 - our own address
        body = response.read()
    assert isinstance(body, bytes)
    return body


async def test_a_worker_shows_the_whole_deployments_figures_and_ends_its_stages_in_order() -> None:
    """What is in the statistics topic comes out at /stats; cancelled, a worker waits until its stages have finished."""
    broker, stage = MemoryBroker(), Patient()
    async with plan(broker, [stage]) as parts, asyncio.timeout(PATIENCE):
        worker = asyncio.create_task(run_worker(parts))
        await stage.started.wait()
        articles = [Counted(Verdict.UNIQUE, Kind.NEW, "daily", "en"), Counted(Verdict.DUPLICATE, Kind.NEAR, None, None)]
        for first in (0, 0, 2):
            figures = summarise(articles, first_sequence=first, decided=1, clock=None, index_entries=1)
            await broker.publish(Message(TOPIC, 0, 0, None, figures.encode()))
        await broker.publish(Message(TOPIC, 0, 0, None, b"not ours"))
        shown: dict[str, object] = {}
        while shown.get("last_sequence") != 3:
            shown = json.loads(await asyncio.to_thread(get, f"{url_of(parts.listening)}/stats"))
        assert shown["articles"] == {"unique": 2, "duplicates": 2, "duplicate_rate": 0.5}
        worker.cancel()
        await asyncio.wait({worker})
    assert stage.finished


async def test_stages_end_together() -> None:
    """One that needs its whole time limit takes nothing from another's: all are told before any is awaited."""
    meeting = asyncio.Barrier(2)
    stages = [Slow(meeting), Slow(meeting)]
    async with plan(MemoryBroker(), stages) as parts, asyncio.timeout(PATIENCE):
        worker = asyncio.create_task(run_worker(parts))
        for stage in stages:
            await stage.started.wait()
        worker.cancel()
        await asyncio.wait({worker})
    assert all(stage.finished for stage in stages)


@pytest.mark.parametrize(
    ("stage", "error", "told"),
    [
        (Failing(LogRefusedError("the log was cut")), LogRefusedError, "the log was cut"),
        (Failing(asyncio.CancelledError()), RuntimeError, "without having been told"),
        (Deserting(), RuntimeError, "without having been told"),
    ],
)
async def test_a_stage_that_ends_by_itself_ends_the_worker(
    stage: StageRunner, error: type[Exception], told: str
) -> None:
    """A worker without one of its stages would look alive and do nothing: it ends with the stage's own error."""
    other = Patient()
    async with plan(MemoryBroker(), [other, stage]) as parts, asyncio.timeout(PATIENCE):
        with pytest.raises(error, match=told):
            await run_worker(parts)
    assert other.finished


def test_a_second_worker_takes_the_next_free_port() -> None:
    """The default port may be taken; one that was set may not."""
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with bind("127.0.0.1", port, attempts=50) as free:
            assert port < free.getsockname()[1] < port + 50
        with pytest.raises(PortInUseError, match=f"port {port} of 127.0.0.1 is in use"):
            bind("127.0.0.1", port)


def test_an_address_that_is_not_ours_is_a_wrong_setting() -> None:
    """The line names the settings and the address."""
    with pytest.raises(SettingsError, match=r"web_host, web_port: cannot listen on 192\.0\.2\.1 port 6066"):
        bind("192.0.2.1", 6066)
