"""Weights: which words count how much in a fingerprint."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stream_dedup.core import weights
from stream_dedup.core.recipes import Weigh
from stream_dedup.core.simhash import HashMemory, simhash, xxh3
from stream_dedup.core.traits import common_words, traits_of

ALL: list[Weigh] = [
    weights.weigh_plainly,
    weights.weigh_unspaced,
    weights.weigh_spaced,
    weights.weigh_unspaced_widely,
    weights.weigh_spaced_widely,
]
MEMORY = HashMemory(xxh3(0))


def _weigh(weigh: Weigh, words: Counter[str]) -> NDArray[np.float64]:
    return weigh(np.array(list(words.values()), dtype=np.float64), traits_of(words))


@pytest.mark.parametrize(
    ("weigh", "word", "count", "weight"),
    [
        (weights.weigh_plainly, "的", 7, 7),
        (weights.weigh_unspaced, "的", 1, 16),
        (weights.weigh_unspaced, "中国", 2, 38),
        (weights.weigh_unspaced, "银行", 16, 512),
        (weights.weigh_unspaced, "降息", 10_000, 1_600_000),
        (weights.weigh_spaced, "rates", 2, 2),
        (weights.weigh_spaced, "25", 1, 3),
        (weights.weigh_spaced, "q3", 2, 6),
        (weights.weigh_spaced, "हिन्दी", 1, 1),
        (weights.weigh_spaced, "٣", 1, 3),
        (weights.weigh_unspaced_widely, "降息", 1, 16),
        (weights.weigh_unspaced_widely, "降息", 256, 16 * 2**11),
        (weights.weigh_unspaced_widely, "的", 256, round(16 * 2**11 / (1 + 318825 / 200_000))),
        (weights.weigh_spaced_widely, "rates", 256, 16 * 2**7),
        (weights.weigh_spaced_widely, "25", 1, 32),
    ],
)
def test_weights(weigh: Weigh, word: str, count: int, weight: int) -> None:
    """A power of the frequency, more for numbers between spaces, less for common words of Chinese."""
    assert _weigh(weigh, Counter({"other": 5, word: count})).tolist()[1] == weight


@pytest.mark.parametrize("weigh", ALL)
@given(
    words=st.lists(st.sampled_from(["的", "中国", "rates", "25", "ラジ", "हिन्दी"]) | st.text(max_size=3), max_size=60)
)
def test_the_order_of_words_does_not_matter(weigh: Weigh, words: list[str]) -> None:
    """The same words in any order give the same fingerprint: weights are whole numbers, and their sums exact."""
    counts = [Counter(words), Counter(sorted(words)), Counter(reversed(words))]
    assert all((_weigh(weigh, count) == np.rint(_weigh(weigh, count))).all() for count in counts)
    assert len({simhash(MEMORY.hashes(count), _weigh(weigh, count)) for count in counts}) == 1


def test_common_words_are_those_of_the_dictionary() -> None:
    """Words with their frequencies in the corpus behind jieba's dictionary; a rare one is not held."""
    common = common_words()
    assert (common["的"], common["中国"], common.get("乒乓球")) == (318825, 129470, None)
