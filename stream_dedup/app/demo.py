"""What `demo` does: a local Kafka, a worker, articles in, verdicts out, and nothing left behind."""

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from importlib.resources import as_file, files
from pathlib import Path

import click

from stream_dedup.app.brokers import ensure_topics, started_broker
from stream_dedup.app.connections import connection_of
from stream_dedup.app.demo_display import Display, demo_display
from stream_dedup.app.logs import configure_logs
from stream_dedup.app.plain_text import plain
from stream_dedup.app.process import end_child, run_main
from stream_dedup.app.publish import Published, publish_lines
from stream_dedup.app.run import at_broker, work
from stream_dedup.app.settings import Settings
from stream_dedup.app.watch import Shown, headlines, verdicts
from stream_dedup.app.worker_processes import Child, supervise
from stream_dedup.kafka.client import connect
from stream_dedup.kafka.outputs import Begin

OWN_ARTICLES = "demo.jsonl"
"""Beside this file: articles written for this purpose."""
PAUSE = 0.1
"""Seconds between two of our own articles, so that one can watch the rate rise and fall."""
LOG_LINES = 10
"""Of a worker that ended, in its error."""


def run_demo(settings: Settings, path: Path | None) -> int:
    """Show the whole path at work; the exit code."""
    configure_logs(settings.log_format)
    codes = [0]

    async def main(articles: Path) -> None:
        async with started_broker(None, None) as broker:
            own = at_broker(settings, broker.bootstrap_servers)
            # One raw partition: verdicts fall in the order of the file.
            own = own.model_copy(update={"web_port": 0, "raw_partitions": 1})
            with demo_display(_activate()) as display:
                codes.append(await _show(own, articles, PAUSE if path is None else 0, display))

    with as_file(files("stream_dedup.app") / OWN_ARTICLES) as own_articles:
        run_main(main(path or own_articles))
    return max(codes)


def _activate() -> str | None:
    """What makes the command known to this terminal, where it runs from an environment that is not active."""
    script = Path(sys.executable).with_name("activate")
    return f"source {script}" if shutil.which("stream-dedup") is None and script.exists() else None


async def _show(settings: Settings, articles: Path, pause: float, display: Display) -> int:
    display.step("Making topics")
    async with connect(connection_of(settings)) as broker:
        await ensure_topics(broker, settings, settings.article_topics + settings.internal_topics)
    with tempfile.NamedTemporaryFile(prefix="stream-dedup-worker-", suffix=".log") as log:
        display.step("Starting a worker")
        worker = asyncio.create_task(supervise([Child(_live, (settings, log.name))]))
        showing = asyncio.create_task(_publish_and_show(settings, articles, pause, display))
        try:
            await asyncio.wait({worker, showing}, return_when=asyncio.FIRST_COMPLETED)
            if showing.done():
                showing.result()
                display.summary()
                return 0
            click.echo(_tail(Path(log.name)), err=True)
            return worker.result()
        finally:
            await _end(showing)
            await _end(worker)


async def _publish_and_show(settings: Settings, articles: Path, pause: float, display: Display) -> None:
    published = Published()
    publishing = asyncio.create_task(publish_lines(settings, str(articles), published, lambda _line: None, pause))
    coming = verdicts(settings, Begin.EARLIEST, None, headlines(settings))
    try:
        async with contextlib.aclosing(coming):
            await show_each(coming, publishing, published, display.show)
    finally:
        await _end(publishing)


async def show_each(
    coming: AsyncIterator[Shown], publishing: "asyncio.Task[None]", published: Published, show: Callable[[Shown], None]
) -> None:
    """Show verdicts until every published article has one, whichever of the two ends last."""
    shown = 0
    following = asyncio.ensure_future(anext(coming))
    try:
        while not publishing.done() or shown < published.sent:
            waited = {following} if publishing.done() else {following, publishing}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if publishing.done():
                publishing.result()
            if following.done():
                show(following.result())
                shown += 1
                following = asyncio.ensure_future(anext(coming))
    finally:
        await _end(following)


async def _end(task: "asyncio.Future[None] | asyncio.Future[int] | asyncio.Future[Shown]") -> None:
    """Cancel a task and wait until it is over; its own error has been seen, or comes too late to matter."""
    task.cancel()
    await asyncio.wait({task})


def _tail(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-LOG_LINES:]
    return "\n".join(["The worker ended:", *(plain(line, 500) for line in lines)])


def _live(settings: Settings, log: str) -> None:
    """The worker's process: what it says goes to a file, not between the verdicts."""
    with Path(log).open("a") as file:
        os.dup2(file.fileno(), sys.stderr.fileno())
    configure_logs("console")
    end_child(lambda: run_main(work(settings)))
