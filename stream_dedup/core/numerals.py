"""Numbers in one notation: 3500 for 3,500 and 三千五百, 120000000 for 1.2亿, 12 for twelve."""

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS: Mapping[str, str] = {word: str(value) for value, word in enumerate(_ONES.split())} | {
    word: str(10 * tens) for tens, word in enumerate(_TENS_WORDS.split(), 2)
}
"""English numbers up to ninety; what stands after them (hundred, million) is a word of its own."""
_DIGITS = {numeral: Decimal(value) for value, numeral in enumerate("〇一二三四五六七八九")} | {
    "零": Decimal(0),
    "两": Decimal(2),
}
_TENS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "亿": 10**8}
HAN_NUMERALS = "".join([*_DIGITS, *_TENS, *_MYRIADS])
_PART = re.compile(rf"\d+(?:\.\d+)?|[{HAN_NUMERALS}]")
MAX_NUMERAL = 40
"""Characters of a Chinese number at most; what is longer is none, and would be slow to work out."""
CACHED = 4096
"""Values that are remembered: years, days and small numbers come again and again."""


@lru_cache(CACHED)
def han_number(numeral: str) -> str:
    """A Chinese number, digits among its numerals or not, in digits: 42000 for 四万二千, 2018 for 二〇一八."""
    if all(character in _DIGITS for character in numeral):
        return "".join(str(_DIGITS[character]) for character in numeral)
    total = section = Decimal(0)
    digit: Decimal | None = None
    for part in _PART.findall(numeral.replace(",", "")):
        if part in _TENS:
            # Tens add up to a section below ten thousand, ...
            section += (Decimal(1) if digit is None else digit) * _TENS[part]
            digit = None
        elif part in _MYRIADS:
            # ... which a myriad multiplies, and a greater one all before it.
            section, digit = section + (digit or Decimal(0)), None
            lower = total < _MYRIADS[part]
            total, section = (Decimal(0), total + section) if lower else (total, section)
            total += (section or Decimal(1)) * _MYRIADS[part]
            section = Decimal(0)
        else:
            digit = _DIGITS[part] if part in _DIGITS else Decimal(part)
    return f"{(total + section + (digit or Decimal(0))).normalize():f}"


@lru_cache(CACHED)
def plain_number(number: str) -> str:
    """A number in digits without thousands separators and zeros that say nothing: 3500 for 3,500.0 and 03500."""
    whole, point, fraction = number.replace(",", "").partition(".")
    return (whole.lstrip("0") or "0") + (point + fraction).rstrip("0").rstrip(".")


def figure(number: str) -> str:
    """A number in digits or in Chinese, in one notation."""
    return plain_number(number) if number.isascii() else han_number(number[:MAX_NUMERAL])
