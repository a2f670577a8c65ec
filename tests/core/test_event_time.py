"""Event times as articles write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.event_time import MAX_TIME, UNPARSABLE, parse_time

NOON = 1_709_208_000_000
"""2024-02-29 12:00 UTC in ms."""


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("2024-02-29T12:00:00Z", NOON),
        ("2024-02-29T12:00:00", NOON),
        ("2024-02-29 12:00", NOON),
        (" 20240229T120000Z ", NOON),
        ("2024-02-29T20:00:00+08:00", NOON),
        ("2024-02-29T12:00:00.0019999Z", NOON + 1),
        ("2024-02-29", NOON - 12 * 3_600_000),
        ("1969-12-31T23:59:59.9995Z", -1),
        ("9999-12-31T23:59:59-23:00", MAX_TIME - 999 + 23 * 3_600_000),
        ("0001-01-01T00:00:00+23:00", -62_135_596_800_000 - 23 * 3_600_000),
        (1_709_208_000, NOON),
        (1_709_208_000.5, NOON + 500),
        (NOON, NOON),
        (0, 0),
        (-1, -1000),
        (10**11 - 1, (10**11 - 1) * 1000),
        (10**11, 10**11),
        (MAX_TIME, MAX_TIME),
        (None, None),
    ],
)
def test_iso_8601_and_numbers_are_read(written: object, time: int | None) -> None:
    """A missing zone is UTC; numbers below 10**11 are seconds, others ms; fractions are rounded down."""
    assert parse_time(written) == time


@pytest.mark.parametrize(
    "written",
    [
        "",
        "yesterday",
        "2024-02-30",
        "1709208000",
        "2024-02-29T12:00:00Z" + " " * 90 + "x",
        True,
        [],
        {},
        MAX_TIME + 1,
        10**400,
        float("inf"),
        float("nan"),
        1.7e18,
    ],
)
def test_anything_else_is_unparsable(written: object) -> None:
    """Numbers beyond the year 9999 (such as nanoseconds) and numbers in strings are not guessed at."""
    assert parse_time(written) is UNPARSABLE


@given(st.text() | st.integers() | st.floats())
def test_no_value_makes_it_raise(written: object) -> None:
    """Every time that is read fits the range of the index."""
    time = parse_time(written)
    assert time is UNPARSABLE or (isinstance(time, int) and abs(time) <= MAX_TIME * 2)
