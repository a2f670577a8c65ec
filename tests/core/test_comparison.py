"""Two texts compared after one scheme."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.comparison import FingerprintPair, compare_texts, word_weights
from stream_dedup.core.recipes import PROFILES
from stream_dedup.core.scheme import profile
from stream_dedup.core.simhash import simhash

SCHEMES = {name: profile(name).scheme for name in PROFILES}
SCHEME = SCHEMES["strict"]
WORDS = st.text("雨河坝桥校村 abc12", min_size=1, max_size=60)


def test_words_with_their_weights() -> None:
    """Those in both, with the weight in each, and those in one only; the heaviest first."""
    words = {word.word: word for word in compare_texts(SCHEME, "rain rain fell 3", "rain fell here").words}
    assert (words["rain"].left, words["rain"].right) == (2.0, 1.0)
    assert (words["here"].left, words["here"].right) == (0.0, 1.0)
    assert (words["3"].left, words["3"].right) == (3.0, 0.0)
    assert next(iter(words)) == "3"


@pytest.mark.parametrize("name", [name for name, data in PROFILES.items() if data.radius])
@given(text=WORDS)
def test_the_weights_are_those_of_the_fingerprint(name: str, text: str) -> None:
    """SimHash of the words shown, by the weights shown, is the first fingerprint shown, in every scheme of words."""
    scheme = SCHEMES[name]
    comparison = compare_texts(scheme, text, "rain")
    weights = word_weights(scheme, text)
    hashes = scheme.memory.hashes(weights)
    assert comparison.fingerprints[0].left == simhash(hashes, np.array(list(weights.values())))


@pytest.mark.parametrize(
    ("left", "right", "distance", "shared"),
    [(0, 0, 0, (0, 1, 2, 3)), (0, 1, 1, (1, 2, 3)), (0, 1 << 63, 1, (0, 1, 2)), (0, 2**64 - 1, 64, ())],
)
def test_distance_and_shared_blocks(left: int, right: int, distance: int, shared: tuple[int, ...]) -> None:
    """Bits that differ, and the blocks of 16 bits that do not; block 0 has the lowest bits."""
    pair = FingerprintPair(left, right)
    assert (pair.distance, pair.shared_blocks) == (distance, shared)


def test_similarity_of_a_text_with_itself() -> None:
    """Everything is shared, and the digests are equal for a variant too."""
    comparison = compare_texts(SCHEME, "電腦軟體降價，很多人都買了", "电脑软体降价很多人都买了")
    assert (comparison.jaccard, comparison.estimated, comparison.distance, comparison.same_digest) == (1, 1, 0, True)
