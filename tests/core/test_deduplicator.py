"""The library, with the scheme that people get."""

import doctest
import json
from dataclasses import replace
from pathlib import Path

import pytest

from stream_dedup.core import deduplicator
from stream_dedup.core.article import Article
from stream_dedup.core.deduplicator import Deduplicator
from stream_dedup.core.scheme import profile
from stream_dedup.core.verdict import Kind
from stream_dedup.errors import SettingsError

FLOOD = (
    "Heavy rain flooded the lower town on Monday, and the mayor asked everyone to stay at home until further notice."
)
VOTE = "Parliament voted on the new budget after a debate of eleven hours, and adopted it with a majority of two."
HAN = "国务院总理周一主持召开国务院常务会议，部署进一步做好防汛抗旱和抢险救灾工作，确保人民群众生命财产安全。"
ARTICLES = [
    Article("a", FLOOD, 0),
    Article("b", VOTE, 1),
    Article("c", FLOOD.upper(), 2),
    Article(None, HAN, 3),
    Article(None, HAN.replace("，", " "), 4),
    Article(None, "Rain.", 5),
    Article(None, " \n", 6),
    Article("a", FLOOD, 500),
]
CASES = Path(__file__).parents[1] / "cases"
KINDS = ["new", "new", "exact", "new", "exact", "unfingerprintable", "unfingerprintable", "exact"]


def test_the_example_is_true() -> None:
    """What the docstring shows happens."""
    result = doctest.testmod(deduplicator)
    assert result.attempted > 0
    assert result.failed == 0


def test_one_by_one_and_many_give_the_same_judgements() -> None:
    """Whatever way articles are handed over."""
    together, single = Deduplicator(profile("strict")), Deduplicator(profile("strict"))
    judgements = together.check_many(iter(ARTICLES))
    assert [judgement.kind for judgement in judgements] == KINDS
    assert judgements == [single.check(one.text, id=one.id, time=one.time or 0) for one in ARTICLES]


def test_batches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """More articles than a batch takes are decided in several, with the same judgements."""
    whole = Deduplicator(profile("strict")).check_many(ARTICLES)
    monkeypatch.setattr(deduplicator, "BATCH", 3)
    assert Deduplicator(profile("strict")).check_many(ARTICLES) == whole


def test_an_article_without_an_id_is_named_by_its_place() -> None:
    """So that a duplicate can say what it repeats."""
    judgement = Deduplicator(profile("strict")).check_many(ARTICLES)[4]
    assert judgement.original is not None
    assert judgement.original.id == "article-3"


def test_the_limits_are_those_given() -> None:
    """Window, entries, words and revisions reach the decider."""
    clock = [Article(None, "Rain.", 1000)] * 5
    windowed = Deduplicator(profile("strict"), window=100)
    assert windowed.check_many([ARTICLES[0], *clock, ARTICLES[2]])[-1].kind is Kind.LATE
    small = Deduplicator(profile("strict"), max_entries=1)
    assert small.check_many([ARTICLES[0], ARTICLES[1], ARTICLES[2]])[-1].kind is Kind.NEW
    assert Deduplicator(profile("strict"), min_words=1).check("Rain.").kind is Kind.NEW
    with pytest.raises(SettingsError, match="least number of words is 0"):
        Deduplicator(profile("strict"), min_words=0)


def duplicates(name: str, *, vetoes: bool) -> tuple[int, int]:
    """How many of a file's articles repeat one of their own group, within 7 bits, and how many there are."""
    lines = [json.loads(line) for line in (CASES / name).read_text(encoding="utf-8").splitlines()]
    groups = {line["id"]: line["group"] for line in lines}
    deduplicator = Deduplicator(replace(profile("strict"), radius=7), vetoes=vetoes)
    judgements = deduplicator.check_many(Article(line["id"], line["text"]) for line in lines)
    originals = [judgement.original for judgement in judgements]
    found = [groups[line["id"]] == groups[one.id] for line, one in zip(lines, originals, strict=True) if one]
    assert all(found)
    return len(found), len(lines)


@pytest.mark.parametrize("name", ["twins.jsonl", "apart.jsonl"])
def test_bulletins_of_one_template_are_no_duplicates(name: str) -> None:
    """None of them, in a wide net too."""
    assert duplicates(name, vetoes=True)[0] == 0


def test_it_is_the_veto_that_keeps_twins_apart() -> None:
    """Without it most of those that are not the first of their four are duplicates."""
    found, articles = duplicates("twins.jsonl", vetoes=False)
    assert found > articles * 3 / 4 * 0.7


def test_vetoes_cost_no_edit() -> None:
    """Each edit that is found without them is found with them."""
    found, _ = duplicates("edits.jsonl", vetoes=True)
    assert found == duplicates("edits.jsonl", vetoes=False)[0] > 0
