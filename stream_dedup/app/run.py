"""What `run` does: put a worker together from the settings, or several in processes of their own."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import click
from prometheus_client import CollectorRegistry

from stream_dedup.app.brokers import ensure_topics, started_broker, usual_port
from stream_dedup.app.connections import connection_of, topics_of
from stream_dedup.app.health import Health
from stream_dedup.app.logs import configure_logs
from stream_dedup.app.metrics import AskedWhenRead, Metrics
from stream_dedup.app.observers import Observers
from stream_dedup.app.process import end_child, first_of, run_main
from stream_dedup.app.setting_types import milliseconds
from stream_dedup.app.settings import Settings
from stream_dedup.app.stages import build_stages
from stream_dedup.app.statistics import Statistics
from stream_dedup.app.web import PORTS_TRIED, Pages, bind
from stream_dedup.app.worker import WorkerPlan, run_worker
from stream_dedup.app.worker_processes import Child, supervise
from stream_dedup.kafka.client import connect
from stream_dedup.kafka.connection import without_aiokafkas_futures
from stream_dedup.kafka.local_broker import LocalBroker
from stream_dedup.kafka.points import Reached, pass_by
from stream_dedup.kafka.topic_checks import check_topics


def run_workers(settings: Settings, workers: int, *, embedded: bool) -> int:
    """Run until stopped; the exit code of a worker process that ended by itself, 0 where none did."""
    configure_logs(settings.log_format)
    codes = [0]

    async def serve(own: Settings) -> None:
        if workers == 1:
            await work(own)
        else:
            codes.append(await supervise([worker_child(own, number) for number in range(workers)]))

    async def main() -> None:
        if not embedded:
            await serve(settings)
            return
        async with embedded_broker(settings) as (broker, own):
            await first_of(serve(own), broker.lost())

    run_main(main())
    return max(codes)


@contextlib.asynccontextmanager
async def embedded_broker(settings: Settings) -> AsyncIterator[tuple[LocalBroker, Settings]]:
    """A local broker with all topics, and the settings that lead to it."""
    async with started_broker(settings.data_dir, usual_port()) as broker:
        own = at_broker(settings, broker.bootstrap_servers)
        async with connect(connection_of(own)) as connected:
            await ensure_topics(connected, own, own.article_topics)
        click.echo(f"Kafka runs at {broker.bootstrap_servers}, its data is in {own.data_dir}.", err=True)
        yield broker, own


def at_broker(settings: Settings, bootstrap_servers: str) -> Settings:
    """The settings for another broker."""
    return settings.model_copy(update={"bootstrap_servers": tuple(bootstrap_servers.split(","))})


async def work(settings: Settings, reached: Reached = pass_by) -> None:
    """One worker, until cancelled; `reached` is called at each point at which it may die.

    Raises:
        StreamDedupError: it cannot start or go on.
    """
    asyncio.get_running_loop().set_exception_handler(without_aiokafkas_futures)
    health = Health(time.monotonic)
    registry = CollectorRegistry()
    statistics = Statistics(milliseconds(settings.statistics_window))
    registry.register(AskedWhenRead(health.progress_ages, health.standby_lag, statistics.duplicate_rate))
    observer = Observers(health, Metrics(registry))
    attempts = 1 if "web_port" in settings.model_fields_set else PORTS_TRIED
    async with connect(connection_of(settings), reached) as broker:
        await ensure_topics(broker, settings, settings.internal_topics)
        await check_topics(broker, topics_of(settings), settings.batch_records)
        with bind(settings.web_host, settings.web_port, attempts=attempts) as listening:
            plan = WorkerPlan(
                group=settings.group,
                broker=broker,
                stages=build_stages(settings, broker, observer, reached),
                statistics_topic=settings.statistics_topic,
                report_every=settings.statistics_window.total_seconds(),
                pages=Pages(health, registry, statistics),
                listening=listening,
            )
            await run_worker(plan)


def worker_child(settings: Settings, number: int) -> Child:
    """The process of one of several workers; with a port that was set, each has the next one."""
    if "web_port" in settings.model_fields_set and settings.web_port:
        settings = settings.model_copy(update={"web_port": settings.web_port + number})
    return Child(_live, (settings,))


def _live(settings: Settings) -> None:
    configure_logs(settings.log_format)
    end_child(lambda: run_main(work(settings)))
