"""The innermost loop of a lookup: values that share a block are compared in memory order, and only near ones are kept.

A block that many values share costs a nanosecond a value and no memory, so that a flood of one text's copies cannot
stop the owner.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.compiled import compiled

Table: TypeAlias = tuple[NDArray[np.int32], NDArray[np.uint64]]
"""Offsets of blocks and values, of a `BlockTable`."""
Question: TypeAlias = tuple[int, int, NDArray[np.int64], NDArray[np.int64]]
"""Radius, block, what to XOR the block with, and how many flipped bits each earlier block allows."""
Room: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""For queries and for places in the table, both of one length."""
_BLOCK_BITS = 16
_BLOCK = np.uint64(0xFFFF)
_ODD, _PAIRS, _NIBBLES, _BYTES = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
    np.uint64(0x0101010101010101),
)


@compiled
def _ones(bits: np.uint64) -> np.int64:
    """How many bits are set (Warren, Hacker's Delight, 5-1); compilers make one instruction of it."""
    bits = bits - (bits >> np.uint64(1) & _ODD)
    bits = (bits & _PAIRS) + (bits >> np.uint64(2) & _PAIRS)
    bits = bits + (bits >> np.uint64(4)) & _NIBBLES
    return np.int64(bits * _BYTES >> np.uint64(56))


@compiled
def _met_before(differing: np.uint64, bounds: NDArray[np.int64]) -> bool:
    """Whether an earlier block meets a pair, whose values differ in these bits."""
    for bound in bounds:
        if _ones(differing & _BLOCK) <= bound:
            return True
        differing >>= np.uint64(_BLOCK_BITS)
    return False


@compiled
def find_near(
    table: Table, asked: NDArray[np.uint64], question: Question, begin: tuple[int, int], room: Room
) -> tuple[int, int, int]:
    """Fill the room with pairs that are near; how many there are, and where to go on if it is full.

    Args:
        table: what is searched.
        asked: (m,) values.
        question: what near means, and which blocks to ask for.
        begin: the probe (query * masks + mask) and how many values of its block have been looked at.
        room: what is filled.
    """
    (offsets, values), (radius, block, masks, bounds), (queries, places) = table, question, room
    probe, skipped = begin
    found, shift = 0, np.uint64(_BLOCK_BITS * block)
    while probe < len(asked) * len(masks):
        value = asked[probe // len(masks)]
        key = np.int64(value >> shift & _BLOCK) ^ masks[probe % len(masks)]
        for place in range(offsets[key] + skipped, offsets[key + 1]):
            differing = values[place] ^ value
            if _ones(differing) <= radius and not _met_before(differing, bounds):
                queries[found], places[found] = probe // len(masks), place
                found += 1
                if found == len(queries):
                    return found, probe, place + 1 - offsets[key]
        probe, skipped = probe + 1, 0
    return found, probe, skipped
