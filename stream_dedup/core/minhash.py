"""Shingles to a 64-byte MinHash signature, and the Jaccard similarity estimated from two of them.

One permutation: every shingle's hash falls into one of 512 bins, and each bin keeps its smallest (Li, Owen and Zhang,
"One permutation hashing", NIPS 2012). An empty bin borrows from another, chosen by hashing until one is not empty
(Shrivastava, "Optimal densification for fast and accurate minwise hashing", ICML 2017). Of each bin one bit is kept: of
all ways to spend 512 bits that has the smallest error where similarity is .5 or more (Li and Koenig, "b-bit minwise
hashing", WWW 2010).
"""

from collections.abc import Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

from stream_dedup.core.characters import codes_of
from stream_dedup.core.compiled import compiled
from stream_dedup.core.sketch import SIGNATURE_BYTES

BINS = 8 * SIGNATURE_BYTES
CHARACTERS = 5
"""Characters in a shingle of text that is mostly Han (or of another script without spaces)."""
WORDS = 3
"""Words in a shingle of other text."""
_BIN_BITS = BINS.bit_length() - 1
_EMPTY = np.uint64(2**64 - 1)
_PROBES = 64
"""Tries to borrow for an empty bin: with 100 shingles or more all succeed, with 20 one in 13 fails (see _borrowed)."""


def _constants(name: str, count: int) -> NDArray[np.uint64]:
    """Odd numbers that look random and are the same on every machine."""
    return np.array([xxhash.xxh3_64_intdigest(name.encode(), seed=seed) | 1 for seed in range(count)], dtype=np.uint64)


FACTORS = _constants("factor", CHARACTERS)
"""A shingle's hash is the sum of its items, each times the factor of its place, mixed."""
MIX = _constants("mix", 2)
SALTS = _constants("salt", BINS)
_KEEP = _constants("keep", 1)[0]
DONORS = np.array(
    [
        [xxhash.xxh3_64_intdigest(b"donor %d" % bin_, seed=probe) % BINS for bin_ in range(BINS)]
        for probe in range(_PROBES)
    ],
    dtype=np.int64,
)
"""(probes, BINS): from which bin an empty one borrows."""


def character_shingles(letters: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hashes of the runs of CHARACTERS characters in n texts; returns as `shingles`."""
    lengths = np.array([len(text) for text in letters], dtype=np.int64)
    return shingles(codes_of("".join(letters)).astype(np.uint64), lengths, CHARACTERS)


def word_shingles(words: Sequence[NDArray[np.uint64]]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hashes of the runs of WORDS words in n texts given as hashes of their words; returns as `shingles`."""
    joined = np.concatenate([np.empty(0, dtype=np.uint64), *words])
    return shingles(joined, np.array([len(hashes) for hashes in words], dtype=np.int64), WORDS)


def shingles(
    items: NDArray[np.uint64], lengths: NDArray[np.int64], size: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hashes of `size` neighbours each in n texts, uint64 (total,), and how many each text has, int64 (n,).

    Args:
        items: what stands in the texts, one after the other.
        lengths: (n,) how many of them are each text's. No shingle reaches over the end of its text.
        size: CHARACTERS or WORDS; a text that is shorter is one shingle, filled up with zeros.
    """
    counts = np.maximum(lengths - (size - 1), 1)
    return _hashed(items, lengths, counts, FACTORS[:size], np.empty(counts.sum(), np.uint64)), counts


@compiled
def _hashed(
    items: NDArray[np.uint64], lengths: NDArray[np.int64], counts: NDArray[np.int64], factors: NDArray[np.uint64],
    hashes: NDArray[np.uint64],
) -> NDArray[np.uint64]:  # fmt: skip
    """Fill the hashes of `shingles`."""
    first = filled = 0
    for row in range(len(lengths)):
        end = first + lengths[row]
        for place in range(first, first + counts[row]):
            value = np.uint64(0)
            for offset in range(min(len(factors), end - place)):
                value += items[place + offset] * factors[offset]
            hashes[filled] = _mixed(value)
            filled += 1
        first = end
    return hashes


@compiled
def _mixed(value: np.uint64) -> np.uint64:
    """Every bit of the result depends on every bit given (multiply and shift, twice)."""
    for factor in MIX:
        value = (value ^ value >> np.uint64(32)) * factor
    return value ^ value >> np.uint64(29)


def minima(hashes: NDArray[np.uint64], counts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The smallest hash of each bin, uint64 (n, BINS), of n texts whose shingle hashes stand one after the other.

    An empty bin has the hash that it borrows; all are _EMPTY in a text without any hash.
    """
    smallest = np.full((len(counts), BINS), _EMPTY)
    _fill(smallest, hashes, counts)
    return smallest


@compiled
def _fill(smallest: NDArray[np.uint64], hashes: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
    place = 0
    for row in range(len(counts)):
        bins = smallest[row]
        for value in hashes[place : place + counts[row]]:
            bin_ = value >> np.uint64(64 - _BIN_BITS)
            bins[bin_] = min(bins[bin_], value)
        place += counts[row]
        lenders = bins.copy()
        for bin_ in range(BINS):
            if lenders[bin_] == _EMPTY:
                bins[bin_] = _borrowed(lenders, bin_)


@compiled
def _borrowed(lenders: NDArray[np.uint64], bin_: int) -> np.uint64:
    """The hash of the first donor that has one; if none has, the smallest hash under a permutation of the bin's own."""
    chosen: np.uint64
    for donor in DONORS[:, bin_]:
        chosen = lenders[donor]
        if chosen != _EMPTY:
            return chosen
    smallest = _EMPTY
    for value in lenders:
        if value != _EMPTY:
            permuted = (value ^ SALTS[bin_]) * MIX[0]
            if chosen == _EMPTY or permuted < smallest:
                chosen, smallest = value, permuted
    return chosen


def signatures(smallest: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Signatures, uint8 (n, SIGNATURE_BYTES), of n texts with these `minima`."""
    # A borrowed hash gets a bit of its own in each bin: else all that borrow from one bin would agree by one chance.
    kept = ((smallest ^ SALTS) * _KEEP) >> np.uint64(63)
    return np.packbits(kept.astype(np.bool_), axis=1)


def estimated_jaccard(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Estimated Jaccard similarity, 0 to 1, of signatures (..., SIGNATURE_BYTES) that are broadcast against each other.

    Two bits agree when the bins do, and by chance half the other times. The standard error is .037 at .55, and none
    at all for equal signatures.
    """
    differing = np.bitwise_count(left ^ right).sum(axis=-1, dtype=np.int64)
    similarity: NDArray[np.float64] = np.clip(1 - 2 * differing / BINS, 0.0, 1.0)
    return similarity
