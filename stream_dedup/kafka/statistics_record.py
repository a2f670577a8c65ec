"""The statistics record: one for each decided batch, committed with it, as JSON.

Whatever an article names as its source or language, a record has at most `MAX_KEYS` of each, none longer than
`MAX_KEY_LENGTH`: the rest is counted under `OTHER`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from stream_dedup.core.verdict import Kind, Verdict

VERSION = 1
"""Format of the record's value; a reader leaves out records of another one."""
MAX_KEYS = 50
"""Sources, and languages, that one record names: about what a national news feed has in a minute."""
MAX_KEY_LENGTH = 64
"""Characters of a source's or language's name."""
OTHER = "other"
"""Stands for every name beyond the limits."""
UNKNOWN = "unknown"
"""Stands for an article that names none."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What statistics need of one judged article."""

    verdict: Verdict
    kind: Kind
    source: str | None
    language: str | None


class Tally(msgspec.Struct, frozen=True):
    """Articles by verdict; rejected ones have no part in the duplicate rate."""

    unique: int = 0
    duplicates: int = 0


class KindCount(msgspec.Struct, frozen=True):
    """How many articles got this verdict for this reason."""

    verdict: Verdict
    kind: Kind
    articles: int


class StatisticsRecord(msgspec.Struct, frozen=True):
    """What one batch of the decide stage brought."""

    first_sequence: int
    last_sequence: int
    """Sequence of the batch's last article; a reader takes nothing twice by it."""
    decided: int
    """Wall-clock time of the batch, ms since the epoch."""
    clock: int | None
    """The event clock after the batch, ms since the epoch; None before it stands."""
    index_entries: int
    kinds: tuple[KindCount, ...]
    sources: dict[str, Tally]
    languages: dict[str, Tally]
    version: int = VERSION

    def encode(self) -> bytes:
        """The record's value."""
        return msgspec.json.encode(self)


class _Versioned(msgspec.Struct):
    version: int


def decode_statistics(value: bytes) -> StatisticsRecord | None:
    """The record of a value, None for another format version.

    Raises:
        msgspec.DecodeError: the value is no statistics record at all.
    """
    if msgspec.json.decode(value, type=_Versioned).version != VERSION:
        return None
    return msgspec.json.decode(value, type=StatisticsRecord)


def count_kinds(articles: Iterable[Counted]) -> dict[tuple[Verdict, Kind], int]:
    """Articles by verdict and kind."""
    return dict(Counter((article.verdict, article.kind) for article in articles))


def summarise(
    articles: Iterable[Counted], *, first_sequence: int, decided: int, clock: int | None, index_entries: int
) -> StatisticsRecord:
    """The record of a batch, whose articles are in order of sequence and at least one."""
    batch = list(articles)
    return StatisticsRecord(
        first_sequence=first_sequence,
        last_sequence=first_sequence + len(batch) - 1,
        decided=decided,
        clock=clock,
        index_entries=index_entries,
        kinds=tuple(KindCount(verdict, kind, number) for (verdict, kind), number in count_kinds(batch).items()),
        sources=_tallies((article.source, article.verdict) for article in batch),
        languages=_tallies((article.language, article.verdict) for article in batch),
    )


def _tallies(named: Iterable[tuple[str | None, Verdict]]) -> dict[str, Tally]:
    counts = Counter((_bounded(name), verdict) for name, verdict in named if verdict is not Verdict.REJECTED)
    articles: Counter[str] = Counter()
    for (name, _), number in counts.items():
        articles[name] += number
    named_ones = {name for name, _ in articles.most_common(MAX_KEYS)}
    merged: Counter[tuple[str, Verdict]] = Counter()
    for (name, verdict), number in counts.items():
        merged[name if name in named_ones else OTHER, verdict] += number
    return {
        name: Tally(unique=merged[name, Verdict.UNIQUE], duplicates=merged[name, Verdict.DUPLICATE])
        for name in sorted({name for name, _ in merged})
    }


def _bounded(name: str | None) -> str:
    if name is None:
        return UNKNOWN
    # A lone surrogate could not be written as JSON in UTF-8.
    return name[:MAX_KEY_LENGTH].encode("utf-8", "replace").decode()
