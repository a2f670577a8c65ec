"""What `dedup` does: the verdicts on an archive, its unique articles, or its groups of similar ones."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

import click

from stream_dedup.app.archive import decided
from stream_dedup.app.connections import fields_of
from stream_dedup.app.formats import Format
from stream_dedup.app.groups import similar_groups
from stream_dedup.app.keep import Take, kept_articles
from stream_dedup.app.plain_text import plain
from stream_dedup.app.progress import progress
from stream_dedup.app.rows import read_rows, stored_bytes
from stream_dedup.app.settings import Settings
from stream_dedup.app.tables import columns_of, table
from stream_dedup.app.verdict_line import VerdictLine
from stream_dedup.core.verdict import Verdict

EXIT_REJECTED = 1
NO_TIMES = "--window has no effect without --time-field: a row has no other time than what the article says"
REASONS_SHOWN = 10
"""Rejected rows that are told of where they are not in the output."""
PROGRESS_EVERY = 50
"""Articles between two moves of the bar."""


class Content(StrEnum):
    """What is written."""

    VERDICTS = "verdicts"
    KEEP = "keep"
    GROUPS = "groups"


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked of `dedup`."""

    paths: Sequence[str]
    form: Format | None
    """None: what each path's ending tells."""
    content: Content
    output: Path | None
    """None: the standard output."""
    window: timedelta | None
    processes: int


def dedup_files(settings: Settings, job: Job) -> int:
    """Decide about all rows and write what is asked for; the exit code says whether any was rejected.

    Raises:
        RecipeMismatchError: this machine's segmenter gives other words than the scheme's name promises.
        StreamDedupError: a process was killed.
        click.ClickException: a file cannot be read or written.
    """
    if job.window is not None and settings.time_field is None:
        click.echo(NO_TIMES, err=True)
    counts = dict.fromkeys(Verdict, 0)
    rows = read_rows(job.paths, job.form, settings.max_article_bytes)
    outcomes = decided(settings, rows, job.window, job.processes)
    with (
        closing(outcomes),
        _sink(settings, job) as take,
        progress("dedup", stored_bytes(job.paths)) as show,
    ):
        for number, outcome in enumerate(outcomes, 1):
            take(outcome)
            verdict = Verdict(outcome.line.verdict)
            counts[verdict] += 1
            if verdict is Verdict.REJECTED and job.content is not Content.VERDICTS:
                _tell_rejected(outcome.line, counts[verdict])
            if number % PROGRESS_EVERY == 0:
                show(number, outcome.row.read)
    if job.output is not None or job.content is not Content.VERDICTS:
        told = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
        click.echo(f"{sum(counts.values()):,} articles: {told}", err=True)
    return EXIT_REJECTED if counts[Verdict.REJECTED] else 0


def _sink(settings: Settings, job: Job) -> AbstractContextManager[Take]:
    match job.content:
        case Content.VERDICTS:
            return _verdicts(job.output)
        case Content.KEEP:
            return kept_articles(job.paths, job.form, job.output)
        case Content.GROUPS:
            return similar_groups(fields_of(settings), settings.max_article_bytes, job.output, job.processes)


@contextmanager
def _verdicts(output: Path | None) -> Iterator[Take]:
    with table(output, columns_of(VerdictLine)) as write:
        yield lambda outcome: write(asdict(outcome.line))


def _tell_rejected(line: VerdictLine, number: int) -> None:
    if number <= REASONS_SHOWN:
        click.echo(f"rejected {plain(line.position, 200)}: {plain(line.reason or '', 200)}", err=True)
    elif number == REASONS_SHOWN + 1:
        click.echo("more rejected; without --keep or --groups each is told of", err=True)
