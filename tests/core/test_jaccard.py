"""Exact Jaccard similarity."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.jaccard import jaccard, shingles
from stream_dedup.core.simhash import HashMemory, xxh3
from stream_dedup.core.yardstick import gram_jaccard, grams

MEMORY = HashMemory(xxh3(0))
WORDS = st.lists(st.sampled_from(["rain", "river", "dam", "mill", "bridge", "school"]), max_size=30).map(" ".join)
HAN = st.text("雨河坝桥校村", max_size=30)


def similarity(left: str, right: str) -> float:
    """Of two texts."""
    return jaccard(shingles(left, MEMORY), shingles(right, MEMORY))


@given(left=WORDS | HAN, right=WORDS | HAN)
def test_it_is_that_of_the_sets_of_grams(left: str, right: str) -> None:
    """Hashes of shingles count as the shingles themselves: runs of 5 characters of Han, of 3 words else."""
    expected = (
        gram_jaccard(left, right, chinese=not left.isascii())
        if left and right and left.isascii() == right.isascii()
        else 0.0
    )
    assert similarity(left, right) == pytest.approx(expected)


@given(left=st.text(), right=st.text())
def test_it_is_symmetric(left: str, right: str) -> None:
    """Who comes first does not matter, and a text with letters is all like itself."""
    assert similarity(left, right) == similarity(right, left)
    assert similarity(left, left) == (1 if len(shingles(left, MEMORY)) else 0)


def test_variants_are_the_same() -> None:
    """Case, width, script variant and punctuation are set aside before."""
    assert similarity("電腦軟體降價，很多", "电脑软体降价很多") == 1
    assert similarity("Heavy RAIN, he said", "heavy rain he　said") == 1


@pytest.mark.parametrize(
    ("text", "chinese", "expected"),
    [
        ("A b-c d", False, {"a b c", "b c d"}),
        ("ａ b", False, {"a b"}),
        ("", False, {""}),
        ("一，二三四五六", True, {"一二三四五", "二三四五六"}),
        ("一 A_1", True, {"一a1"}),
    ],
)
def test_the_yardstick_counts_grams(text: str, chinese: bool, expected: set[str]) -> None:  # noqa: FBT001
    """Character 5-grams or word 3-grams after NFKC, lower case and dropping what is no word character."""
    assert grams(text, chinese=chinese) == expected
