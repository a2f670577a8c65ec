"""The articles that the demo publishes: what must be in the file for the demo to show what the filter does."""

import json
import unicodedata
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from opencc import OpenCC

import stream_dedup.app

PATH = Path(stream_dedup.app.__file__).with_name("demo.jsonl")
LINES = tuple(PATH.read_text(encoding="utf-8").splitlines())
SHORT = 8
"""Words under which a text is not compared (the default of the setting `min_words`)."""
COPY, OTHER = 0.75, 0.25
"""Jaccard similarities: a copy of an earlier article lies above the first, another story below the second."""
TO_SIMPLIFIED = OpenCC("t2s")


class Article(msgspec.Struct, forbid_unknown_fields=True):
    """One line of the file; every field must be there."""

    id: str
    lang: str
    source: str
    title: str
    text: str
    date: datetime


@dataclass(frozen=True, slots=True)
class Nearest:
    """An article and the most similar one before it."""

    article: Article
    earlier: Article | None
    similarity: float


def _readable() -> list[Article]:
    """Every line but the broken ones, in the file's order."""
    articles = []
    for line in LINES:
        try:
            articles.append(msgspec.json.decode(line, type=Article))
        except msgspec.DecodeError:
            continue
    return articles


def _folded(text: str) -> str:
    """The letters and digits alone, in simplified script and lower case: what an exact copy has in common."""
    folded = TO_SIMPLIFIED.convert(unicodedata.normalize("NFKC", text).lower())
    return "".join(character for character in folded if character.isalnum())


def _shingles(text: str) -> frozenset[str]:
    """Runs of five characters of the folded text, an oracle that shares nothing with the filter."""
    folded = _folded(text)
    return frozenset(folded[start : start + 5] for start in range(max(1, len(folded) - 4)))


def _length(article: Article) -> int:
    """Characters of a Chinese text, words of an English one."""
    return len(article.text.strip()) if article.lang == "zh" else len(article.text.split())


def _is_long(article: Article) -> bool:
    return _length(article) >= SHORT


def _nearest() -> list[Nearest]:
    """Each article that is long enough to compare, with the most similar one before it."""
    found: list[Nearest] = []
    shingled: list[tuple[Article, frozenset[str]]] = []
    for article in filter(_is_long, _readable()):
        own = _shingles(article.text)
        scored = [(len(own & other) / len(own | other), earlier) for earlier, other in shingled]
        similarity, original = max(scored, key=lambda pair: pair[0], default=(0.0, None))
        found.append(Nearest(article, original, similarity))
        shingled.append((article, own))
    return found


def _copies() -> list[Nearest]:
    return [near for near in _nearest() if near.similarity >= COPY]


def test_one_line_is_broken() -> None:
    """One line alone is no JSON, so that the demo shows one rejected article and its reason."""
    broken = []
    for number, line in enumerate(LINES, start=1):
        try:
            json.loads(line)
        except json.JSONDecodeError:
            broken.append(number)
    assert len(broken) == 1
    assert 10 < broken[0] < len(LINES) - 3
    assert len(_readable()) == len(LINES) - 1, "a line is JSON and yet no article"


def test_lengths() -> None:
    """Articles have the length of news: 250 to 700 characters in Chinese, 120 to 300 words in English."""
    for article in filter(_is_long, _readable()):
        least, most = (250, 700) if article.lang == "zh" else (120, 300)
        assert least <= _length(article) <= most, f"{article.id}: {_length(article)}"


def test_dates_rise_within_two_days() -> None:
    """Dates carry a zone and rise line by line within two days, so that nothing is late in a window of 72 hours."""
    dates = [article.date for article in _readable()]
    assert all(date.tzinfo is not None for date in dates)
    assert all(earlier < later for earlier, later in pairwise(dates))
    assert dates[-1] - dates[0] <= timedelta(days=2)


def test_languages_and_script() -> None:
    """The language field is zh or en and true of the text: more than half of its letters are Han, or none is."""
    for article in filter(_is_long, _readable()):
        letters = [character for character in article.text if character.isalpha()]
        han = sum("CJK UNIFIED" in unicodedata.name(character, "") for character in letters)
        assert (han > len(letters) / 2) if article.lang == "zh" else (article.lang == "en" and han == 0), article.id


