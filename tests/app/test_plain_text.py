"""Nothing hostile reaches a terminal."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.app.plain_text import HOSTILE_CATEGORIES, plain

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=300)


@given(ANY_TEXT, st.integers(2, 80))
def test_any_text_becomes_one_harmless_line_of_bounded_length(text: str, limit: int) -> None:
    """No character of the result moves the cursor, reorders text or is invisible, and there are at most `limit`."""
    line = plain(text, limit)
    assert len(line) <= limit
    assert not {unicodedata.category(character) for character in line} & HOSTILE_CATEGORIES


@given(st.text(st.characters(categories=["L", "N", "P"]), max_size=20))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    """Letters, digits and punctuation that fit are not touched."""
    assert plain(text, 20) == text


def test_a_cut_is_marked() -> None:
    """What is left out shows as an ellipsis, however long the text was."""
    assert plain("a" * 10_000_000, 5) == "aaaa…"
    assert plain("\x1b[31m红", 40) == r"\x1b[31m红"
