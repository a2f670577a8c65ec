"""64-bit values sorted by one block of 16 bits, with offsets (CSR): who has this block? answered for many at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.near import find_near

BLOCKS = 4
BLOCK_BITS = 16
MAX_RADIUS = 7
"""Beyond it every block would need two flipped bits: 137 probes each, more work than it saves."""
FOUND_AT_ONCE = 1 << 13
"""Pairs that one step finds at most, which bounds its memory to 128 KB."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockTable:
    """n values in the order of one of their blocks."""

    block: int
    """Which one; 0 has the lowest bits."""
    offsets: NDArray[np.int32]
    """(2**BLOCK_BITS + 1,): the values with block b stand from offsets[b] up to, but without, offsets[b + 1]."""
    rows: NDArray[np.int32]
    """(n,) where each value stood before sorting."""
    values: NDArray[np.uint64]
    """(n,) gathered, so that comparing reads memory in order."""

    @property
    def largest(self) -> int:
        """How many values share one block, at most: as many are compared in a lookup that asks for it."""
        return int(np.diff(self.offsets).max())

    def near(self, asked: NDArray[np.uint64], radius: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """All pairs of an asked value, of shape (m,), and a value within the radius that no earlier block meets.

        Yields:
            Indices into `asked`, ascending, and rows, both of the portion's length, FOUND_AT_ONCE at most.
        """
        masks, asked = flips(radius, self.block), asked.copy()  # a view of another kind would be compiled for anew
        bounds = np.array([_bits(radius, earlier) for earlier in range(self.block)], np.int64)
        queries, places = np.empty((2, FOUND_AT_ONCE), np.int64)
        found, probe, skipped = FOUND_AT_ONCE, 0, 0
        while found == FOUND_AT_ONCE:
            found, probe, skipped = find_near(
                (self.offsets, self.values), asked, (radius, self.block, masks, bounds),
                (probe, skipped), (queries, places),
            )  # fmt: skip
            yield queries[:found].copy(), self.rows[places[:found]].astype(np.int64)


def block_of(values: NDArray[np.uint64], block: int) -> NDArray[np.uint16]:
    """One block of each value; block 0 has the lowest bits."""
    return (values >> np.uint64(BLOCK_BITS * block)).astype(np.uint16)


def block_table(values: NDArray[np.uint64], block: int) -> BlockTable:
    """Sort values of shape (n,) by one block (numpy sorts 16-bit keys by radix, in linear time)."""
    keys = block_of(values, block)
    rows = np.argsort(keys, kind="stable").astype(np.int32)
    offsets = np.zeros((1 << BLOCK_BITS) + 1, np.int32)
    np.cumsum(np.bincount(keys, minlength=1 << BLOCK_BITS), out=offsets[1:])
    return BlockTable(block, offsets, rows, values[rows])


def compile_lookup() -> None:
    """Have the loop of lookups compiled before the first one, which would wait for it a second or two."""
    nothing = np.empty(0, np.uint64)
    list(block_table(nothing, 0).near(nothing, 0))


def flips(radius: int, block: int) -> NDArray[np.int64]:
    """What to XOR a block with, to meet every value within the radius in one of the four blocks; empty: not needed.

    Block b allows (radius - b) // 4 flipped bits. The four bounds sum up to radius - 3, so a value that is beyond its
    bound in every block is at least radius + 1 away (the generalised pigeonhole principle of multi-index hashing,
    Norouzi, Punjani and Fleet, "Fast Search in Hamming Space with Multi-Index Hashing", CVPR 2012).
    """
    counts = range(_bits(radius, block) + 1)
    masks = [sum(1 << bit for bit in chosen) for k in counts for chosen in combinations(range(BLOCK_BITS), k)]
    return np.array(masks, np.int64)


def _bits(radius: int, block: int) -> int:
    """How many flipped bits a block allows, -1 where it need not be asked."""
    return max(-1, (radius - block) // BLOCKS)
