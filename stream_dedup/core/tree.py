"""A dictionary's words as a tree in arrays: full mode as hashes, without a Python object for each word.

    我爱北京  ->  我, 爱, 北, 北京, 京

From each character of a run of Han the tree is followed as far as it goes, and each node on the way at which a word
ends is one. That is what `Segmenter.full` gives, ten times as fast.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.characters import HAN, WORD
from stream_dedup.core.compiled import compiled
from stream_dedup.core.runs import Runs
from stream_dedup.core.traits import NO_WORD, NUMBER

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""2**64 / golden ratio: Knuth's multiplicative hashing."""
_CODE_BITS = 21
"""Bits of a character's code; a key is the node above with the code below."""
_NODE_BITS = 21
_NODE = (1 << _NODE_BITS) - 1
FREE = np.uint64(2**64 - 1)


class Tree(NamedTuple):
    """What a compiled loop follows; m nodes."""

    roots: NDArray[np.int32]
    """The node of each character that begins a word, by its code; -1 for others. Codes beyond the end begin none."""
    edges: NDArray[np.uint64]
    """(2**k,) a hash table with open addresses: parent node, code and child node in one number; FREE where none is."""
    hashes: NDArray[np.uint64]
    """(m,) of the words that end at the nodes, 0 where none does."""
    traits: NDArray[np.int32]
    """(m,) of these words (see traits.py), NO_WORD where none ends."""


class Occurrences(NamedTuple):
    """Words of n texts as often as they stand there, o in all."""

    hashes: NDArray[np.uint64]
    """(o,)."""
    traits: NDArray[np.int32]
    """(o,)."""
    ends: NDArray[np.int64]
    """(n,) where each text's words end."""


@compiled
def grow(
    codes: NDArray[np.uint32], ends: NDArray[np.int64], roots: NDArray[np.int32], edges: NDArray[np.uint64]
) -> tuple[NDArray[np.int32], int]:
    """Fill the roots and edges of a `Tree` for n words; at which node each ends, (n,), and how many nodes there are.

    Args:
        codes: of all words' characters, one word after the other.
        ends: (n,) where each word's characters end.
        roots: a place for each code that occurs, -1 throughout.
        edges: as many places as there are codes, or more, a power of two, FREE throughout.
    """
    nodes = np.empty(len(ends), np.int32)
    count = place = 0
    for word in range(len(ends)):
        if roots[codes[place]] < 0:
            roots[codes[place]] = count
            count += 1
        node = np.int64(roots[codes[place]])
        place += 1
        while place < ends[word]:
            slot = _slot(edges, node, codes[place])
            if edges[slot] == FREE:
                edges[slot] = _key(node, codes[place]) << np.uint64(_NODE_BITS) | np.uint64(count)
                count += 1
            node = np.int64(edges[slot] & np.uint64(_NODE))
            place += 1
        nodes[word] = node
    return nodes, count


@compiled
def _key(parent: np.int64, code: np.uint32) -> np.uint64:
    return np.uint64(parent) << np.uint64(_CODE_BITS) | np.uint64(code)


@compiled
def _slot(edges: NDArray[np.uint64], parent: np.int64, code: np.uint32) -> np.int64:
    """Where the edge stands that this character takes from its parent, or where it would: then the place is free."""
    key = _key(parent, code)
    # The upper half of a product, which all bits of the key take part in.
    slot = np.int64(key * _SPREAD >> np.uint64(32)) & len(edges) - 1
    while edges[slot] != FREE and edges[slot] >> np.uint64(_NODE_BITS) != key:
        slot = slot + 1 & len(edges) - 1
    return slot


@compiled
def _full_mode(
    run: NDArray[np.uint32], tree: Tree, hashes: NDArray[np.uint64], traits: NDArray[np.int32], found: int
) -> int:
    """Write the hashes and traits of the words in a run of Han, given by its codes, after those found before.

    There is room for all words that there may be. Returns how many are written now.
    """
    for start in range(len(run)):
        node = np.int64(tree.roots[run[start]]) if run[start] < len(tree.roots) else np.int64(-1)
        end = start + 1
        while node >= 0:
            if tree.traits[node] != NO_WORD:
                hashes[found], traits[found] = tree.hashes[node], tree.traits[node]
                found += 1
            if end == len(run):
                break
            edge = tree.edges[_slot(tree.edges, node, run[end])]
            node = np.int64(edge & np.uint64(_NODE)) if edge != FREE else np.int64(-1)
            end += 1
    return found


@compiled
def find_words(
    runs: Runs, run_hashes: NDArray[np.uint64], tree: Tree, longest: int, extra: Occurrences
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int64]]:
    """The words of n texts with runs of Han in full mode: the fields of `Occurrences`.

    Args:
        runs: of the texts.
        run_hashes: (r,) of the runs that are words; those of others are not looked at.
        tree: the dictionary.
        longest: characters of its longest word.
        extra: words that the texts have besides, of other runs.
    """
    size = 2 * len(runs.letters) + len(extra.hashes)
    hashes, traits, ends = np.empty(size, np.uint64), np.empty(size, np.int32), np.empty_like(runs.run_ends)
    found = run = start = more = 0
    for row in range(len(ends)):
        while run < runs.run_ends[row]:
            # Room for this run and for all that is surely still to come: a word a run, and the extra ones.
            room = found + (runs.ends[run] - start) * longest + len(runs.ends) - run + len(extra.hashes) - more
            if room > len(hashes):
                hashes = np.concatenate((hashes[:found], np.empty(2 * room - found, np.uint64)))
                traits = np.concatenate((traits[:found], np.empty(2 * room - found, np.int32)))
            if runs.kinds[run] == HAN:
                found = _full_mode(runs.letters[start : runs.ends[run]], tree, hashes, traits, found)
            elif runs.kinds[run] == WORD:
                hashes[found], traits[found] = run_hashes[run], NUMBER if runs.digits[run] else 0
                found += 1
            start = runs.ends[run]
            run += 1
        while more < extra.ends[row]:
            hashes[found], traits[found] = extra.hashes[more], extra.traits[more]
            found, more = found + 1, more + 1
        ends[row] = found
    return hashes[:found], traits[:found], ends
