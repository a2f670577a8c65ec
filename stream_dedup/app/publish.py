"""What `publish` does: the lines of a file to the raw topic, each as it is."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TransferSpeedColumn

from stream_dedup.app.connections import connection_of, fields_of
from stream_dedup.app.lines import STDIN, Line, read_lines
from stream_dedup.app.logs import configure_logs
from stream_dedup.app.process import run_main
from stream_dedup.app.settings import Settings
from stream_dedup.core.article import Article, parse_article
from stream_dedup.errors import TopicSettingsError
from stream_dedup.kafka.client import connect
from stream_dedup.kafka.publisher import LARGEST_REQUEST, publisher
from stream_dedup.kafka.topics import describe_topic

EXIT_REFUSED = 1
DAY = 86_400_000
"""ms."""


@dataclass(slots=True)
class Published:
    """What came of a publication."""

    sent: int = 0
    without_id: int = 0
    """Published without a key, since the line is no article or names no id."""
    too_large: int = 0
    """Refused by the broker."""


def publish_file(settings: Settings, path: str) -> int:
    """Publish a file, show progress on a terminal and the counts at the end; the exit code."""
    configure_logs(settings.log_format)
    published = Published()
    begun = time.monotonic()

    async def main() -> None:
        with _progress(path) as show:
            await publish_lines(settings, path, published, show)

    run_main(main())
    seconds = time.monotonic() - begun
    click.echo(
        f"{published.sent} published to {settings.raw_topic} in {seconds:.1f} s ({published.without_id} without an id, "
        f"{published.too_large} too large for the broker)",
        err=True,
    )
    return EXIT_REFUSED if published.too_large else 0


async def publish_lines(
    settings: Settings, path: str, published: Published, show: Callable[[Line], None], pause: float = 0
) -> None:
    """Publish every line of a file, counting in `published`, with `pause` seconds between two.

    Raises:
        TopicMissingError: there is no raw topic: it is never made in passing.
        TopicSettingsError: an article is so old that the topic would delete it at once.
        BrokerUnreachableError: nobody answers, or does not go on answering.
    """
    connection = connection_of(settings)
    async with connect(connection) as broker:
        retention = int((await describe_topic(broker, settings.raw_topic))["retention.ms"])
    async with publisher(connection, settings.raw_topic) as raw:
        for line in read_lines(path, LARGEST_REQUEST):
            key, timestamp = _key_and_time(settings, line.content)
            age = time.time_ns() // 1_000_000 - timestamp
            if 0 <= retention < age:
                raise TopicSettingsError(_too_old(settings.raw_topic, line, age, retention))
            await raw.publish(key, line.content, timestamp)
            published.without_id += key is None
            published.sent += 1
            show(line)
            if pause:
                await raw.flush()
                await asyncio.sleep(pause)
        await raw.flush()
        published.too_large = raw.too_large
        published.sent -= raw.too_large


def _key_and_time(settings: Settings, value: bytes) -> tuple[bytes | None, int]:
    now = time.time_ns() // 1_000_000
    article = parse_article(value, fields_of(settings), settings.max_article_bytes)
    if not isinstance(article, Article):
        return None, now
    key = None if article.id is None else article.id.encode("utf-8", "replace")
    return key, now if article.time is None else article.time


def _too_old(topic: str, line: Line, age: int, retention: int) -> str:
    """Kafka's retention goes by the records' own timestamps."""
    return (
        f"line {line.number} is {age / DAY:,.0f} days old, the retention of {topic} is {retention / DAY:,.0f} days: "
        "Kafka would delete it unread. Set retention.ms=-1 on that topic and on the outputs, or publish without "
        "--time-field and let the worker take the time from the article (STREAM_DEDUP_TIME_FIELD)"
    )


@contextlib.contextmanager
def _progress(path: str) -> Iterator[Callable[[Line], None]]:
    """A bar over the file's bytes, or a count where its size is not known; on a terminal only."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _line: None
        return
    total = None if path == STDIN else Path(path).stat().st_size
    columns = (SpinnerColumn(), TextColumn("{task.fields[lines]:,} articles"), BarColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("publish", total=total, lines=0)
        yield lambda line: bar.update(task, completed=line.read, lines=line.number)
