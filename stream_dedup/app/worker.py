"""The worker: a Faust app that hosts the stages, the statistics agent and the web server.

Articles never pass through Faust. It starts, supervises and stops the services, runs timers and the web server, and
its agent keeps the deployment's figures. So the app has no Kafka clients of its own: the agent's channel is in memory
and fed by a small reader of committed records.
"""

import asyncio
import logging
import socket
from collections.abc import Sequence
from dataclasses import dataclass

import faust
import structlog
from faust.app.base import BootStrategy
from faust.types.transports import ConsumerT

from stream_dedup.app.stage_service import StageRunner, StageService
from stream_dedup.app.statistics_feed import StatisticsFeed
from stream_dedup.app.web import Pages, PagesServer, url_of
from stream_dedup.kafka.statistics_record import StatisticsRecord
from stream_dedup.kafka.transport import Broker

WAITING_RECORDS = 1000
"""Statistics records between the reader and the agent."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """What a worker is made of."""

    group: str
    broker: Broker
    stages: Sequence[StageRunner]
    statistics_topic: str
    report_every: float
    """Seconds between two log lines with the deployment's figures."""
    pages: Pages
    listening: socket.socket


class _NoKafka(BootStrategy):
    """Starts neither Faust's consumer nor its producer."""

    enable_kafka = False


class _App(faust.App):
    """The Faust app with our web server and without a data folder, which only tables would need."""

    logger = logging.getLogger("mode")
    mundane_level = "debug"

    BootStrategy = _NoKafka

    def __init__(self, plan: WorkerPlan) -> None:
        super().__init__(
            plan.group,
            broker="kafka://",
            web_tables_enabled=False,
            web_stats_enabled=False,
            web_in_thread=False,
        )
        self._plan = plan

    def _new_web(self) -> PagesServer:
        return PagesServer(self, self._plan.pages, self._plan.listening)

    def _new_consumer(self) -> ConsumerT:
        # Streams ask for a consumer although it is never started; the event loop of its thread would stay open.
        consumer = super()._new_consumer()
        consumer._thread.thread_loop.close()  # type: ignore[attr-defined] # noqa: SLF001 - there is no public way to it
        return consumer

    def _create_directories(self) -> None:
        """Nothing is kept in files."""


class _Worker(faust.Worker):
    """Faust's worker, leaving signals, logs and the terminal to the process that runs it."""

    logger = logging.getLogger("mode")
    mundane_level = "debug"

    def __init__(self, app: _App) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(app, loop=loop, quiet=True, redirect_stdouts=False, override_logging=False)
        self.spinner = None

    def install_signal_handlers(self) -> None:
        """The process has its own."""

    def _setproctitle(self, info: str, *, ident: str = "") -> None:
        """The command's line says more than Faust's title."""


async def run_worker(plan: WorkerPlan) -> None:
    """Run until cancelled, then stop everything in order.

    Raises:
        Exception: whatever a stage or another service ended with; the worker cannot go on without it.
    """
    app = _App(plan)
    services = [_add_statistics(app, plan), *(StageService(stage) for stage in plan.stages)]
    for service in services:
        app.service(service)  # type: ignore[arg-type] # declared for classes, but takes a service as well
    # Faust holds channels back until its consumer has been assigned partitions; here there is none.
    app.flow_control.resume()
    worker = _Worker(app)
    log.info("worker starts", group=plan.group, web=url_of(plan.listening))
    try:
        await worker.start()
    finally:
        # All together: Faust stops one service after another, and each may need its whole time limit.
        for service in services:
            service.tell_to_end()
        await worker.stop()
    if worker.crash_reason is not None:
        raise worker.crash_reason


def _add_statistics(app: _App, plan: WorkerPlan) -> StageService:
    """The agent that counts, and the service that feeds it."""
    statistics = plan.pages.statistics
    records = app.channel(maxsize=WAITING_RECORDS)

    @app.agent(records, name="statistics")
    async def count(stream: "faust.StreamT[StatisticsRecord]") -> None:
        async for record in stream:
            statistics.take(record)

    @app.timer(interval=plan.report_every)  # type: ignore[untyped-decorator] # Faust leaves it without a type
    async def report() -> None:
        if (rate := statistics.duplicate_rate()) is not None:
            log.info("figures", duplicate_rate=round(rate, 4))

    async def hand_over(record: StatisticsRecord) -> None:
        await records.send(value=record)

    return StageService(StatisticsFeed(plan.broker, plan.statistics_topic, hand_over))
