"""Verdicts of several partitions in one order."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.app import in_order
from stream_dedup.app.in_order import PATIENCE, InOrder


@dataclass(frozen=True, slots=True)
class Numbered:
    """Stands for a verdict."""

    sequence: int


def shown(order: InOrder[Numbered], ended: set[str], now: float) -> list[int]:
    """Sequences that can be shown now."""
    return [verdict.sequence for verdict in order.ready(ended, now)]


@given(st.lists(st.sampled_from("abc"), max_size=40), st.randoms())
def test_whatever_the_interleaving_everything_is_shown_once_and_in_order(where: list[str], random: object) -> None:
    """A total order spread over partitions comes back, however far one partition is read before another."""
    queues = {name: [Numbered(at) for at, of in enumerate(where) if of == name] for name in "abc"}
    order = InOrder[Numbered]("abc", expected=0)
    seen: list[int] = []
    while left := [name for name, queue in queues.items() if queue]:
        name = random.choice(left)  # type: ignore[attr-defined] # hypothesis's own Random
        order.add(name, queues[name].pop(0), 0.0)
        seen += shown(order, set(), 0.0)
    assert seen == list(range(len(where)))


def test_a_gap_holds_later_ones_back_only_while_it_can_still_be_filled() -> None:
    """A missing one is awaited until all other partitions have ended and `PATIENCE` has passed, then left out."""
    order = InOrder[Numbered]("ab", expected=0)
    order.add("a", Numbered(1), 10.0)
    assert shown(order, {"a"}, 10.0 + 2 * PATIENCE) == []
    assert shown(order, {"a", "b"}, 10.0 + PATIENCE / 2) == []
    assert shown(order, {"a", "b"}, 10.0 + PATIENCE) == [1]


def test_a_gap_that_all_partitions_have_passed_holds_nothing_back() -> None:
    """Sequences rise on each partition: what all have passed will not come."""
    order = InOrder[Numbered]("ab", expected=0)
    order.add("a", Numbered(5), 0.0)
    order.add("b", Numbered(7), 0.0)
    assert shown(order, set(), 0.0) == [5]
    order.add("a", Numbered(9), 0.0)
    assert shown(order, set(), 0.0) == [7]
    assert [verdict.sequence for verdict in order.rest()] == [9]


def test_order_gives_way_to_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than a fixed number is held back."""
    monkeypatch.setattr(in_order, "HELD_AT_MOST", 3)
    order = InOrder[Numbered]("ab", expected=0)
    for sequence in range(10, 15):
        order.add("a", Numbered(sequence), 0.0)
    # Once the gap is given up, what follows it without another gap is in its turn.
    assert shown(order, set(), 0.0) == [10, 11, 12, 13, 14]
