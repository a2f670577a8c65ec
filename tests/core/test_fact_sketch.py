"""The sketch of facts: its size, what it keeps and what it says it left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.fact import Fact
from stream_dedup.core.fact_sketch import EVERY_CONTEXT, NAME_SLOTS, SLOTS, Sample, kind_of, samples_of, words_of
from stream_dedup.core.fact_sketch import fact_sketch as sketch_of
from stream_dedup.core.sketch import FACT_BYTES
from stream_dedup.core.verdict import FactKind

FACTS = st.builds(
    Fact, st.sampled_from(FactKind), st.integers(0, 60).map("context {}".format), st.integers(0, 9).map(str)
)


def fact_sketch(facts: list[Fact]) -> bytes:
    """The sketch of a short text with these facts."""
    return sketch_of(facts, words=50)


def numbers(count: int, first: int = 0) -> list[Fact]:
    """So many numbers, each in a context of its own."""
    return [Fact(FactKind.NUMBER, f"context {place}", str(place)) for place in range(first, first + count)]


def names(count: int) -> list[Fact]:
    """So many names, each in a context of its own."""
    return [Fact(FactKind.NAME, f"context {place}", f"name {place}") for place in range(count)]


@given(st.lists(FACTS, max_size=80))
def test_a_sketch_has_its_size(facts: list[Fact]) -> None:
    """However many facts; both samples ascend, and hold their kinds alone."""
    sketch = fact_sketch(facts)
    assert len(sketch) == FACT_BYTES
    figures, of_names = samples_of(sketch)
    assert len(figures.slots) + len(of_names.slots) <= SLOTS
    for sample in (figures, of_names):
        assert list(sample.slots) == sorted(sample.slots)
        assert all(context < sample.limit for context, _ in sample.slots)
    assert {kind_of(context) for context, _ in figures.slots} <= {FactKind.NUMBER, FactKind.DATE}
    assert {kind_of(context) for context, _ in of_names.slots} <= {FactKind.NAME}


@given(st.lists(FACTS, max_size=40), st.randoms())
def test_the_order_of_facts_does_not_matter(facts: list[Fact], random: object) -> None:
    """A paragraph moved leaves the sketch as it is."""
    shuffled = sorted(facts, key=lambda _: random.random())  # type: ignore[attr-defined]  # hypothesis types no Random
    assert fact_sketch(shuffled) == fact_sketch(facts)


def test_few_facts_are_all_kept() -> None:
    """Then every context is covered: what is not there was not in the text."""
    for sample, count in zip(samples_of(fact_sketch([*numbers(9), *names(12)])), (9, 12), strict=True):
        assert len(sample.slots) == count
        assert sample.limit == EVERY_CONTEXT
    assert samples_of(fact_sketch([])) == (Sample((), EVERY_CONTEXT), Sample((), EVERY_CONTEXT))


def test_names_and_figures_share_the_room() -> None:
    """Where both are many, names have a third; either takes what the other leaves."""
    figures, of_names = samples_of(fact_sketch([*numbers(50), *names(50)]))
    assert (len(figures.slots), len(of_names.slots)) == (SLOTS - NAME_SLOTS, NAME_SLOTS)
    figures, of_names = samples_of(fact_sketch([*numbers(50), *names(2)]))
    assert (len(figures.slots), len(of_names.slots)) == (SLOTS - 2, 2)
    assert figures.limit < EVERY_CONTEXT == of_names.limit


def test_two_texts_sample_the_same_contexts() -> None:
    """Below both limits the facts that two long texts share are in both sketches."""
    left, right = (samples_of(fact_sketch(numbers(60, first)))[0] for first in (0, 5))
    limit = min(left.limit, right.limit)
    common = {slot for slot in left.slots if slot[0] < limit} & {slot for slot in right.slots if slot[0] < limit}
    shared = samples_of(fact_sketch(numbers(55, 5)))[0]
    assert common == {slot for slot in shared.slots if slot[0] < limit}
    assert len(common) > SLOTS // 2


def test_a_context_is_kept_whole_or_not_at_all() -> None:
    """Half a context would look as if facts had been cut."""
    facts = [Fact(FactKind.NUMBER, f"context {place // 4}", str(place)) for place in range(60)]
    figures, _ = samples_of(fact_sketch(facts))
    contexts = [context for context, _ in figures.slots]
    assert contexts
    assert all(contexts.count(context) == 4 for context in contexts)


@pytest.mark.parametrize(("words", "kept"), [(0, 0), (24, 0), (25, 25), (130, 125), (1575, 1575), (100_000, 1575)])
def test_the_length_is_kept_in_steps(words: int, kept: int) -> None:
    """Roughly, and beside the flags of what was left out."""
    sketch = sketch_of([*numbers(50), *names(50)], words)
    assert words_of(sketch) == kept
    assert all(sample.limit < EVERY_CONTEXT for sample in samples_of(sketch))
