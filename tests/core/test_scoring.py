"""Scoring verdicts against known pairs."""

from dataclasses import dataclass

import pytest

from stream_dedup.core.scoring import Label, Pair, Truth, band_of, score


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict."""

    id: str
    verdict: str
    original_id: str | None = None


def pair(ids: str) -> Pair:
    """Two ids of one letter each."""
    return frozenset(ids)


def said(verdicts: str) -> list[Said]:
    """`a b=a c!`: a is unique, b a duplicate of a, c rejected."""
    found = []
    for one in verdicts.split():
        name, duplicate, original = one.partition("=")
        verdict = "duplicate" if duplicate else "rejected" if one.endswith("!") else "unique"
        found.append(Said(name.rstrip("!"), verdict, original or None))
    return found


PAIRS = {pair("ab"): 0.95, pair("ac"): 0.8, pair("bc"): 0.9, pair("ad"): 0.6, pair("ae"): 0.25, pair("ax"): 0.92}
LABELS = {pair("ax"): Label.DIFFERENT, pair("ac"): Label.GREY}
NO_LABELS: dict[Pair, Label] = {}


@pytest.mark.parametrize(
    ("verdicts", "labels", "expected"),
    [
        pytest.param("a b=a", NO_LABELS, ((0, 0, 0), (1, 0, 0), 0, 0), id="found"),
        pytest.param("a b", NO_LABELS, ((1, 0, 0), (1, 0, 0), 0, 0), id="missed"),
        pytest.param("b a", NO_LABELS, ((1, 0, 0), (1, 0, 0), 0, 0), id="the order of the run counts"),
        pytest.param("a c", NO_LABELS, ((0, 1, 0), (0, 1, 0), 0, 0), id="a band without its upper end"),
        pytest.param("a b=a c=a", NO_LABELS, ((0, 0, 0), (2, 0, 0), 0, 0), id="the closest earlier one tells the band"),
        pytest.param("a d", NO_LABELS, ((0, 0, 1), (0, 0, 1), 0, 0), id="the lowest band"),
        pytest.param("a d=a", NO_LABELS, ((0, 0, 0), (0, 0, 1), 0, 1), id="below .7 is grey"),
        pytest.param("a e=a", NO_LABELS, ((0, 0, 0), (0, 0, 0), 1, 0), id="below .3 is false"),
        pytest.param("a f=a", NO_LABELS, ((0, 0, 0), (0, 0, 0), 1, 0), id="a pair not in the table is measured: .1"),
        pytest.param("a g=a", NO_LABELS, ((0, 0, 0), (0, 0, 0), 0, 1), id="measured: .5"),
        pytest.param("a b! c=b", NO_LABELS, ((1, 0, 0), (2, 0, 0), 1, 0), id="a rejected original was not kept"),
        pytest.param("a b=a c=b", NO_LABELS, ((0, 0, 0), (2, 0, 0), 1, 0), id="a duplicate as original was not kept"),
        pytest.param("a b=c c", NO_LABELS, ((1, 0, 0), (2, 0, 0), 1, 0), id="a later original was not kept"),
        pytest.param("a b=b", NO_LABELS, ((0, 0, 0), (1, 0, 0), 1, 0), id="nothing repeats itself"),
        pytest.param("a x=a", LABELS, ((0, 0, 0), (0, 0, 0), 1, 0), id="labelled different: false however alike"),
        pytest.param("a x", LABELS, ((0, 0, 0), (0, 0, 0), 0, 0), id="and nobody's partner"),
        pytest.param("a c=a", LABELS, ((0, 0, 0), (0, 0, 0), 0, 1), id="labelled grey: not scored"),
        pytest.param("", LABELS, ((0, 0, 0), (0, 0, 0), 0, 0), id="nothing"),
    ],
)
def test_scores(verdicts: str, labels: dict[Pair, Label], expected: tuple[object, ...]) -> None:
    """Each article counts in the band of its closest earlier partner; each duplicate is right, grey or false."""
    truth = Truth(PAIRS, labels, lambda left, right: 0.5 if "g" in (left, right) else 0.1)
    found = score(said(verdicts), truth)
    assert (found.missed, found.of, found.false, found.grey) == expected
    assert found.articles == len(verdicts.split())
    assert found.flagged == verdicts.count("=")


def test_shares_of_nothing_are_none() -> None:
    """Recall and false share are said only where there is something to have a share of."""
    found = score(said("a b=a d"), Truth(PAIRS, NO_LABELS, lambda _left, _right: 0.0))
    assert (found.recall(0), found.recall(1), found.recall(2), found.false_share) == (1.0, None, 0.0, 0.0)
    assert score([], Truth({}, {}, lambda _left, _right: 0.0)).false_share is None


@pytest.mark.parametrize(("similarity", "band"), [(1.0, 0), (0.9, 0), (0.899, 1), (0.7, 1), (0.5, 2), (0.499, None)])
def test_bands_have_their_lower_ends(similarity: float, band: int | None) -> None:
    """A similarity on a border belongs to the higher band."""
    assert band_of(similarity) == band
