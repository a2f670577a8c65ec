"""The whole deployment's figures, put together from the statistics records: totals and tumbling windows.

Every worker reads the same records and so shows the same figures.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from stream_dedup.core.verdict import Kind, Verdict
from stream_dedup.kafka.statistics_record import OTHER, StatisticsRecord, Tally

KEPT_WINDOWS = 60
"""Windows that are shown: an hour with the default length."""
MAX_WINDOW_KEYS = 200
"""Sources, and languages, that one window tells apart; more are counted under `OTHER`."""


DECIMALS = 4
"""Of a rate that is shown."""


class Figures(msgspec.Struct, frozen=True):
    """Unique and duplicate articles, and duplicates / (unique + duplicates); None where there is neither."""

    unique: int
    duplicates: int
    duplicate_rate: float | None


class WindowFigures(msgspec.Struct, frozen=True):
    """One tumbling window."""

    start_ms: int
    articles: Figures
    rejected: int
    sources: dict[str, Figures]
    languages: dict[str, Figures]


class DeploymentFigures(msgspec.Struct, frozen=True):
    """Everything that is known: totals since a sequence, and the newest windows, newest first."""

    since_sequence: int | None
    last_sequence: int | None
    last_decided_ms: int | None
    clock_ms: int | None
    index_entries: int | None
    articles: Figures
    rejected: int
    kinds: dict[str, int]
    window_ms: int
    windows: list[WindowFigures]


def duplicate_rate(unique: int, duplicates: int) -> float | None:
    """Duplicates / (unique + duplicates); None where there is neither."""
    return duplicates / (unique + duplicates) if unique + duplicates else None


@dataclass(slots=True)
class _Tallies:
    """Unique and duplicate articles by a name."""

    unique: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)

    def add(self, named: Mapping[str, Tally]) -> None:
        for name, tally in named.items():
            known = name in self.unique or len(self.unique) < MAX_WINDOW_KEYS
            key = name if known else OTHER
            self.unique[key] += tally.unique
            self.duplicates[key] += tally.duplicates

    def shown(self) -> dict[str, Figures]:
        return {name: _figures(self.unique[name], self.duplicates[name]) for name in sorted(self.unique)}


@dataclass(slots=True)
class _Window:
    articles: Counter[Verdict] = field(default_factory=Counter)
    sources: _Tallies = field(default_factory=_Tallies)
    languages: _Tallies = field(default_factory=_Tallies)


class Statistics:
    """Totals since the first record that is still kept, and the newest windows by the time of decision."""

    def __init__(self, window: int) -> None:
        """Start with nothing.

        Args:
            window: length of the tumbling windows in ms.
        """
        self._window = window
        self._windows: dict[int, _Window] = {}
        self._kinds: Counter[tuple[Verdict, Kind]] = Counter()
        self._first_sequence: int | None = None
        self._last: StatisticsRecord | None = None

    def take(self, record: StatisticsRecord) -> None:
        """Count a record, unless its articles have been counted already."""
        if self._last is not None and record.last_sequence <= self._last.last_sequence:
            return
        if self._first_sequence is None:
            self._first_sequence = record.first_sequence
        self._last = record
        window = self._window_of(record.decided)
        for kind in record.kinds:
            self._kinds[kind.verdict, kind.kind] += kind.articles
            if window is not None:
                window.articles[kind.verdict] += kind.articles
        if window is not None:
            window.sources.add(record.sources)
            window.languages.add(record.languages)

    def duplicate_rate(self) -> float | None:
        """The rate over all windows that are kept."""
        articles: Counter[Verdict] = Counter()
        for window in self._windows.values():
            articles.update(window.articles)
        return duplicate_rate(articles[Verdict.UNIQUE], articles[Verdict.DUPLICATE])

    def shown(self) -> DeploymentFigures:
        """The figures as they stand now."""
        last = self._last
        kinds: Counter[str] = Counter()
        for (_, kind), number in self._kinds.items():
            kinds[kind.value] += number
        return DeploymentFigures(
            since_sequence=self._first_sequence,
            last_sequence=last.last_sequence if last else None,
            last_decided_ms=last.decided if last else None,
            clock_ms=last.clock if last else None,
            index_entries=last.index_entries if last else None,
            articles=_figures(self._count(Verdict.UNIQUE), self._count(Verdict.DUPLICATE)),
            rejected=self._count(Verdict.REJECTED),
            kinds=dict(sorted(kinds.items())),
            window_ms=self._window,
            windows=[self._shown_window(start) for start in sorted(self._windows, reverse=True)],
        )

    def _window_of(self, time: int) -> _Window | None:
        """The window of a time; None where it lies before all windows that are kept."""
        start = time - time % self._window
        if start not in self._windows:
            if len(self._windows) >= KEPT_WINDOWS:
                oldest = min(self._windows)
                if start < oldest:
                    return None
                del self._windows[oldest]
            self._windows[start] = _Window()
        return self._windows[start]

    def _count(self, verdict: Verdict) -> int:
        return sum(number for (of, _), number in self._kinds.items() if of is verdict)

    def _shown_window(self, start: int) -> WindowFigures:
        window = self._windows[start]
        articles = window.articles
        return WindowFigures(
            start_ms=start,
            articles=_figures(articles[Verdict.UNIQUE], articles[Verdict.DUPLICATE]),
            rejected=articles[Verdict.REJECTED],
            sources=window.sources.shown(),
            languages=window.languages.shown(),
        )


def _figures(unique: int, duplicates: int) -> Figures:
    rate = duplicate_rate(unique, duplicates)
    return Figures(unique, duplicates, None if rate is None else round(rate, DECIMALS))
