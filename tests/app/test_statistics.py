"""The deployment's figures."""

from stream_dedup.app.statistics import KEPT_WINDOWS, MAX_WINDOW_KEYS, Figures, Statistics
from stream_dedup.core.verdict import Kind, Verdict
from stream_dedup.kafka.statistics_record import (
    MAX_KEYS,
    OTHER,
    Counted,
    StatisticsRecord,
    decode_statistics,
    summarise,
)

MINUTE = 60_000
NEW = Counted(Verdict.UNIQUE, Kind.NEW, "daily", "en")
NEAR = Counted(Verdict.DUPLICATE, Kind.NEAR, "wire", "en")
BAD = Counted(Verdict.REJECTED, Kind.UNREADABLE, None, None)


def record(first: int, decided: int, *articles: Counted) -> StatisticsRecord:
    """The record of a batch, as it comes out of the topic."""
    written = summarise(articles, first_sequence=first, decided=decided, clock=7, index_entries=3)
    read = decode_statistics(written.encode())
    assert read is not None
    return read


def test_windows_tumble_by_the_time_of_decision() -> None:
    r"""Each article counts in one window, rejected ones in no rate.

    decided   0:10  0:59 | 1:00  1:30
    articles  NEW   NEAR | NEAR  BAD
    rate      1 / 2      | 1 / 1
    """
    statistics = Statistics(MINUTE)
    for first, (decided, article) in enumerate([(10_000, NEW), (59_999, NEAR), (60_000, NEAR), (90_000, BAD)]):
        statistics.take(record(first, decided, article))
    shown = statistics.shown()
    newest, oldest = shown.windows
    assert (oldest.start_ms, oldest.articles, oldest.rejected) == (0, Figures(1, 1, 0.5), 0)
    assert (newest.start_ms, newest.articles, newest.rejected) == (60_000, Figures(0, 1, 1.0), 1)
    assert oldest.sources == {"daily": Figures(1, 0, 0.0), "wire": Figures(0, 1, 1.0)}
    assert oldest.languages == {"en": Figures(1, 1, 0.5)}
    assert (shown.articles, shown.rejected) == (Figures(1, 2, 0.6667), 1)
    assert shown.kinds == {"near": 2, "new": 1, "unreadable": 1}
    assert statistics.duplicate_rate() == 2 / 3


def test_nothing_is_counted_twice() -> None:
    """The topic read anew from its start changes nothing."""
    statistics = Statistics(MINUTE)
    records = [record(0, 10, NEW, NEAR), record(2, 20, NEAR)]
    for each in [*records, *records]:
        statistics.take(each)
    assert statistics.shown().articles == Figures(1, 2, 0.6667)


def test_memory_is_bounded() -> None:
    """However many windows pass and sources are named, a fixed number of each is kept, and every article counted."""
    statistics = Statistics(MINUTE)
    per_record = 2 * MAX_KEYS
    for number in range(200):
        sources = [f"source {number} {each}" for each in range(per_record)]
        articles = [Counted(Verdict.UNIQUE, Kind.NEW, source * 50, None) for source in sources]
        statistics.take(record(number * per_record, (number // 2) * MINUTE, *articles))
    shown = statistics.shown()
    assert len(shown.windows) == KEPT_WINDOWS
    assert shown.articles.unique == 200 * per_record
    for window in shown.windows:
        assert len(window.sources) <= MAX_WINDOW_KEYS + 1
        assert sum(source.unique for source in window.sources.values()) == window.articles.unique == 2 * per_record
        assert window.sources[OTHER].unique >= 2 * (per_record - MAX_KEYS)


def test_a_late_record_counts_in_the_totals_alone() -> None:
    """A wall clock that went back far opens no window before those that are kept."""
    statistics = Statistics(MINUTE)
    for number in range(KEPT_WINDOWS):
        statistics.take(record(number, (1000 + number) * MINUTE, NEW))
    statistics.take(record(KEPT_WINDOWS, 0, NEAR))
    assert statistics.shown().articles.duplicates == 1
    assert statistics.duplicate_rate() == 0


def test_a_record_of_another_format_is_left_out() -> None:
    """A reader does not guess at a format that it does not know."""
    assert decode_statistics(b'{"version": 2, "anything": true}') is None
