"""Entries as arrays."""

import numpy as np
import pytest

from stream_dedup.core.delta import Entries, entries_of, joined, no_entries
from tests.core.handmade import entries, sketch, submission

IDS = ["a", "", "汉字", "cut \ud83d", "e"]


def named(ids: list[str], first: int = 0) -> Entries:
    """Entries with these ids."""
    rows = [(first + row, submission(sketch(row), str(row), id=name), sketch(row)) for row, name in enumerate(ids)]
    return entries_of("one", rows)


def ids_of(some: Entries) -> list[str]:
    """All ids, one by one."""
    return [some.id_at(row) for row in range(len(some))]


def test_ids_come_back_as_they_were() -> None:
    """Empty ones, Han, and even lone surrogates, which UTF-8 has no place for."""
    assert ids_of(named(IDS)) == IDS


@pytest.mark.parametrize(
    "mask", [[True] * 5, [False] * 5, [True, False, False, True, True], [False, True, True, False, False]]
)
def test_taking_keeps_rows_and_ids_together(mask: list[bool]) -> None:
    """Every column and the ids are of the chosen rows, in order."""
    taken = named(IDS).take(np.array(mask))
    chosen = [row for row, wanted in enumerate(mask) if wanted]
    assert ids_of(taken) == [IDS[row] for row in chosen]
    assert taken.sequences.tolist() == chosen
    for column in ("fingerprints", "signatures", "digests", "facts", "times", "positions"):
        assert np.array_equal(getattr(taken, column), getattr(named(IDS), column)[chosen])


def test_joining_puts_parts_one_after_the_other() -> None:
    """Ids stay with their rows, empty parts included."""
    whole = joined([no_entries("one", 1), named(IDS[:2]), no_entries("one", 1), named(IDS[2:], first=2)])
    assert ids_of(whole) == IDS
    assert whole.sequences.tolist() == [0, 1, 2, 3, 4]
    assert whole.fingerprints.dtype == np.uint64
    assert whole.id_ends.dtype == np.int64


def test_a_digest_is_read_as_two_little_endian_numbers() -> None:
    """The halves are the same numbers on every machine."""
    content = sketch(1)
    halves = entries([content]).digests[0].tolist()
    assert halves == [int.from_bytes(content.digest[:8], "little"), int.from_bytes(content.digest[8:], "little")]
