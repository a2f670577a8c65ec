"""The table of characters against the patterns and the functions it is made from."""

import pytest

from stream_dedup.core.characters import DIGIT, HAN, KIND, STRANGE, WORD, character_bits, codes_of, ideographs
from stream_dedup.core.segment import by_script
from stream_dedup.core.text import RUN


@pytest.mark.parametrize("plane", range(17))
def test_every_character_has_the_kind_of_its_run(plane: int) -> None:
    """The table gives each character of Unicode the kind that the pattern gives it, and knows all digits."""
    bits = character_bits().tolist()
    for code in range(plane << 16, plane + 1 << 16):
        found = RUN.match(chr(code))
        kind = bits[code] & KIND
        assert (WORD if kind == STRANGE else kind) == (found.lastindex if found else 0)
        assert (bits[code] & DIGIT > 0) == chr(code).isdigit()


@pytest.mark.parametrize("plane", range(17))
def test_kinds_are_the_scripts(plane: int) -> None:
    """Runs are sorted by script as their first characters say: strange ones go with Han."""
    bits = character_bits().tolist()
    for code in range(plane << 16, plane + 1 << 16):
        if bits[code] & KIND:
            assert bool(by_script([chr(code)]).han) == (bits[code] & KIND in {HAN, STRANGE})


def test_codes() -> None:
    """Codes of characters of all planes, surrogates too."""
    assert codes_of("a国\U0001f600\ud800").tolist() == [0x61, 0x56FD, 0x1F600, 0xD800]


def test_ideographs() -> None:
    """The repetition mark and the zero are among them, and none that is no ideograph."""
    found = ideographs()
    assert {"国", "々", "〇", "\U00020000"} <= set(found)
    assert all(by_script([one]).han for one in found)
