"""The words of a segmenter's dictionary: spelled out, and as a tree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.characters import codes_of
from stream_dedup.core.traits import NO_WORD
from stream_dedup.core.tree import FREE, Tree, grow


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """n words, and a tree that waits for their hashes."""

    spelled: bytes
    """All words in UTF-8, one after the other."""
    spelled_ends: NDArray[np.int64]
    """(n,) where each word ends there."""
    nodes: NDArray[np.int32]
    """(n,) the node at which each word ends."""
    longest: int
    """Characters of the longest word."""
    tree: Tree


@lru_cache(1)
def hashed_tree(dictionary: Dictionary, word_hash: Callable[[bytes], int]) -> Tree:
    """The tree with the words' hashes; the last one is held for all schemes."""
    ends = dictionary.spelled_ends.tolist()
    words = (dictionary.spelled[start:end] for start, end in pairwise([0, *ends]))
    hashes = np.zeros_like(dictionary.tree.hashes)
    hashes[dictionary.nodes] = np.fromiter(map(word_hash, words), np.uint64, len(ends))
    return dictionary.tree._replace(hashes=hashes)


def dictionary(words: Sequence[bytes], traits: NDArray[np.int32]) -> Dictionary:
    """The dictionary of n words, in UTF-8 and none empty, with their traits, (n,); the last of equal ones counts."""
    spelled = b"".join(words)
    lengths = np.fromiter((len(word.decode()) for word in words), np.int64, len(words))
    codes = codes_of(spelled.decode())
    roots = np.full(codes.max(initial=0) + 1, -1, dtype=np.int32)
    # At most as many nodes as characters; half as many where words begin alike.
    edges = np.full(1 << len(codes).bit_length(), FREE)
    nodes, count = grow(codes, np.cumsum(lengths), roots, edges)
    traits_of_nodes = np.full(count, NO_WORD, dtype=np.int32)
    traits_of_nodes[nodes] = traits
    return Dictionary(
        spelled=spelled,
        spelled_ends=np.cumsum(np.fromiter(map(len, words), np.int64, len(words))),
        nodes=nodes,
        longest=int(lengths.max(initial=0)),
        tree=Tree(roots, edges, np.zeros(count, dtype=np.uint64), traits_of_nodes),
    )
