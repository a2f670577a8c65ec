"""Which pairs of near texts are bulletins of one template, and which are one article and its edit."""

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.fact import Fact
from stream_dedup.core.fact_sketch import fact_sketch as sketch_of
from stream_dedup.core.fact_sketch import samples_of
from stream_dedup.core.scheme import profile
from stream_dedup.core.verdict import FactKind, Replaced, Veto
from stream_dedup.core.veto import replaced_facts
from tests.core.test_fact_sketch import FACTS, fact_sketch

CASES = Path(__file__).parents[1] / "cases"
SCHEME = profile("strict").scheme


class Pair(NamedTuple):
    """Two texts of one group."""

    says: str
    left: str
    right: str


def pairs_in_groups(name: str) -> Iterator[Pair]:
    """All pairs within the groups of a file of cases."""
    cases = [json.loads(line) for line in (CASES / name).read_text(encoding="utf-8").splitlines()]
    for left, right in combinations(cases, 2):
        if left["group"] == right["group"]:
            yield Pair(f"{left['id']} {right['id']}", left["text"], right["text"])


def own_pairs(kind: str) -> Iterator[Pair]:
    """Pairs of vetoes.jsonl of which each is written as one text and what stands in its gaps."""
    for line in (CASES / "vetoes.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["must"] == kind:
            yield Pair(case["says"], case["left"], case["right"])


def sketches(pair: Pair) -> tuple[bytes, bytes]:
    """The sketches of both texts' facts."""
    both = SCHEME.fingerprint([pair.left, pair.right]).facts
    return both[0].tobytes(), both[1].tobytes()


@pytest.mark.parametrize(
    "pair",
    [*own_pairs("stay apart"), *pairs_in_groups("twins.jsonl"), *pairs_in_groups("apart.jsonl")],
    ids=lambda pair: pair.says,
)
def test_bulletins_of_one_template_stay_apart(pair: Pair) -> None:
    """Numbers, dates or names were replaced: another event, whatever else is the same."""
    assert replaced_facts(*sketches(pair))


@pytest.mark.parametrize("pair", [*own_pairs("merge"), *pairs_in_groups("edits.jsonl")], ids=lambda pair: pair.says)
def test_edits_of_one_article_are_not_kept_apart(pair: Pair) -> None:
    """Something was added or cut, spelled otherwise, or one figure of many was brought up to date."""
    assert replaced_facts(*sketches(pair)) == ()


@given(st.lists(FACTS, max_size=50), st.lists(FACTS, max_size=50))
def test_the_veto_is_symmetric(left: list[Fact], right: list[Fact]) -> None:
    """It does not matter which article came first."""
    ours, theirs = fact_sketch(left), fact_sketch(right)
    assert replaced_facts(ours, theirs) == replaced_facts(theirs, ours)


@given(st.lists(FACTS, max_size=50), st.randoms())
def test_equal_facts_are_never_a_veto(facts: list[Fact], random: object) -> None:
    """In whatever order they stand."""
    shuffled = sorted(facts, key=lambda _: random.random())  # type: ignore[attr-defined]  # hypothesis types no Random
    assert replaced_facts(fact_sketch(facts), fact_sketch(shuffled)) == ()


@given(st.lists(FACTS, max_size=12), st.lists(FACTS, max_size=40))
def test_facts_that_were_only_added_are_never_a_veto(facts: list[Fact], more: list[Fact]) -> None:
    """An agency's line has facts of its own, and replaces none."""
    assert replaced_facts(fact_sketch(facts), fact_sketch([*facts, *more])) == ()


def numbers(*values: str) -> list[Fact]:
    """Numbers in contexts of their own."""
    return [Fact(FactKind.NUMBER, f"context {place}", value) for place, value in enumerate(values)]


@pytest.mark.parametrize(
    ("equal", "replaced", "apart"), [(8, 1, False), (7, 1, False), (6, 1, True), (14, 2, False), (12, 2, True)]
)
def test_more_than_one_number_in_eight(equal: int, replaced: int, apart: bool) -> None:  # noqa: FBT001 - a table
    """So many must be replaced: a correction changes fewer."""
    same = ["7"] * equal
    ours, theirs = numbers(*same, *["1"] * replaced), numbers(*same, *["2"] * replaced)
    assert bool(replaced_facts(fact_sketch(ours), fact_sketch(theirs))) == apart


@pytest.mark.parametrize(
    ("words", "replaced", "apart"), [(124, 1, True), (125, 1, False), (125, 2, True), (999, 5, False), (999, 6, True)]
)
def test_long_texts_need_more(words: int, replaced: int, apart: bool) -> None:  # noqa: FBT001 - a table
    """One fact for each hundred words: a digit mistyped in a long article with few facts is no other event."""
    ours, theirs = (sketch_of(numbers(*[value] * replaced), words) for value in "12")
    assert bool(replaced_facts(ours, theirs)) == apart


def test_a_sample_needs_more_than_the_whole() -> None:
    """Two replaced of those that were sampled may be two of all."""
    ours = numbers(*["1"] * 40)
    sample, _ = samples_of(fact_sketch(ours))
    changed = [fact for fact in ours if samples_of(fact_sketch([fact]))[0].slots[0] in sample.slots][:3]
    theirs = [fact._replace(value="2") if fact in changed else fact for fact in ours]
    assert replaced_facts(fact_sketch(ours), fact_sketch(theirs)) == ()
    assert replaced_facts(fact_sketch(changed), fact_sketch([fact._replace(value="2") for fact in changed]))


def test_numbers_beside_a_replaced_name_count_half() -> None:
    """Their contexts are others too, so that none of them is in its place."""
    ours = [Fact(FactKind.NUMBER, f"company {place}_dollars", str(place)) for place in range(4)]
    theirs = [Fact(FactKind.NUMBER, f"other {place}_dollars", str(10 + place)) for place in range(4)]
    assert replaced_facts(fact_sketch(ours), fact_sketch(theirs)) == (Replaced(FactKind.NUMBER, 4, 4),)


def test_the_evidence_says_which_facts_spoke() -> None:
    """Every kind of which any was replaced, with how many there were to compare."""
    same = [Fact(FactKind.NUMBER, "pays_cents", "5"), Fact(FactKind.DATE, "on_to", "may")]
    ours = [*same, Fact(FactKind.NUMBER, "at_dollars", "7"), Fact(FactKind.NAME, "of_said", "durrant")]
    theirs = [*same, Fact(FactKind.NUMBER, "at_dollars", "8"), Fact(FactKind.NAME, "of_said", "castell")]
    replaced = replaced_facts(fact_sketch(ours), fact_sketch(theirs))
    assert replaced == (Replaced(FactKind.NUMBER, 1, 2), Replaced(FactKind.NAME, 1, 1))
    assert str(Veto("a", replaced)) == "1 of 2 numbers, 1 of 1 names replaced"
