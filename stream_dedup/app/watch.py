"""What `watch` does: the three outputs in one order, for people or programs."""

import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

import click

from stream_dedup.app.connections import connection_of, fields_of
from stream_dedup.app.headline import headline
from stream_dedup.app.in_order import InOrder
from stream_dedup.app.logs import configure_logs
from stream_dedup.app.plain_text import plain
from stream_dedup.app.process import run_main
from stream_dedup.app.settings import Settings
from stream_dedup.app.verdict_line import VerdictLine, line_of_record
from stream_dedup.core.article import Article, parse_article
from stream_dedup.core.sketch import SetAside
from stream_dedup.core.verdict import Kind, Verdict
from stream_dedup.kafka.client import connect
from stream_dedup.kafka.outputs import Begin, output_reader
from stream_dedup.kafka.transport import Record

FETCH_WAIT = 0.2
"""Seconds that a fetch waits for a first record."""
ID_SHOWN = 40
REASON_SHOWN = 120
_COLOURS = {Verdict.UNIQUE.value: "green", Verdict.DUPLICATE.value: "yellow", Verdict.REJECTED.value: "red"}


@dataclass(frozen=True, slots=True)
class Shown:
    """One verdict and how its article begins."""

    line: VerdictLine
    headline: str

    @property
    def sequence(self) -> int:
        """Place in the total order."""
        return self.line.sequence


Headline = Callable[[Record, Article | SetAside], str]


def watch_verdicts(settings: Settings, *, as_json: bool, from_start: bool, idle_exit: float | None) -> None:
    """Print verdicts until stopped, or until none came for `idle_exit` seconds."""
    configure_logs(settings.log_format)
    begin = Begin.EARLIEST if from_start else Begin.LATEST

    async def main() -> None:
        coming = verdicts(settings, begin, idle_exit, _no_headline if as_json else headlines(settings))
        # Whoever reads our output may go away: the consumer is closed then as well.
        async with contextlib.aclosing(coming):
            async for shown in coming:
                click.echo(shown.line.to_json() if as_json else readable(shown))

    run_main(main())


def headlines(settings: Settings) -> Headline:
    """How articles are named to people."""
    return lambda record, article: headline(record.value, article, settings.title_field)


def _no_headline(_record: Record, _article: Article | SetAside) -> str:
    return ""


def readable(shown: Shown) -> str:
    """One line for people; colours are left out by whoever prints it to a file."""
    line = shown.line
    verdict = click.style(f"{line.verdict:9}", fg=_COLOURS.get(line.verdict))
    text = f"{line.sequence:>7}  {verdict} {line.kind:17} {plain(line.id, ID_SHOWN)}  {shown.headline}"
    if line.original_id is not None:
        text += f"  = {plain(line.original_id, ID_SHOWN)} (distance {line.distance}, similarity {line.similarity})"
    if line.reason is not None:
        text += f"  {plain(line.reason, REASON_SHOWN)}"
    return text


async def verdicts(settings: Settings, begin: Begin, idle_exit: float | None, name: Headline) -> AsyncGenerator[Shown]:
    """Committed verdicts in the order of their sequence, as far as it has come.

    Raises:
        TopicMissingError: an output does not exist.
        BrokerUnreachableError: nobody answers.
    """
    connection = connection_of(settings)
    async with connect(connection) as broker:
        topics = (settings.unique_topic, settings.duplicates_topic, settings.rejected_topic)
        partitions = [(topic, number) for topic in topics for number in range(await broker.partitions(topic))]
    order = InOrder[Shown](partitions, expected=0 if begin is Begin.EARLIEST else None)
    async with output_reader(connection, partitions, begin) as reader:
        newest = time.monotonic()
        while idle_exit is None or time.monotonic() - newest < idle_exit:
            records = await reader.fetch(FETCH_WAIT)
            now = time.monotonic()
            for record in records:
                if (shown := _read(settings, record, name)) is not None:
                    order.add((record.topic, record.partition), shown, now)
                    newest = now
            for shown in order.ready(await reader.ended(), now):
                yield shown
        for shown in order.rest():
            yield shown


def _read(settings: Settings, record: Record, name: Headline) -> Shown | None:
    """What a record tells; None where another program wrote it."""
    value = record.value
    article = SetAside(Kind.TOMBSTONE) if value is None else parse_article(value, fields_of(settings), len(value))
    line = line_of_record(record.headers, article.id if isinstance(article, Article) else None)
    return None if line is None else Shown(line, name(record, article))
