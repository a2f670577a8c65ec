"""Signatures: the estimate against exact Jaccard similarity, and what shingles are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stream_dedup.core import minhash
from stream_dedup.core.sketch import SIGNATURE_BYTES

STANDARD_ERROR = 0.048
"""The largest at any similarity: .044 = 1/sqrt(512) without any overlap, a little more for sets of two or three."""


def _signatures(*sets: NDArray[np.uint64]) -> NDArray[np.uint8]:
    smallest = minhash.minima(np.concatenate(sets), np.array([len(one) for one in sets], dtype=np.int64))
    return minhash.signatures(smallest)


def _pairs(seed: int, pairs: int, union: int, shared: int) -> NDArray[np.float64]:
    """Estimates for pairs of random sets with `shared` of `union` elements in common."""
    elements = np.random.default_rng(seed).integers(0, 2**64, (pairs, union), dtype=np.uint64)
    half = shared + (union - shared) // 2
    left = _signatures(*elements[:, :half])
    right = _signatures(*np.concatenate([elements[:, :shared], elements[:, half:]], axis=1))
    return minhash.estimated_jaccard(left, right)


@given(st.integers(0, 2**32), st.integers(1, 2000), st.floats(0, 1))
def test_estimate_is_within_five_standard_errors(seed: int, union: int, share: float) -> None:
    """The estimate of any pair of sets lies within five standard errors of the exact similarity."""
    shared = round(share * union)
    if shared == 0 and union == 1:
        union = 2  # both sets must have an element
    assert abs(_pairs(seed, 1, union, shared)[0] - shared / union) < 5 * STANDARD_ERROR


@pytest.mark.parametrize("union", [2, 5, 10, 20, 60, 300, 1000, 4000])
@pytest.mark.parametrize("share", [0.3, 0.55, 0.9])
def test_estimate_is_unbiased(union: int, share: float) -> None:
    """Over many pairs the mean is the exact similarity and the error at most .045, for short texts as for long ones."""
    pairs, shared = 400, round(share * union)
    estimates = _pairs(union, pairs, union, shared)
    assert abs(estimates.mean() - shared / union) < 4 * STANDARD_ERROR / pairs**0.5
    assert estimates.std() < (0.045 if share >= 0.55 and union >= 10 else 0.055)


def test_bounds() -> None:
    """Equal signatures give 1.0, opposite ones 0.0 (not less)."""
    one = _signatures(np.arange(50, dtype=np.uint64) << np.uint64(57))
    assert minhash.estimated_jaccard(one, one).tolist() == [1.0]
    assert minhash.estimated_jaccard(one, ~one).tolist() == [0.0]


def test_broadcast() -> None:
    """One signature is compared with many rows, and tables with tables."""
    rows = _signatures(*np.random.default_rng(5).integers(0, 2**64, (3, 40), dtype=np.uint64))
    assert minhash.estimated_jaccard(rows, rows[1])[1] == 1.0
    table = minhash.estimated_jaccard(rows[:, None], rows[None, :])
    assert table.shape == (3, 3)
    assert np.array_equal(table, table.T)
    assert np.array_equal(np.diag(table), np.ones(3))


def _as_sets(hashes: NDArray[np.uint64], counts: NDArray[np.int64]) -> list[set[int]]:
    return [set(part.tolist()) for part in np.split(hashes, np.cumsum(counts)[:-1])]


@given(st.lists(st.text("ab字𠀀", max_size=12), min_size=1, max_size=6))
def test_character_shingles_are_those_of_each_text(texts: list[str]) -> None:
    """Texts share as many shingle hashes as they share runs of five characters; none reaches into the next text."""
    found = _as_sets(*minhash.character_shingles(texts))
    expected = [{text[i : i + 5].ljust(5, "\0") for i in range(max(1, len(text) - 4))} for text in texts]
    assert [[len(a & b) for a in found] for b in found] == [[len(a & b) for a in expected] for b in expected]


@given(st.lists(st.lists(st.integers(1, 4), max_size=9), min_size=1, max_size=6))
def test_word_shingles_are_those_of_each_text(texts: list[list[int]]) -> None:
    """Texts share as many shingle hashes as they share runs of three words; none reaches into the next text."""
    found = _as_sets(*minhash.word_shingles([np.array(text, dtype=np.uint64) for text in texts]))
    padded = [(*text, *[0] * (3 - len(text))) for text in texts]
    expected = [{text[i : i + 3] for i in range(len(text) - 2)} for text in padded]
    assert [[len(a & b) for a in found] for b in found] == [[len(a & b) for a in expected] for b in expected]


def test_order_of_words_counts() -> None:
    """The same three words in another order are another shingle."""
    hashes, _ = minhash.word_shingles([np.array(order, dtype=np.uint64) for order in ([1, 2, 3], [3, 2, 1], [2, 1, 3])])
    assert len(set(hashes.tolist())) == 3


def test_empty_batch() -> None:
    """No texts give no signatures."""
    assert minhash.signatures(minhash.minima(*minhash.character_shingles([]))).shape == (0, SIGNATURE_BYTES)
    assert minhash.signatures(minhash.minima(*minhash.word_shingles([]))).shape == (0, SIGNATURE_BYTES)


def test_a_text_without_shingles_disturbs_no_other() -> None:
    """Between two texts one without any shingle has a signature of its own kind, and theirs stay as they are alone."""
    one, other = np.random.default_rng(3).integers(0, 2**64, (2, 12), dtype=np.uint64)
    nothing = np.empty(0, dtype=np.uint64)
    together = _signatures(one, nothing, other)
    assert np.array_equal(together[[0, 2]], _signatures(one, other))
    assert np.array_equal(together[1], _signatures(nothing)[0])
