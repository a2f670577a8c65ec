"""Weighted words to 64-bit SimHash fingerprints, and the bounded memory of word hashes that makes it quick.

Charikar, "Similarity estimation techniques from rounding algorithms" (STOC 2002); Manku, Jain and Das Sarma, "Detecting
near-duplicates for web crawling" (WWW 2007): each word votes for or against each bit, as its hash says, by its weight.
"""

from collections.abc import Callable, Collection
from functools import cache
from typing import TypeAlias

import numpy as np
import xxhash
from numpy.typing import NDArray

from stream_dedup.core.compiled import compiled
from stream_dedup.core.dictionary import Dictionary, hashed_tree
from stream_dedup.core.tree import Tree

WordHash: TypeAlias = Callable[[bytes], int]
"""A word in UTF-8 to its 64-bit hash."""


@cache
def xxh3(seed: int) -> WordHash:
    """The 64-bit xxHash3 with a seed: one seed for each fingerprint of a scheme."""
    return lambda word: xxhash.xxh3_64_intdigest(word, seed=seed)


_MIX = np.array([0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53], dtype=np.uint64)
"""Multipliers of MurmurHash3's 64-bit finalizer (Appleby, public domain): each bit changes half of all bits."""


def reseeded(hashes: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Other hashes of the same n words, (n,), made of their 64-bit hashes; seed 0 leaves those as they are.

    A word is hashed and looked up once, however many fingerprints a scheme has.
    """
    if seed == 0:
        return hashes
    mixed = hashes ^ np.uint64(xxhash.xxh3_64_intdigest(b"seed", seed=seed))
    for factor in _MIX:
        mixed = (mixed ^ (mixed >> np.uint64(33))) * factor
    return mixed ^ (mixed >> np.uint64(33))


_LONGEST = 32
"""Characters in a word that is worth holding."""


class HashMemory(dict[str, int]):
    """Words and their hashes: `memory[word]` computes what it does not hold, and forgets all when it has `limit` words.

    A word is hashed once instead of once an article; what was forgotten changes the time, never the result. Words
    longer than _LONGEST are not held, so that the memory is bounded in bytes as well: 200,000 of Chinese take 30 MB.
    """

    def __init__(self, word_hash: WordHash, limit: int = 200_000) -> None:
        super().__init__()
        self._word_hash = word_hash
        self._limit = limit

    def __missing__(self, word: str) -> int:
        value = self._word_hash(word.encode("utf-8"))
        if len(word) <= _LONGEST:
            if len(self) >= self._limit:
                self.clear()
            self[word] = value
        return value

    def hashes(self, words: Collection[str]) -> NDArray[np.uint64]:
        """The hashes of n words, (n,)."""
        return np.fromiter(map(self.__getitem__, words), np.uint64, len(words))

    def tree(self, dictionary: Dictionary) -> Tree:
        """A dictionary's words with their hashes, which do not count for the limit."""
        return hashed_tree(dictionary, self._word_hash)


def simhash(hashes: NDArray[np.uint64], weights: NDArray[np.float64]) -> int:
    """The fingerprint of words with these hashes and weights, both (n,), as `simhashes`."""
    return int(simhashes(hashes, weights, np.array([len(hashes)], dtype=np.int64))[0])


@compiled
def simhashes(hashes: NDArray[np.uint64], weights: NDArray[np.float64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The fingerprints, (n,), of n texts, given the hashes and weights, both (w,), of all their words.

    A text's words end at its place in `ends`, (n,); without words its fingerprint is 0. A bit is set when the weights
    for it outweigh those against it; a tie leaves it unset. Whole numbers as weights make the sums exact (below 2**53),
    so that every machine gives the same bits, in whatever order it adds.
    """
    result = np.zeros(len(ends), np.uint64)
    word = 0
    for row in range(len(ends)):
        votes = np.zeros(64, np.float64)
        total = 0.0
        while word < ends[row]:
            total += weights[word]
            for bit in range(64):
                votes[bit] += weights[word] * np.float64(hashes[word] >> np.uint64(bit) & np.uint64(1))
            word += 1
        for bit in range(64):
            if 2 * votes[bit] > total:
                result[row] |= np.uint64(1) << np.uint64(bit)
    return result
