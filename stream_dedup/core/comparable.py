"""The comparable forms of a batch of folded texts in one pass each: the same as `text.comparable`, but quick."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.characters import ASIDE, BORDER, CURRENCY, DECIMAL, LETTER, character_bits, codes_of
from stream_dedup.core.compiled import compiled
from stream_dedup.core.text import MARKS

_KEPT = np.array([[ord(kept), ord(mark)] for kept, mark in MARKS.items()], dtype=np.uint32)
_GAP_MARK, _MINUS_MARK, _POINT_MARK = (np.uint32(ord(MARKS[kept])) for kept in " -.")
_MINUS, _POINT = ord("-"), ord(".")


def comparable_all(folded: Sequence[str]) -> list[str]:
    """`text.comparable` of n folded texts."""
    ends = np.cumsum(np.fromiter(map(len, folded), np.int64, len(folded)))
    codes = codes_of("".join(folded))
    made, made_ends = np.empty(len(codes), dtype=np.uint32), np.empty_like(ends)
    used = _reduce(codes, ends, character_bits(), made, made_ends)
    joined = made[:used].tobytes().decode("utf-32-le")
    return [joined[start:end] for start, end in pairwise([0, *made_ends.tolist()])]


@compiled
def _reduce(
    codes: NDArray[np.uint32], ends: NDArray[np.int64], bits: NDArray[np.uint16],
    made: NDArray[np.uint32], made_ends: NDArray[np.int64],
) -> int:  # fmt: skip
    """Fill the last two; how many codes there are: never more than before."""
    size = place = 0
    for row in range(len(ends)):
        start, end = place, ends[row]
        while place < end:
            code = codes[place]
            of = bits[code]
            place += 1
            if of & DECIMAL:
                made[size] = code
                size += 1
                gap_end = place
                while gap_end < end and bits[codes[gap_end]] & ASIDE:
                    gap_end += 1
                if place < gap_end < end and bits[codes[gap_end]] & DECIMAL:
                    size = _mark_gap(codes[place:gap_end], made, size)
                    place = gap_end
            elif of & ASIDE == 0:
                made[size] = code
                size += 1
            elif code == _MINUS and _minus_leads(codes[start:end], place - 1 - start, bits):
                made[size] = _MINUS_MARK
                size += 1
            elif code == _POINT and _point_leads(codes[start:end], place - 1 - start, bits):
                made[size] = _POINT_MARK
                size += 1
        made_ends[row] = size
    return size


@compiled
def _mark_gap(gap: NDArray[np.uint32], made: NDArray[np.uint32], size: int) -> int:
    """Add the mark for what stands between two digits: one separator, or a gap, after which a sign may lead."""
    last = gap[-1]
    if len(gap) == 1:
        made[size] = _GAP_MARK
        for kept, mark in _KEPT:
            if kept == last:
                made[size] = mark
        return size + 1
    made[size] = _GAP_MARK
    if last in (_MINUS, _POINT) and gap[-2] not in (_MINUS, _POINT):
        made[size + 1] = _MINUS_MARK if last == _MINUS else _POINT_MARK
        return size + 2
    return size + 1


@compiled
def _minus_leads(text: NDArray[np.uint32], place: int, bits: NDArray[np.uint16]) -> bool:
    """Whether a hyphen is the sign of the number after it: -1.14, -$5; but covid-19 has none, nor has a dash."""
    if place > 0:
        before = text[place - 1]
        if bits[before] & BORDER == 0 or before in (_MINUS, _POINT):
            return False
    following = place + 1
    if following < len(text) and bits[text[following]] & CURRENCY:
        following += 1
    if following < len(text) and text[following] == _POINT:
        following += 1
    return following < len(text) and bits[text[following]] & DECIMAL != 0


@compiled
def _point_leads(text: NDArray[np.uint32], place: int, bits: NDArray[np.uint16]) -> bool:
    """Whether a point leads the number after it: .50."""
    if place > 0 and (bits[text[place - 1]] & LETTER or text[place - 1] == _POINT):
        return False
    return place + 1 < len(text) and bits[text[place + 1]] & DECIMAL != 0
