"""An archive decided here and now, without a broker: rows to verdicts, on all cores, in bounded memory."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial

from stream_dedup.app.connections import fields_of
from stream_dedup.app.in_processes import each_in_order
from stream_dedup.app.rows import Row
from stream_dedup.app.setting_types import milliseconds
from stream_dedup.app.settings import Settings
from stream_dedup.app.stages import rules_of
from stream_dedup.app.verdict_line import VerdictLine, line_of_judgement
from stream_dedup.core.article import Article, Fields, parse_article
from stream_dedup.core.decider import Decider
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.rules import Rules
from stream_dedup.core.scheme import Scheme, check_recipe, profile
from stream_dedup.core.sketch import SetAside, Sketch, Submission
from stream_dedup.core.verdict import Kind, Original

BATCH = 500
"""Articles that are fingerprinted and decided at once; verdicts do not depend on it."""
BATCH_BYTES = 4_000_000
"""Bytes of them, but for the last: a few batches for each process are in memory."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that a process must know to fingerprint rows."""

    profile: str
    threshold: float | None
    """Estimated Jaccard similarity in place of the profile's, from which bands of a scheme may be derived."""
    fields: Fields
    max_bytes: int
    min_words: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What is left of one row when it has been read and fingerprinted."""

    id: str | None
    time: int | None
    """Event time in ms; None where the article has none."""
    content: Sketch | SetAside


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """Rows with their readings."""

    rows: Sequence[Row]
    readings: Sequence[Reading]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row and what was decided about it."""

    row: Row
    line: VerdictLine
    original: Original | None
    """The article that it repeats."""


def decided(settings: Settings, rows: Iterable[Row], window: timedelta | None, processes: int) -> Generator[Outcome]:
    """The verdicts on all rows, in their order; the same, however many processes there are.

    Raises:
        RecipeMismatchError: this machine's segmenter gives other words than the scheme's name promises.
        StreamDedupError: a process was killed.
    """
    check_profile(settings)
    rules = rules_of(settings, None if window is None else milliseconds(window))
    with closing(read_in_processes(settings, rows, processes)) as batches:
        yield from judged(rules, batches)


def check_profile(settings: Settings) -> None:
    """Load the profile's dictionary; raise RecipeMismatchError where its words are not those that the name promises."""
    check_recipe(_scheme(settings.profile, settings.threshold))


def with_profile(settings: Settings, name: str) -> Settings:
    """The settings with another profile, and its own radius and threshold."""
    return settings.model_copy(update={"profile": name, "radius": None, "threshold": None})


def judged(rules: Rules, batches: Iterable[ReadBatch]) -> Iterator[Outcome]:
    """The verdicts on rows that have been read, in their order."""
    decider = Decider(rules, estimated_jaccard)
    time = 0
    for batch in batches:
        submissions = list(_submissions(batch, time))
        time = submissions[-1].time
        decision = decider.decide(submissions, decider.position + len(submissions))
        decider.apply(decision.delta)
        for row, submission, judgement in zip(batch.rows, submissions, decision.judgements, strict=True):
            yield Outcome(row, line_of_judgement(judgement, submission.id, submission.position), judgement.original)


def _submissions(batch: ReadBatch, time: int) -> Iterator[Submission]:
    """What is decided about; the time is that of the row before the batch."""
    for row, reading in zip(batch.rows, batch.readings, strict=True):
        # Offline there is no record's timestamp to stand for a missing time: that of the row before does.
        time = time if reading.time is None else reading.time
        yield Submission(row.position, row.position if reading.id is None else reading.id, time, reading.content)


def read_in_processes(settings: Settings, rows: Iterable[Row], processes: int) -> Generator[ReadBatch]:
    """Rows in batches that are not empty, each with its readings, in their order."""
    recipe = Recipe(
        settings.profile, settings.threshold, fields_of(settings), settings.max_article_bytes, settings.min_words
    )
    with closing(each_in_order(partial(read_batch, recipe), _batches(rows), processes)) as batches:
        for batch, readings in batches:
            yield ReadBatch(batch, readings)


def read_batch(recipe: Recipe, rows: Sequence[Row]) -> list[Reading]:
    """Parse rows and fingerprint them all at once."""
    parsed = [
        row.value if isinstance(row.value, SetAside) else parse_article(row.value, recipe.fields, recipe.max_bytes)
        for row in rows
    ]
    return readings_of(_scheme(recipe.profile, recipe.threshold), recipe.min_words, parsed)


def readings_of(scheme: Scheme, min_words: int, parsed: Sequence[Article | SetAside]) -> list[Reading]:
    """What is left of articles when they are fingerprinted, those with too few words set aside."""
    articles = [article for article in parsed if isinstance(article, Article)]
    sketches = scheme.fingerprint([article.text for article in articles])
    contents = (
        sketches.row(row) if words >= min_words else SetAside(Kind.UNFINGERPRINTABLE)
        for row, words in enumerate(sketches.words.tolist())
    )
    return [
        Reading(article.id, article.time, next(contents))
        if isinstance(article, Article)
        else Reading(None, None, article)
        for article in parsed
    ]


@cache
def _scheme(name: str, threshold: float | None) -> Scheme:
    """A profile's scheme, once a process: it holds hashes of words, and does not pickle."""
    return profile(name, threshold=threshold).scheme


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row.value) if isinstance(row.value, bytes) else 0
        if len(batch) == BATCH or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
