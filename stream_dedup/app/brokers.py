"""What `broker` and `topics create` do: a local Kafka with its download shown, and topics that are missing."""

import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from stream_dedup.app.connections import connection_of, topics_of
from stream_dedup.app.logs import configure_logs
from stream_dedup.app.process import run_main
from stream_dedup.app.settings import Settings
from stream_dedup.kafka import kafka_jars
from stream_dedup.kafka.client import KafkaBroker, connect
from stream_dedup.kafka.local_broker import LocalBroker, local_broker
from stream_dedup.kafka.topic_checks import check_topics
from stream_dedup.kafka.topics import create_topics

USUAL_PORT = 9092
"""Kafka's, which all commands try when they are not told another."""
STARTING = "Starting Kafka ..."
FETCHING = "Fetching Apache Kafka, once"


def run_broker(settings: Settings, port: int) -> None:
    """Run a local broker until stopped."""
    configure_logs(settings.log_format)

    async def main() -> None:
        async with started_broker(settings.data_dir, port or None) as broker:
            click.echo(
                f"Kafka runs at {broker.bootstrap_servers}, its data is in {settings.data_dir}. Ctrl-C stops it."
            )
            await broker.lost()

    run_main(main())


def make_topics(settings: Settings) -> None:
    """Make all topics that are missing, check the others, and say what was done."""
    configure_logs(settings.log_format)

    async def main() -> None:
        async with connect(connection_of(settings)) as broker:
            made = await ensure_topics(broker, settings, settings.article_topics + settings.internal_topics)
            await check_topics(broker, topics_of(settings), settings.batch_records)
        for topic in settings.article_topics + settings.internal_topics:
            click.echo(f"{topic}: {'made' if topic in made else 'was there'}")

    run_main(main())


async def ensure_topics(broker: KafkaBroker, settings: Settings, names: tuple[str, ...]) -> list[str]:
    """Make those of the named topics that are missing; the ones made."""
    return await create_topics(
        broker,
        names,
        topics_of(settings),
        partitions=settings.raw_partitions,
        replication=settings.replication_factor,
        batch_records=settings.batch_records,
    )


@contextlib.asynccontextmanager
async def started_broker(data_dir: Path | None, port: int | None) -> AsyncIterator[LocalBroker]:
    """A local broker; stderr tells that it starts, on a terminal, and shows its first download.

    Args:
        data_dir: kept for the next start; None: a temporary folder.
        port: None: a free one.
    """
    if sys.stderr.isatty():
        click.echo(STARTING, err=True)
    with contextlib.ExitStack() as stack:
        shown = stack.enter_context(_download())
        async with local_broker(data_dir, port=port, progress=shown) as broker:
            stack.close()
            yield broker


def usual_port() -> int | None:
    """Kafka's usual port where it is free, so that other commands find the broker by themselves."""
    try:
        with socket.create_server(("127.0.0.1", USUAL_PORT)):
            return USUAL_PORT
    except OSError:
        return None


@contextlib.contextmanager
def _download() -> Iterator[kafka_jars.Progress]:
    """A progress bar on a terminal, one line elsewhere, and nothing at all where nothing is fetched."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(FETCHING, total=kafka_jars.FETCH_BYTES)

    def advance(fetched: int) -> None:
        if not bar.tasks[task].completed:
            if console.is_terminal:
                bar.start()
            else:
                console.print(f"{FETCHING} ({kafka_jars.FETCH_BYTES / 1e6:.0f} MB)")
        bar.update(task, advance=fetched)

    try:
        yield advance
    finally:
        # Without a terminal rich ends even a bar that never began with an empty line.
        if bar.live.is_started:
            bar.stop()
