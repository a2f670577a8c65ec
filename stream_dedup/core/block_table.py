"""64-bit values sorted by one block of 16 bits, with offsets (CSR): who has this block? answered for many at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

BLOCKS = 4
BLOCK_BITS = 16
MAX_RADIUS = 7
"""Beyond it every block would need two flipped bits: 137 probes each, more work than it saves."""
PAIRS_AT_ONCE = 1 << 20
"""Pairs that one step compares, which bounds its memory to some 50 MB unless more values than that share one block."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockTable:
    """n values in the order of one of their blocks."""

    offsets: NDArray[np.int32]
    """(2**BLOCK_BITS + 1,): the values with block b stand from offsets[b] up to, but without, offsets[b + 1]."""
    rows: NDArray[np.int32]
    """(n,) where each value stood before sorting."""
    values: NDArray[np.uint64]
    """(n,) gathered, so that comparing reads memory in order."""

    def matches(self, blocks: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """All pairs of an asked block, of shape (p,), and a place in the table with this block, in bounded portions.

        Yields:
            Indices into `blocks`, ascending, and places in `rows` and `values`, both of the portion's length.
        """
        starts = self.offsets[blocks].astype(np.int64)
        counts = self.offsets[blocks + 1] - starts
        ends = np.cumsum(counts)
        first = 0
        while first < len(blocks):
            before = ends[first] - counts[first]
            last = max(first + 1, int(np.searchsorted(ends, before + PAIRS_AT_ONCE, side="right")))
            portion = counts[first:last]
            shifts = starts[first:last] - (ends[first:last] - portion - before)
            places = np.arange(ends[last - 1] - before) + np.repeat(shifts, portion)
            yield np.repeat(np.arange(first, last), portion), places
            first = last


def block_of(values: NDArray[np.uint64], block: int) -> NDArray[np.uint16]:
    """One block of each value; block 0 has the lowest bits."""
    return (values >> np.uint64(BLOCK_BITS * block)).astype(np.uint16)


def block_table(values: NDArray[np.uint64], block: int) -> BlockTable:
    """Sort values of shape (n,) by one block (numpy sorts 16-bit keys by radix, in linear time)."""
    keys = block_of(values, block)
    rows = np.argsort(keys, kind="stable").astype(np.int32)
    offsets = np.zeros((1 << BLOCK_BITS) + 1, np.int32)
    np.cumsum(np.bincount(keys, minlength=1 << BLOCK_BITS), out=offsets[1:])
    return BlockTable(offsets, rows, values[rows])


def flips(radius: int, block: int) -> NDArray[np.int64]:
    """What to XOR a block with, to meet every value within the radius in one of the four blocks; empty: not needed.

    Block b allows (radius - b) // 4 flipped bits. The four bounds sum up to radius - 3, so a value that is beyond its
    bound in every block is at least radius + 1 away (the generalised pigeonhole principle of multi-index hashing,
    Norouzi, Punjani and Fleet, "Fast Search in Hamming Space with Multi-Index Hashing", CVPR 2012).
    """
    counts = range(_bits(radius, block) + 1)
    masks = [sum(1 << bit for bit in chosen) for k in counts for chosen in combinations(range(BLOCK_BITS), k)]
    return np.array(masks, np.int64)


def met_before(differing: NDArray[np.uint64], radius: int, block: int) -> NDArray[np.bool_]:
    """Whether an earlier block has met a pair already, whose values differ in these bits; shape (n,) both."""
    met = np.zeros(len(differing), np.bool_)
    for earlier in range(block):
        met |= np.bitwise_count(block_of(differing, earlier)) <= _bits(radius, earlier)
    return met


def _bits(radius: int, block: int) -> int:
    """How many flipped bits a block allows, -1 where it need not be asked."""
    return max(-1, (radius - block) // BLOCKS)
