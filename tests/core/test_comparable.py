"""Comparable forms of a batch against the patterns that define them."""

from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core import text
from stream_dedup.core.comparable import comparable_all
from tests.core.languages import LANGUAGES
from tests.core.test_text import APART, SAME, TEXTS

STORIES = [" ".join(story) for stories in LANGUAGES.values() for story in stories]
NUMBERS = st.text("0159٣-.,:/'—٫٬ \t$€%x中\ue000\U000f0000_!²", max_size=30)


@given(st.lists(TEXTS | NUMBERS | st.sampled_from(STORIES), max_size=5))
def test_a_batch_is_reduced_as_each_text(texts: list[str]) -> None:
    """Signs, separators, gaps and all that is set aside, also at the ends of texts."""
    folded = [text.fold(one) for one in texts]
    assert comparable_all(folded) == [text.comparable(one) for one in folded]


def test_known_texts() -> None:
    """The same and other texts of the patterns' own tests."""
    folded = [text.fold(one) for _, *pair in SAME + APART for one in pair]
    assert comparable_all(folded) == [text.comparable(one) for one in folded]


def test_every_character_is_reduced_alike() -> None:
    """Each character of all planes between letters, between digits, and before a sign."""
    folded = [text.fold(f"a{chr(code)}b 1{chr(code)}2 {chr(code)}-3 {chr(code)}.4") for code in range(0x110000)]
    assert comparable_all(folded) == [text.comparable(one) for one in folded]
