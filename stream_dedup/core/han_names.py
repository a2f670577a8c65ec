"""Names in Han text, which has no capital letters: what stands before a word that follows names.

    滨州市气象台发布大风预警  ->  滨州 before 市, 州市气 before 象台

Such words are few, and common to all Chinese news (cities, companies, titles); the names themselves are in no
dictionary. What is found is not always a name (全国城|市), but it is the same in every copy of a text, and the veto
asks only for what was replaced.
"""

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.characters import HAN, KIND
from stream_dedup.core.compiled import compiled
from stream_dedup.core.han_table import ALPHA, CODE_BITS, CUE, CUES, LONGEST, PLACE, SIZE, Found
from stream_dedup.core.verdict import FactKind

_PAIRS = np.array([[ord(cue[0]), ord(cue[1])] for cue in sorted(CUES)], dtype=np.uint32)
_NAME = int(FactKind.NAME)


@compiled
def find_names(
    codes: NDArray[np.uint32], ends: NDArray[np.int64], kinds: NDArray[np.uint16], bits: NDArray[np.uint8],
    found: Found,
) -> int:  # fmt: skip
    """Names of n texts before cues; the context is the cue and the letter right after it, if there is one."""
    count = first = 0
    for row in range(len(ends)):
        for last in range(first, ends[row]):
            of = bits[min(codes[last], SIZE - 1)]
            if of & (PLACE | CUE) == 0:
                continue
            cue = last - 1 if of & CUE and last > first and _is_cue(codes[last - 1], codes[last]) else last
            if cue == last and of & PLACE == 0:
                continue
            start = _name_start(codes, max(first, cue - LONGEST), cue, kinds, bits)
            if cue - start > 1:
                context = np.int64(0)
                after = last + 1 < ends[row] and kinds[codes[last + 1]] & KIND != 0
                for place in range(cue, cue + 3):
                    inside = place <= last + after
                    context = context << CODE_BITS | (np.int64(codes[place]) if inside else np.int64(0))
                found.starts[count], found.stops[count] = start, cue
                found.kinds[count], found.contexts[count] = _NAME, context
                count += 1
        first = ends[row]
        found.ends[row] = count
    return count


@compiled
def _is_cue(before: np.uint32, last: np.uint32) -> bool:
    found = False
    for first, second in _PAIRS:
        found |= first == before and second == last
    return found


@compiled
def _name_start(
    codes: NDArray[np.uint32], first: int, stop: int, kinds: NDArray[np.uint16], bits: NDArray[np.uint8]
) -> int:
    """Where a name begins that ends before a cue: all letters from the first place on, or else the Han at the end."""
    start = stop
    while start > first and bits[min(codes[start - 1], SIZE - 1)] & ALPHA:
        start -= 1
    if start > first:
        start = stop
        while start > first and kinds[codes[start - 1]] & KIND == HAN:
            start -= 1
    return start
