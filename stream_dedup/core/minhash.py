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

from stream_dedup.core.sketch import SIGNATURE_BYTES

BINS = 8 * SIGNATURE_BYTES
CHARACTERS = 5
"""Characters in a shingle of text that is mostly Han (or of another script without spaces)."""
WORDS = 3
"""Words in a shingle of other text."""
_BIN_BITS = BINS.bit_length() - 1
_EMPTY = np.uint64(2**64 - 1)
_PROBES = 64
"""Tries to borrow for an empty bin: with 100 shingles or more all succeed, with 20 one in 13 fails (see _choose)."""


def _constants(name: str, count: int) -> NDArray[np.uint64]:
    """Odd numbers that look random and are the same on every machine."""
    return np.array([xxhash.xxh3_64_intdigest(name.encode(), seed=seed) | 1 for seed in range(count)], dtype=np.uint64)


_FACTORS = _constants("factor", CHARACTERS)
_MIX = _constants("mix", 2)
_SALTS = _constants("salt", BINS)
_KEEP = _constants("keep", 1)[0]
# _DONORS[probe, bin]: from which bin an empty one borrows.
_DONORS = np.array(
    [
        [xxhash.xxh3_64_intdigest(b"donor %d" % bin_, seed=probe) % BINS for bin_ in range(BINS)]
        for probe in range(_PROBES)
    ],
    dtype=np.int64,
)


def character_shingles(letters: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hashes of the runs of CHARACTERS characters in n texts, uint64 (total,), and how many each has, int64 (n,).

    A text that is shorter is one shingle.
    """
    padded = [text.ljust(CHARACTERS, "\0") for text in letters]
    codes = np.frombuffer("".join(padded).encode("utf-32-le"), dtype="<u4").astype(np.uint64)
    return _shingles(codes, np.array([len(text) for text in padded], dtype=np.int64), CHARACTERS)


def word_shingles(words: Sequence[NDArray[np.uint64]]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hashes of the runs of WORDS words in n texts given as hashes of their words; returns as `character_shingles`."""
    padded = [np.pad(hashes, (0, max(0, WORDS - len(hashes)))) for hashes in words]
    joined = np.concatenate([np.empty(0, dtype=np.uint64), *padded])
    return _shingles(joined, np.array([len(hashes) for hashes in padded], dtype=np.int64), WORDS)


def _shingles(
    items: NDArray[np.uint64], lengths: NDArray[np.int64], size: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hashes of `size` neighbours each; none reaches over the end of its text."""
    places = len(items) - size + 1
    if places < 1:
        return np.empty(0, dtype=np.uint64), np.zeros(len(lengths), dtype=np.int64)
    hashes = np.zeros(places, dtype=np.uint64)
    term = np.empty_like(hashes)
    for offset in range(size):
        hashes += np.multiply(items[offset : offset + places], _FACTORS[offset], out=term)
    within = np.ones(places, dtype=np.bool_)
    ends = np.cumsum(lengths)[:-1]
    for offset in range(1, size):
        within[ends - offset] = False
    return _mix(hashes[within]), lengths - (size - 1)


def _mix(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of the result depends on every bit given (multiply and shift, twice)."""
    for factor in _MIX:
        hashes ^= hashes >> np.uint64(32)
        hashes *= factor
    return hashes ^ (hashes >> np.uint64(29))


def minima(hashes: NDArray[np.uint64], counts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The smallest hash of each bin, uint64 (n, BINS), of n texts whose shingle hashes stand one after the other."""
    owners = np.repeat(np.arange(len(counts)), counts)
    places = owners * BINS + (hashes >> np.uint64(64 - _BIN_BITS)).astype(np.int64)
    smallest = np.full(len(counts) * BINS, _EMPTY)
    np.minimum.at(smallest, places, hashes)
    _densify(smallest)
    return smallest.reshape(-1, BINS)


def signatures(smallest: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Signatures, uint8 (n, SIGNATURE_BYTES), of n texts with these `minima`."""
    # A borrowed hash gets a bit of its own in each bin: else all that borrow from one bin would agree by one chance.
    kept = ((smallest ^ _SALTS) * _KEEP) >> np.uint64(63)
    return np.packbits(kept.astype(np.bool_), axis=1)


def _densify(smallest: NDArray[np.uint64]) -> None:
    """Give every empty bin the hash that it borrows; `smallest` has n times BINS, one text after the other.

    A text without any hash stays empty.
    """
    lenders = smallest.copy()
    empty = np.flatnonzero(smallest == _EMPTY)
    for donors in _DONORS:
        bins = empty % BINS
        borrowed = lenders.take(empty - bins + donors.take(bins))
        smallest[empty] = borrowed
        empty = empty[borrowed == _EMPTY]
        if not len(empty):
            return
    rows, starts = np.unique(empty // BINS, return_index=True)
    for row, left in zip(rows, np.split(empty, starts[1:]), strict=True):
        smallest[left] = _choose(lenders[row * BINS : (row + 1) * BINS], left % BINS)


def _choose(lenders: NDArray[np.uint64], bins: NDArray[np.int64]) -> NDArray[np.uint64]:
    """For each of these bins one of a short text's hashes: the smallest under a permutation of the bin's own."""
    hashes: NDArray[np.uint64] = lenders[lenders != _EMPTY]
    if not len(hashes):
        return np.full(len(bins), _EMPTY)
    chosen: NDArray[np.int64] = ((hashes[:, None] ^ _SALTS[bins]) * _MIX[0]).argmin(axis=0)
    return hashes[chosen]


def estimated_jaccard(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Estimated Jaccard similarity, 0 to 1, of signatures (..., SIGNATURE_BYTES) that are broadcast against each other.

    Two bits agree when the bins do, and by chance half the other times. The standard error is .037 at .55, and none
    at all for equal signatures.
    """
    differing = np.bitwise_count(left ^ right).sum(axis=-1, dtype=np.int64)
    similarity: NDArray[np.float64] = np.clip(1 - 2 * differing / BINS, 0.0, 1.0)
    return similarity
