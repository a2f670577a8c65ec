"""A batch of texts folded at once, character by character: the same as `text.fold` of each, several times as fast.

Most characters fold by themselves, whatever stands beside them, and one table says to what. Texts with others (marks
that join the character before them, and what makes a phrase that OpenCC converts as a whole) are left to `text.fold`.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.characters import HAN, KIND, SPACE, character_bits, codes_of
from stream_dedup.core.compiled import compiled
from stream_dedup.core.text import fold, fold_characters, has_entity

TELLING = "乾傢剋劄吒哩噁坏彷徵扞於昇氾沈濛甦畫瞭祕脩蒐薹藉衹袷覆計谿逕釐鉅鍊鍾陞麼麽"
"""Each phrase that OpenCC converts otherwise than its characters one by one has one of these."""
_SIZE = 0x10000
"""Characters of the basic plane are in the table; others are rare."""
_BETWEEN = "、。、"
"""It folds to itself, what stands beside it folds by itself, and nothing folds to it."""
_LONGEST = 4
"""Characters that one folds to at most (… to ...); the few that fold to more are hard."""
_HARD, _DROPPED, _SEVERAL = np.uint32(0xFFFFFFFF), np.uint32(0xFFFFFFFE), np.uint32(0x80000000)
_ROW = np.uint32(0x7FFFFFFF)


class _Table(NamedTuple):
    """What each character folds to by itself."""

    to: NDArray[np.uint32]
    """(_SIZE,) a code, _DROPPED, _HARD, or _SEVERAL | a row of `several`."""
    several: NDArray[np.uint32]
    """(rows, _LONGEST) codes."""
    lengths: NDArray[np.int64]
    """(rows,) how many of them."""


class _Folded(NamedTuple):
    """n texts folded, one after the other."""

    codes: NDArray[np.uint32]
    ends: NDArray[np.int64]
    """(n,)."""
    hard: NDArray[np.bool_]
    """(n,) whether a text has a character that does not fold by itself; it is empty here."""


def fold_all(texts: Sequence[str]) -> list[str]:
    """`text.fold` of n texts."""
    size = sum(map(len, texts))
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    made = _Folded(
        np.empty(_LONGEST * size, dtype=np.uint32), np.empty_like(ends), np.zeros(len(texts), dtype=np.bool_)
    )
    used = _fold(codes_of("".join(texts)), ends, _table(), character_bits(), made)
    joined = made.codes[:used].tobytes().decode("utf-32-le")
    folded = [joined[start:end] for start, end in pairwise([0, *made.ends.tolist()])]
    for row in np.flatnonzero(made.hard).tolist():
        folded[row] = fold(texts[row])
    if "&" in joined:
        return [fold(raw) if has_entity(one) else one for raw, one in zip(texts, folded, strict=True)]
    return folded


@cache
def _table() -> _Table:
    characters = list(map(chr, range(_SIZE)))
    alone = fold_characters(_BETWEEN.join(characters)).split(_BETWEEN)
    several = sorted({one for one in alone if 1 < len(one) <= _LONGEST})
    codes: dict[str, np.uint32] = {one: _SEVERAL | np.uint32(row) for row, one in enumerate(several)}
    to = np.array([_code(one, codes) for one in alone], dtype=np.uint32)
    hard = [place for place, one in enumerate(characters) if one in TELLING or (alone[place] and _joins(one))]
    to[hard] = _HARD
    rows = np.array([[*map(ord, one.ljust(_LONGEST))] for one in several], dtype=np.uint32)
    return _Table(to, rows, np.array(list(map(len, several)), dtype=np.int64))


def _code(folded: str, several: dict[str, np.uint32]) -> np.uint32:
    if len(folded) == 1:
        return np.uint32(ord(folded))
    return several.get(folded, _HARD) if folded else _DROPPED


def _joins(character: str) -> bool:
    """Whether what a character folds to may depend on its neighbours.

    Marks and the parts of Hangul join what stands before them; ㉈ and the like have no compatibility form, and get
    white space around them only where a neighbour has one.
    """
    first = unicodedata.normalize("NFKD", character)[:1]
    joins = unicodedata.category(first)[0] == "M" or "\u1100" <= first <= "\u11ff"
    return joins or "\u3248" <= character <= "\u324f"


@compiled
def _fold(
    codes: NDArray[np.uint32], ends: NDArray[np.int64], table: _Table, bits: NDArray[np.uint16], folded: _Folded
) -> int:
    """Fill what is folded; how many codes there are. Hard texts get none."""
    out = folded.codes
    size = place = 0
    for row in range(len(ends)):
        start = size
        space = -1  # where white space after Han begins that goes up to the end so far
        while place < ends[row]:
            code = codes[place]
            place += 1
            to = table.to[code] if code < len(table.to) else _HARD
            if to == _HARD:
                folded.hard[row] = True
                size, place = start, ends[row]
                break
            if to == _DROPPED:
                continue
            for part in range(1 if to < _SEVERAL else table.lengths[to & _ROW]):
                code = to if to < _SEVERAL else table.several[to & _ROW, part]
                of = bits[code]
                if of & SPACE == 0:
                    if space >= 0 and of & KIND == HAN:
                        size = space
                    space = -1
                elif space < 0 and size > start and bits[out[size - 1]] & KIND == HAN:
                    space = size
                out[size] = code
                size += 1
        folded.ends[row] = size
    return size
