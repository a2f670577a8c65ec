"""What `dedup` does: the verdicts on the articles of files, decided here and now without a broker."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

import click

from stream_dedup.app.connections import fields_of
from stream_dedup.app.lines import read_lines
from stream_dedup.app.setting_types import milliseconds
from stream_dedup.app.settings import Settings
from stream_dedup.app.stages import profile_of, rules_of
from stream_dedup.app.verdict_line import VerdictLine, line_of_judgement
from stream_dedup.core.article import Article, parse_article
from stream_dedup.core.decider import Decider
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.scheme import Scheme, check_recipe
from stream_dedup.core.sketch import SetAside, Sketch, Submission
from stream_dedup.core.verdict import Kind, Verdict

BATCH = 500
"""Articles that are fingerprinted and decided at once; verdicts do not depend on it."""
EXIT_REJECTED = 1
NO_TIMES = "--window has no effect without --time-field: a line has no other time than what the article says"


@dataclass(frozen=True, slots=True)
class _Read:
    """One line as it was read."""

    position: str
    article: Article | SetAside


def dedup_files(settings: Settings, paths: Sequence[str], window: timedelta | None) -> int:
    """Print the verdict on every line; the exit code says whether any was rejected.

    Raises:
        RecipeMismatchError: this machine's segmenter gives other words than the scheme's name promises.
    """
    if window is not None and settings.time_field is None:
        click.echo(NO_TIMES, err=True)
    rejected = False
    for line in decided(settings, paths, window):
        click.echo(line.to_json())
        rejected = rejected or line.verdict == Verdict.REJECTED
    return EXIT_REJECTED if rejected else 0


def decided(settings: Settings, paths: Sequence[str], window: timedelta | None) -> Iterator[VerdictLine]:
    """The verdicts on all lines, in their order."""
    scheme = profile_of(settings).scheme
    check_recipe(scheme)
    rules = rules_of(settings, None if window is None else milliseconds(window))
    decider = Decider(rules, estimated_jaccard)
    lines = _read(settings, paths)
    time = 0
    while batch := list(islice(lines, BATCH)):
        submissions = []
        for read, content in zip(batch, _contents(scheme, settings.min_words, batch), strict=True):
            time = _time(read.article, time)
            submissions.append(Submission(read.position, _id(read), time, content))
        decision = decider.decide(submissions, decider.position + len(batch))
        decider.apply(decision.delta)
        for submission, judgement in zip(submissions, decision.judgements, strict=True):
            yield line_of_judgement(judgement, submission.id, submission.position)


def _read(settings: Settings, paths: Sequence[str]) -> Iterator[_Read]:
    fields, most = fields_of(settings), settings.max_article_bytes
    for path in paths:
        for line in read_lines(path, most):
            yield _Read(f"{path}:{line.number}", parse_article(line.content, fields, most))


def _contents(scheme: Scheme, min_words: int, batch: Sequence[_Read]) -> Iterator[Sketch | SetAside]:
    """What each article comes to; all are fingerprinted at once."""
    texts = [read.article.text for read in batch if isinstance(read.article, Article)]
    sketches = scheme.fingerprint(texts)
    row = 0
    for read in batch:
        if isinstance(read.article, SetAside):
            yield read.article
            continue
        enough = sketches.words[row] >= min_words
        yield sketches.row(row) if enough else SetAside(Kind.UNFINGERPRINTABLE)
        row += 1


def _id(read: _Read) -> str:
    article = read.article
    return article.id if isinstance(article, Article) and article.id is not None else read.position


def _time(article: Article | SetAside, before: int) -> int:
    """The article's own time, or that of the line before: offline there is no record's timestamp to stand for it."""
    return article.time if isinstance(article, Article) and article.time is not None else before
