"""The facts of mostly Han texts, a batch at once, as slots of their sketches.

Compiled loops find the places of facts and what stands beside them; only the values become strings.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.characters import character_bits, codes_of
from stream_dedup.core.fact_sketch import HELD, Slot, context_hash, slot_of, value_hash
from stream_dedup.core.han_figures import find_figures, without_dateline
from stream_dedup.core.han_names import find_names
from stream_dedup.core.han_table import CODE_BITS, Found, han_bits
from stream_dedup.core.numerals import figure
from stream_dedup.core.verdict import FactKind

_CODE = (1 << CODE_BITS) - 1
_NAME = int(FactKind.NAME)
_Finder: TypeAlias = Callable[
    [NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint8], Found], int
]
"""Codes of n texts, where each ends, two tables of bits, what is filled -> how many facts."""


def unspaced_slots(folded: Sequence[str]) -> list[list[Slot]]:
    """The slots of the facts of n folded texts: numbers and words in Latin letters, then names in Han."""
    stripped = [without_dateline(one) for one in folded]
    figures = _slots(stripped, find_figures, _figure_context)
    names = _slots(folded, find_names, _name_context)
    return [one + other for one, other in zip(figures, names, strict=True)]


def _slots(
    texts: Sequence[str],
    find: _Finder,
    context: Callable[[int], int],
) -> list[list[Slot]]:
    joined = "".join(texts)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    starts, stops, kinds, contexts = np.empty((4, len(joined)), dtype=np.int64)
    found = Found(starts, stops, kinds, contexts, np.empty_like(ends))
    count = find(codes_of(joined), ends, character_bits(), han_bits(), found)
    values = [joined[start:stop] for start, stop in zip(starts[:count].tolist(), stops[:count].tolist(), strict=True)]
    slots = [
        slot_of(kind, context(key), value_hash(value if kind == _NAME else figure(value)))
        for value, kind, key in zip(values, kinds[:count].tolist(), contexts[:count].tolist(), strict=True)
    ]
    return [slots[start:end] for start, end in pairwise([0, *found.ends.tolist()])]


@lru_cache(HELD)
def _figure_context(key: int) -> int:
    codes = key >> 2 * CODE_BITS, key >> CODE_BITS & _CODE, key & _CODE
    first, second, after = (chr(code) if code else "" for code in codes)
    return context_hash(f"{first}{second}_{after}")


@lru_cache(HELD)
def _name_context(key: int) -> int:
    codes = key >> 2 * CODE_BITS, key >> CODE_BITS & _CODE, key & _CODE
    return context_hash("".join(chr(code) for code in codes if code))