def test_ids_name_articles() -> None:
    """An id stands for one article; only a correction repeats it, a bit later, with one figure changed."""
    by_id: dict[str, list[Article]] = {}
    for article in _readable():
        by_id.setdefault(article.id, []).append(article)
    repeated = [versions for versions in by_id.values() if len(versions) > 1]
    assert len(repeated) == 3
    for first, corrected in repeated:
        changed = [pair for pair in zip(first.text, corrected.text, strict=True) if pair[0] != pair[1]]
        assert len(changed) == 1
        assert all(character.isnumeric() for character in changed[0]), changed


@pytest.mark.parametrize(("language", "stories"), [("zh", 12), ("en", 10)])
def test_stories(language: str, stories: int) -> None:
    """Beside the template bulletins each language has its count of stories that nothing before them resembles."""
    originals = [near for near in _nearest() if near.similarity < OTHER and near.article.lang == language]
    templates = [near for near in originals if _template(near.article)]
    assert len(originals) - len(templates) == stories


def _template(article: Article) -> str:
    """The kind of bulletin, or nothing: what the titles of one kind share."""
    marks = {"天气公报": "weather", "行情周报": "prices", "Closing report:": "shares", "Markets:": "shares"}
    return next((kind for mark, kind in marks.items() if mark in article.title), "")


def test_template_bulletins_come_in_pairs_and_differ() -> None:
    """Weather, prices and shares are told twice, of other towns, in plainly different words: never copies."""
    bulletins = [near for near in _nearest() if _template(near.article)]
    assert Counter(_template(near.article) for near in bulletins) == {"weather": 2, "prices": 2, "shares": 2}
    assert max(near.similarity for near in bulletins) < OTHER


def test_nothing_lies_between_copy_and_story() -> None:
    """Every article is plainly a copy of an earlier one or plainly another story."""
    doubtful = [near for near in _nearest() if OTHER <= near.similarity < COPY]
    assert doubtful == []


def test_short_texts() -> None:
    """One text is blank and two are flashes of fewer than eight words, and none is a copy of anything."""
    short = [article for article in _readable() if not _is_long(article)]
    assert sorted((article.lang, bool(article.text.strip())) for article in short) == [
        ("en", True),
        ("zh", False),
        ("zh", True),
    ]


def test_kinds_of_copies() -> None:
    """The copies are of all the sorts that desks meet, so that the demo shows exact, near and revision."""
    kinds: Counter[str] = Counter()
    for near in _copies():
        assert near.earlier is not None
        kinds[_kind_of_copy(near.earlier, near.article)] += 1
    assert kinds.keys() == {"headline", "script", "look", "added before", "added after", "cut", "correction", "typo"}
    assert min(kinds.values()) >= 2, kinds
    assert 24 <= kinds.total() <= 32


def _kind_of_copy(earlier: Article, copy: Article) -> str:
    """What was done to the earlier text to make the copy."""
    before, after = _folded(earlier.text), _folded(copy.text)
    table = [
        (earlier.text == copy.text, "headline"),
        (TO_SIMPLIFIED.convert(copy.text) != copy.text, "script"),
        (before == after, "look"),
        (after.endswith(before), "added before"),
        (after.startswith(before), "added after"),
        (before.startswith(after), "cut"),
        (earlier.id == copy.id, "correction"),
        (abs(len(before) - len(after)) <= 1, "typo"),
    ]
    return next((kind for holds, kind in table if holds), "something else")


def test_duplicate_rate_rises_and_falls() -> None:
    """Copies come in waves: the share of them in blocks of ten rises, falls and rises again."""
    copied = [near.similarity >= COPY for near in _nearest()]
    rates = [sum(copied[start : start + 10]) / 10 for start in range(0, len(copied) - 9, 10)]
    steps = ["up" if later > earlier else "down" for earlier, later in pairwise(rates) if abs(later - earlier) >= 0.3]
    assert steps[:3] == ["up", "down", "up"], rates
