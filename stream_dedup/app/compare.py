"""What `compare` finds out about two texts: what they share, and what each profile says and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import click

from stream_dedup.app.archive import ReadBatch, check_profile, judged, readings_of, with_profile
from stream_dedup.app.connections import fields_of
from stream_dedup.app.lines import opened
from stream_dedup.app.plain_text import plain
from stream_dedup.app.rows import Row, read_rows
from stream_dedup.app.settings import Settings
from stream_dedup.app.stages import rules_of
from stream_dedup.app.verdict_line import VerdictLine
from stream_dedup.core.article import Article, parse_article
from stream_dedup.core.comparison import TextComparison, compare_texts
from stream_dedup.core.rules import Rules
from stream_dedup.core.scheme import profile
from stream_dedup.core.sentences import SentenceChanges, compare_sentences
from stream_dedup.core.verdict import Kind
from stream_dedup.errors import StreamDedupError


class Given(StrEnum):
    """What A and B are."""

    FILES = "files"
    TEXTS = "texts"
    IDS = "ids"


@dataclass(frozen=True, slots=True)
class Named:
    """A text, and what it is called."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ProfileVerdict:
    """What a profile says of the later text when the earlier one was kept."""

    profile: str
    line: VerdictLine
    why: str
    """One sentence."""
    comparison: TextComparison
    """After the profile's scheme."""
    bits_count: bool
    """Whether a distance in bits means anything: not where fingerprints are met only if equal."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that is shown."""

    left: Named
    right: Named
    verdicts: Sequence[ProfileVerdict]
    changes: SentenceChanges


def compare_named(settings: Settings, left: Named, right: Named, profiles: Sequence[str]) -> Report:
    """Compare two texts; the left one comes first.

    Raises:
        RecipeMismatchError: this machine's segmenter gives other words than a scheme's name promises.
    """
    verdicts = [_verdict(with_profile(settings, name), left, right) for name in profiles]
    return Report(left, right, verdicts, compare_sentences(left.text, right.text))


def named_texts(settings: Settings, given: Given, names: Sequence[str], within: str | None) -> Sequence[Named]:
    """The texts that were meant.

    Args:
        settings: where an article's parts stand.
        given: what the names are.
        names: of files, or ids in the file `within`, or the texts themselves.
        within: a file of articles.

    Raises:
        StreamDedupError: there is no article of this id, or no article in a file.
        click.FileError: a file cannot be read.
    """
    match given:
        case Given.TEXTS:
            return [Named(name, text) for name, text in zip("AB", names, strict=True)]
        case Given.FILES:
            return [_file(settings, path) for path in names]
        case Given.IDS:
            found = _by_ids(settings, names, within or "")
            return [Named(name, found[name]) for name in names]


def _file(settings: Settings, path: str) -> Named:
    """A JSON file's article, or any other file as a text."""
    longest = settings.max_article_bytes
    with opened(path) as (_, content):
        value = content.read(longest + 1)
    if path.lower().removesuffix(".gz").endswith((".json", ".jsonl")):
        article = parse_article(value, fields_of(settings), longest)
        if not isinstance(article, Article):
            raise StreamDedupError(
                f"{plain(path, 200)} holds no single article: {article.reason} "
                "Name two articles of one file by their ids with --in"
            )
        return Named(path, article.text)
    if len(value) > longest:
        raise StreamDedupError(
            f"{plain(path, 200)} has more than {longest} bytes; set STREAM_DEDUP_MAX_ARTICLE_BYTES for more"
        )
    try:
        return Named(path, value.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise click.FileError(plain(path, 200), f"it is not UTF-8 at byte {error.start}") from error


def _by_ids(settings: Settings, names: Sequence[str], within: str) -> Mapping[str, str]:
    """Texts of the first articles with these ids, or at these positions."""
    longest = settings.max_article_bytes
    found: dict[str, str] = {}
    for row in read_rows([within], None, longest):
        article = parse_article(row.value, fields_of(settings), longest) if isinstance(row.value, bytes) else row.value
        if isinstance(article, Article):
            name = row.position if article.id is None else article.id
            if name in names:
                found.setdefault(name, article.text)
        if len(found) == len(set(names)):
            return found
    missing = ", ".join(plain(name, 100) for name in dict.fromkeys(names) if name not in found)
    raise StreamDedupError(f"{plain(within, 200)} has no article {missing}: give ids as `dedup` prints them")


def _verdict(settings: Settings, left: Named, right: Named) -> ProfileVerdict:
    check_profile(settings)
    chosen, rules = profile(settings.profile), rules_of(settings, None)
    articles = [Article(name, one.text) for name, one in (("A", left), ("B", right))]
    rows = [Row(name, b"", 0) for name in "AB"]
    *_, last = judged(rules, [ReadBatch(rows, readings_of(chosen.scheme, settings.min_words, articles))])
    comparison = compare_texts(chosen.scheme, left.text, right.text)
    return ProfileVerdict(
        profile=settings.profile,
        line=last.line,
        why=_why(last.line, comparison, rules, settings.min_words),
        comparison=comparison,
        bits_count=rules.radius > 0,
    )


def _why(line: VerdictLine, comparison: TextComparison, rules: Rules, min_words: int) -> str:
    """What decided, with the numbers."""
    fewest = min(comparison.word_counts)
    if fewest < min_words:
        return f"{fewest} words are too few to compare, {min_words} are needed"
    if line.kind == Kind.EXACT:
        return "nothing but case, width, script variant, white space and punctuation differs"
    nearness = _nearness(comparison, rules)
    reached = "reaches" if comparison.estimated >= rules.threshold else "is below"
    similarity = f"the estimated Jaccard {comparison.estimated:.3f} {reached} {rules.threshold:g}"
    veto = f"; but {line.veto}" if line.veto else ""
    return f"{nearness}; {similarity}{veto}"


def _nearness(comparison: TextComparison, rules: Rules) -> str:
    if rules.radius == 0:
        return f"{comparison.equal_fingerprints} of {len(comparison.fingerprints)} fingerprints are equal, 1 is needed"
    within = "within" if comparison.distance <= rules.radius else "beyond"
    return f"{comparison.distance} bits apart, {within} the radius of {rules.radius}"
