"""Numbers in mostly Han texts, and words in Latin letters, which are names there."""

import re

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.characters import HAN, KIND, UNSPACED
from stream_dedup.core.compiled import compiled
from stream_dedup.core.han_table import (
    ALPHA,
    CODE_BITS,
    DATE_UNIT,
    INSIDE,
    NUMERAL,
    PLAIN,
    SIZE,
    UNIT,
    Found,
)
from stream_dedup.core.verdict import FactKind

_DATELINE = re.compile(r"\d+(?:年\d+月\d+|月\d+)?[日号](?=.{0,4}?(?:消息|电|讯|报道))")
"""The day of a report, which Chinese agencies and portals put before its first sentence."""
_HEAD = 80
"""Characters in which a dateline stands."""
SIDE = 12
"""Characters on a side in which a context is looked for."""
_NAME, _DATE, _NUMBER = int(FactKind.NAME), int(FactKind.DATE), int(FactKind.NUMBER)


def without_dateline(folded: str) -> str:
    """A folded text without the day of the report at its head, which is no fact of what it reports."""
    head = folded[:_HEAD]
    return _DATELINE.sub("", head) + folded[_HEAD:] if "日" in head or "号" in head else folded


@compiled
def find_figures(
    codes: NDArray[np.uint32], ends: NDArray[np.int64], kinds: NDArray[np.uint16], bits: NDArray[np.uint8],
    found: Found,
) -> int:  # fmt: skip
    """Numbers and words in Latin letters of n texts, each between the letters around it and its neighbours."""
    count = place = 0
    for row in range(len(ends)):
        text, end = codes[: ends[row]], place
        waiting, before = count, np.int64(0)
        while place < len(text):
            stop = _figure_end(text, place, bits)
            if stop == place:
                place += 1
                continue
            between = _letters_before(text, end, place, kinds, bits)
            if between:
                found.contexts[waiting:count] = before << CODE_BITS | _letter_after(text, end, kinds, bits)
                waiting, before = count, between
            found.starts[count], found.stops[count] = place, stop
            found.kinds[count] = _kind(text, place, stop, bits)
            count += 1
            place = end = stop
        found.contexts[waiting:count] = before << CODE_BITS | _letter_after(text, end, kinds, bits)
        found.ends[row] = count
    return count


@compiled
def _bits_at(text: NDArray[np.uint32], place: int, bits: NDArray[np.uint8]) -> int:
    """The bits of a character, 0 beyond the text."""
    return bits[min(text[place], SIZE - 1)] if place < len(text) else 0


@compiled
def _figure_end(text: NDArray[np.uint32], start: int, bits: NDArray[np.uint8]) -> int:
    """Where the number or word ends that begins at a place; the place itself if none does."""
    first = _bits_at(text, start, bits)
    if first & (PLAIN | NUMERAL) == 0:
        return start
    end = start + 1
    while _bits_at(text, end, bits) & (PLAIN | NUMERAL):
        end += 1
    if end == start + 1 and first & NUMERAL:
        # One numeral alone is mostly part of a word.
        return end if _bits_at(text, end, bits) & UNIT else start
    while _bits_at(text, end, bits) & INSIDE and _bits_at(text, end + 1, bits) & PLAIN:
        end += 2
        while _bits_at(text, end, bits) & PLAIN:
            end += 1
        while _bits_at(text, end, bits) & NUMERAL:
            end += 1
    return end


@compiled
def _kind(text: NDArray[np.uint32], start: int, stop: int, bits: NDArray[np.uint8]) -> int:
    for place in range(start, stop):
        if ord("a") <= text[place] <= ord("z"):
            return _NAME
    return _DATE if _bits_at(text, stop, bits) & DATE_UNIT else _NUMBER


@compiled
def _letters_before(
    text: NDArray[np.uint32], after: int, place: int, kinds: NDArray[np.uint16], bits: NDArray[np.uint8]
) -> np.int64:
    """The last two letters before a place, of those that stand after another, as one number; 0 if there are none."""
    if place - 2 >= after and _bits_at(text, place - 2, bits) & _bits_at(text, place - 1, bits) & ALPHA:
        return np.int64(text[place - 2]) << CODE_BITS | np.int64(text[place - 1])
    last = np.int64(0)
    for at in range(place - 1, max(after, place - SIDE) - 1, -1):
        kind = kinds[text[at]] & KIND
        if kind in (HAN, UNSPACED):
            if last:
                return np.int64(text[at]) << CODE_BITS | last
            last = np.int64(text[at])
    return last


@compiled
def _letter_after(text: NDArray[np.uint32], place: int, kinds: NDArray[np.uint16], bits: NDArray[np.uint8]) -> np.int64:
    """The first letter from a place on, 0 if there is none near."""
    if _bits_at(text, place, bits) & ALPHA:
        return np.int64(text[place])
    for at in range(place, min(place + SIDE, len(text))):
        kind = kinds[text[at]] & KIND
        if kind in (HAN, UNSPACED):
            return np.int64(text[at])
    return np.int64(0)
