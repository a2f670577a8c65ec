"""What of the changelog may be deleted."""

import numpy as np

from stream_dedup.core.delta import Delta, Entries, no_entries
from stream_dedup.core.rules import Rules
from stream_dedup.core.window import NO_HORIZON
from stream_dedup.kafka.trimming import Trimmer

RULES = Rules(3, 0.5, None, 100, keep_revisions=False, vetoes=False)


def _delta(sequence: int, *times: int) -> Delta:
    """A delta after which `sequence` is next, with entries of these times."""
    rows = len(times)
    empty = no_entries("s", 1)
    entries = Entries(
        scheme="s",
        fingerprints=np.zeros((rows, 1), np.uint64),
        signatures=np.zeros((rows, 64), np.uint8),
        facts=np.zeros((rows, 64), np.uint8),
        digests=np.zeros((rows, 2), np.uint64),
        times=np.array(times, np.int64),
        sequences=np.arange(sequence - rows, sequence),
        positions=np.zeros(rows, np.uint64),
        id_bytes=empty.id_bytes,
        id_ends=np.zeros(rows, np.int64),
    )
    return Delta(0, 0, sequence, (), (entries,), 0, RULES)


def _trimmer(*deltas: Delta) -> Trimmer:
    """A trimmer with a mark after each delta, at offsets 10, 20, ..."""
    trimmer = Trimmer()
    for number, delta in enumerate(deltas, 1):
        trimmer.follow(delta)
        trimmer.mark(number * 10)
    return trimmer


def test_a_record_goes_when_all_its_entries_have_left() -> None:
    """One live entry holds its record and all that stand behind it, however old those are."""
    trimmer = _trimmer(_delta(2, 100, 105), _delta(4, 90, 300), _delta(5, 80), _delta(6, 400))
    assert trimmer.outlived(104, 0) is None
    assert trimmer.outlived(105, 0) == 10
    assert trimmer.outlived(299, 0) is None
    assert trimmer.outlived(300, 0) == 30


def test_the_last_record_never_goes() -> None:
    """It carries the position and the clock: it stays when all its entries have left, until another follows."""
    trimmer = _trimmer(_delta(1, 100), _delta(2, 100))
    assert trimmer.outlived(1_000, 0) == 10
    assert trimmer.outlived(1_000, 0) is None
    trimmer.follow(_delta(3, 100))
    assert trimmer.outlived(1_000, 0) == 20


def test_entries_beyond_the_limit_have_left() -> None:
    """Eviction by sequence outlives a record just as the window does."""
    trimmer = _trimmer(_delta(2, 100, 100), _delta(4, 100, 100), _delta(5, 100))
    assert trimmer.outlived(NO_HORIZON, 1) is None
    assert trimmer.outlived(NO_HORIZON, 2) == 10
    assert trimmer.outlived(NO_HORIZON, 3) is None
    assert trimmer.outlived(NO_HORIZON, 4) == 20


def test_records_without_entries_go_with_what_follows() -> None:
    """A batch of duplicates kept nothing: its record goes as soon as it is not the last."""
    trimmer = _trimmer(_delta(2), _delta(4), _delta(5, 100))
    assert trimmer.outlived(NO_HORIZON, 0) == 20


def test_a_mark_covers_all_records_since_the_one_before() -> None:
    """Marks may be far apart: the newest entry between two of them counts."""
    trimmer = Trimmer()
    for delta in (_delta(1, 500), _delta(2, 100), _delta(3, 200)):
        trimmer.follow(delta)
    assert trimmer.unmarked == 3
    trimmer.mark(30)
    trimmer.mark(31)  # nothing new to mark
    trimmer.follow(_delta(4, 900))
    assert trimmer.outlived(499, 0) is None
    assert trimmer.outlived(500, 0) == 30
