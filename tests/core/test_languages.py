"""Languages: in every one near copies are found, unlike stories stay apart, and words are neither one nor none."""

import unicodedata
from collections.abc import Callable

import numpy as np
import pytest

from stream_dedup.core.deduplicator import Deduplicator
from stream_dedup.core.recipes import PROFILES
from stream_dedup.core.scheme import profile
from stream_dedup.core.segment import RJIEBA, by_script, segment
from stream_dedup.core.text import fold, runs
from stream_dedup.core.verdict import Kind
from tests.core.languages import LANGUAGES

each_language = pytest.mark.parametrize("language", LANGUAGES)
each_profile = pytest.mark.parametrize("name", PROFILES)
FINDING = ["thorough", "minhash"]
"""Profiles made to find near copies; the others find fewer in texts as short as these."""


def _stories(language: str) -> tuple[str, str]:
    first, other = LANGUAGES[language]
    return " ".join(first), " ".join(other)


def _words(raw: str) -> list[str]:
    return segment(RJIEBA, by_script(runs(fold(raw))))


@each_profile
@each_language
def test_unlike_stories_are_apart(language: str, name: str) -> None:
    """Two stories of one language are both new, and have enough words to be compared."""
    deduplicator = Deduplicator(profile(name))
    assert [deduplicator.check(story).kind for story in _stories(language)] == [Kind.NEW, Kind.NEW]


@pytest.mark.parametrize("name", FINDING)
@each_language
def test_near_copies_are_found(language: str, name: str) -> None:
    """A copy with a dateline, and one without its last tenth, repeat the story, and not the other one."""
    story, other = _stories(language)
    deduplicator = Deduplicator(profile(name, threshold=0.5))
    deduplicator.check(other, id="other")
    deduplicator.check(story, id="story")
    copies = [deduplicator.check(f"(APX) {story}"), deduplicator.check(story[: -len(story) // 10])]
    assert [(copy.kind, copy.original and copy.original.id) for copy in copies] == [(Kind.NEAR, "story")] * 2


FORMS: dict[str, Callable[[str], str]] = {
    "composed": lambda story: unicodedata.normalize("NFC", story),
    "decomposed": lambda story: unicodedata.normalize("NFD", story),
    "compatibility": lambda story: unicodedata.normalize("NFKC", story),
    "bidi marks": lambda story: f"\u200f{story}\u200e",
    "soft hyphens": "\u00ad".join,
    "references": lambda story: "".join(char if char.isalnum() else f"&#{ord(char)};" for char in story),
    "joiners": lambda story: story.replace(" ", " \u200d\ufe0f"),
}


@each_profile
@each_language
@pytest.mark.parametrize("form", FORMS)
def test_forms_of_one_text_are_the_same(language: str, name: str, form: str) -> None:
    """Composed or decomposed, with marks that are not seen, or with references of HTML: the copy is exact."""
    story, _ = _stories(language)
    deduplicator = Deduplicator(profile(name))
    copies = [deduplicator.check(text) for text in (story, FORMS[form](story))]
    assert [copy.kind for copy in copies] == [Kind.NEW, Kind.EXACT]


@each_language
def test_words_are_neither_one_nor_none(language: str) -> None:
    """A story has dozens of different words, most of them short; unlike stories share less than half."""
    left, right = (set(_words(story)) for story in _stories(language))
    assert min(len(left), len(right)) >= 25
    assert np.median([len(word) for word in left | right]) <= 9
    assert len(left & right) < 0.5 * min(len(left), len(right))


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        pytest.param("हिन्दी में क्षत्रिय", ["हिन्दी", "में", "क्षत्रिय"], id="Devanagari signs"),
        pytest.param("مُدَرِّسٌ جديد", ["مُدَرِّسٌ", "جديد"], id="Arabic vowel marks"),
        pytest.param("Ёлка й і́нший", ["ёлка", "й", "і́нший"], id="Cyrillic with an accent"),
        pytest.param("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"], id="Hebrew points"),
        pytest.param("한국어 문장", ["한국어", "문장"], id="Korean"),
        pytest.param("தமிழ் செய்தி", ["தமிழ்", "செய்தி"], id="Tamil signs"),
        pytest.param("বাংলা সংবাদ", ["বাংলা", "সংবাদ"], id="Bengali signs"),
        pytest.param("Việt Nam", ["việt", "nam"], id="Vietnamese tones"),
        pytest.param("የኢትዮጵያ ዜና", ["የኢትዮጵያ", "ዜና"], id="Ethiopic"),
        pytest.param("ภาษาไทย", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"], id="Thai in pairs"),
        pytest.param("ราคา 25 บาท", ["25", "รา", "าค", "คา", "บา", "าท"], id="Thai with a number"),
    ],
)
def test_words_are_whole(raw: str, words: list[str]) -> None:
    """No word is cut at its marks, composed or not; scripts without spaces give pairs of letters."""
    for written in (raw, unicodedata.normalize("NFC", raw), unicodedata.normalize("NFD", raw)):
        assert _words(written) == [unicodedata.normalize("NFKC", word) for word in words]
