"""What the loops that look for facts in Han texts look up and fill: bits of characters, and places of facts."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.numerals import HAN_NUMERALS

UNITS = "年月日号时点级"
"""Units of time and strength: before them one Han numeral alone is a number."""
DATE_UNITS = "年月日号"
PLACES = "省市县区镇乡村路街桥站港"
"""Follow a name by themselves."""
_ORGANISATIONS = (
    "公司 集团 股份 科技 实业 银行 证券 基金 大学 学院 中学 小学 医院 法院 察院 安局 政府 象台 究所 协会 员会"
)
_SITES = "街道 大道 社区 小区 广场 大厦 机场 水库 景区 片区 电站"
_TITLES = "同志 先生 女士 主任 局长 书记 区长 县长 市长 省长 部长 总理 总统 董事 教授 院士"
CUES = frozenset(f"{_ORGANISATIONS} {_SITES} {_TITLES}".split())
"""Follow a name: two characters, the last two of longer ones (气象台, 委员会)."""
LONGEST = 3
"""Characters of a name that are compared: names that differ mostly differ in the last three."""
ALPHA, NUMERAL, UNIT, DATE_UNIT, INSIDE, PLACE, CUE, PLAIN = 1, 2, 4, 8, 16, 32, 64, 128
"""Bits of letters, Han numerals, units, those of dates, what stands inside a number, PLACES, the last of CUES, and
digits and small letters of ASCII."""
SIZE = 0x40000
"""Characters beyond are unassigned or private."""
CODE_BITS = 21
"""Bits of a character's code."""


class Found(NamedTuple):
    """f facts of n texts."""

    starts: NDArray[np.int64]
    """(f,) where the value begins, in all codes."""
    stops: NDArray[np.int64]
    """(f,) where it ends."""
    kinds: NDArray[np.int64]
    """(f,)."""
    contexts: NDArray[np.int64]
    """(f,) codes of three characters, 0 for none: two before the fact and one after, or a cue and one after."""
    ends: NDArray[np.int64]
    """(n,) where each text's facts end."""


@cache
def han_bits() -> NDArray[np.uint8]:
    """(SIZE,) the bits of each character."""
    bits = np.zeros(SIZE, dtype=np.uint8)
    bits[list(map(str.isalpha, map(chr, range(SIZE))))] = ALPHA
    members = {
        NUMERAL: HAN_NUMERALS,
        UNIT: UNITS,
        DATE_UNIT: DATE_UNITS,
        INSIDE: ".,:/'&-",
        PLACE: PLACES,
        CUE: "".join({cue[-1] for cue in CUES}),
        PLAIN: "0123456789abcdefghijklmnopqrstuvwxyz",
    }
    for bit, characters in members.items():
        bits[[ord(character) for character in set(characters)]] |= bit
    return bits
