"""What each character is, as one table of bits: a text is then sorted by looking its characters up."""

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core import text

HAN, UNSPACED, WORD, STRANGE = 1, 2, 3, 4
"""Kinds of runs; 0 is what stands between runs. A strange one begins with a character of planes that Unicode has not
assigned yet, beyond those of ideographs."""
KIND = 7
"""The bits of a kind."""
DIGIT = 8
"""The bit of a digit (`str.isdigit`)."""
SPACE, ASIDE, DECIMAL, BORDER, CURRENCY, LETTER = 16, 32, 64, 128, 256, 512
"""The bits of white space, of what is set aside in a comparable form, of decimal digits, of what a minus may follow, of
currencies, and of what is a letter for patterns."""
_PATTERNS = {
    SPACE: f"[{text.SPACE}]+",
    ASIDE: f"[{text.ASIDE}]+",
    DECIMAL: r"\d+",
    BORDER: f"[{text.BORDER}]+",
    CURRENCY: f"[{text.CURRENCY}]+",
    LETTER: r"\w+",
}
_IDEOGRAPHS, _UNASSIGNED, _PRIVATE = 0x20000, 0x40000, 0xF0000
"""Where planes of ideographs, of nothing yet, and of private characters begin; all of the last two are alike."""


@cache
def character_bits() -> NDArray[np.uint16]:
    """(0x110000,) the bits of each character by its code."""
    characters = "".join(map(chr, range(_UNASSIGNED)))
    bits = np.zeros(0x110000, dtype=np.uint16)
    for match in text.RUN.finditer(characters):
        start, end = match.span()
        bits[start:end] = match.lastindex or 0
    bits[:_UNASSIGNED][list(map(str.isdigit, characters))] |= DIGIT
    for bit, pattern in _PATTERNS.items():
        for match in re.finditer(pattern, characters):
            start, end = match.span()
            bits[start:end] |= bit
    bits[_UNASSIGNED:_PRIVATE] = bits[_UNASSIGNED - 1]
    bits[_PRIVATE:] = ASIDE
    strange = bits[_IDEOGRAPHS:]
    strange[strange == WORD] = STRANGE
    return bits


def ideographs() -> list[str]:
    """All characters that make runs of Han."""
    return list(map(chr, np.flatnonzero(character_bits() & KIND == HAN).tolist()))


def codes_of(string: str) -> NDArray[np.uint32]:
    """The characters' codes, (n,)."""
    return np.frombuffer(string.encode("utf-32-le", "surrogatepass"), dtype="<u4")
