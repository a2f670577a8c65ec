"""The clock of event time, and what is live under it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.window import NO_HORIZON, EventClock

TIMES = st.lists(st.integers(-(2**40), 2**40))


def clock_after(*times: int) -> EventClock:
    """The clock after articles with these times, in order."""
    clock = EventClock()
    for time in times:
        clock = clock.take(time)
    return clock


def test_the_clock_is_the_fifth_highest_time() -> None:
    """Times in the future move the clock only once five articles bear them out.

    ```
    taken     10   20   30   40   50 | 2099 2099 2099 2099 | 60   2099
    clock      -    -    -    -   10 |   20   30   40   50 | 60   2099
    ```
    """
    clock, seen = EventClock(), []
    for time in (10, 20, 30, 40, 50, 2099, 2099, 2099, 2099, 60, 2099):
        clock = clock.take(time)
        seen.append(clock.now)
    assert seen == [None, None, None, None, 10, 20, 30, 40, 50, 60, 2099]


@given(TIMES)
def test_the_clock_is_the_fifth_highest_of_any_times(times: list[int]) -> None:
    """In whatever order they come."""
    clock = clock_after(*times)
    assert clock.times == tuple(sorted(times)[-5:])
    assert clock.now == (sorted(times)[-5] if len(times) >= 5 else None)


@given(TIMES)
def test_the_clock_never_goes_back(times: list[int]) -> None:
    """Whatever comes, later clocks are never lower, and taking leaves the clock before as it was."""
    clocks = [clock_after(*times[:taken]) for taken in range(len(times) + 1)]
    shown = [clock.now for clock in clocks if clock.now is not None]
    assert all(before <= after for before, after in pairwise(shown))


@pytest.mark.parametrize(
    ("time", "live"),
    [(139, True), (100, True), (61, True), (60, False), (59, False)],
)
def test_an_article_is_live_while_clock_less_time_is_below_the_window(time: int, live: bool) -> None:  # noqa: FBT001 - a case's column
    """The window is half open: exactly one window behind the clock is over.

    ```
              horizon                 clock
                 60                    100
    ──────────────┼─────────────────────┼──────────► event time
          dead    │ live                │ live
                59 60 61               100       139
                  └─── window: 40 ──────┘
    ```
    """
    clock = clock_after(100, 100, 100, 100, 100)
    assert (time > clock.horizon(40)) is live
    assert (100 - time < 40) is live


@pytest.mark.parametrize(
    ("clock", "window"),
    [(clock_after(1, 2, 3, 4), 1), (clock_after(1, 2, 3, 4, 5), None), (clock_after(*[-(2**63) + 5] * 5), 100)],
    ids=["no clock yet", "no window", "below int64"],
)
def test_everything_is_live_without_a_clock_or_a_window(clock: EventClock, window: int | None) -> None:
    """The horizon then lies below every time, and always fits int64."""
    assert clock.horizon(window) == NO_HORIZON
