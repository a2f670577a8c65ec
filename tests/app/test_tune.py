"""`stream-dedup tune`: what profiles would merge in a sample without labels."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.app.tune import AS_GOOD, TOLERATED, Merges, advise
from tests.app.archives import EDITED, OTHER, STORY, printed, story, write_lines

HALF = STORY[:150] + " ".join(f"other{number} word{number}" for number in range(30))
NEARLY = EDITED.replace("Nobody was hurt.", "Three were hurt, one of them badly.").replace("Monday", "Tuesday night")
SAMPLE = [
    {"id": "a", "text": STORY},
    {"id": "b", "text": EDITED},
    {"id": "c", "text": OTHER},
    {"id": "d", "text": OTHER.upper()},
    {"id": "e\x1b[2J", "text": NEARLY},
    {"id": "f", "text": HALF},
    {"id": "g", "text": story(1)},
]


def test_what_a_profile_merges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts by exact similarity, the least similar merged pair, the most similar one left apart, and advice."""
    file = write_lines(tmp_path / "a.jsonl", *SAMPLE)
    found = json.loads(printed(["tune", file, "--profile", "strict", "--json"], capsys))
    (strict,) = found["profiles"]
    assert (strict["articles"], strict["duplicates"], strict["share"]) == (7, 2, round(2 / 7, 4))
    assert (strict["exact"], strict["jaccard_70"], strict["jaccard_30_70"], strict["jaccard_below_30"]) == (1, 1, 0, 0)
    (above,) = strict["above"]
    assert (above["original"], above["article"], above["original_text"]) == ("a", "b", STORY[:240])
    assert above["jaccard"] > 0.9
    (below,) = strict["below"]
    assert (below["original"], below["article"]) == ("a", "e\x1b[2J")
    assert below["jaccard"] < above["jaccard"]
    assert found["advice"]["profile"] == "strict"


def test_what_people_see(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Figures, both sides of the border, and the advice with its reason; nothing that a terminal would act on."""
    shown = printed(["tune", write_lines(tmp_path / "a.jsonl", *SAMPLE), "--profile", "strict"], capsys)
    assert "strict: just merged" in shown
    assert "strict: just left apart" in shown
    assert "Take strict: it finds 2 of" in shown
    assert "e\\x1b[2J" in shown
    assert "\x1b" not in shown


def test_a_sample_without_reposts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to tell profiles apart by: the advice says so."""
    shown = printed(["tune", write_lines(tmp_path / "a.jsonl", {"text": STORY}, {"text": OTHER})], capsys)
    assert "no profile finds a repost" in shown
    assert "just merged" not in shown


def merges(profile: str, bands: tuple[int, int, int], left: int, speed: int) -> Merges:
    """What a profile made of a sample."""
    return Merges(profile, 1000, 0, bands, left, speed, (), ())


@pytest.mark.parametrize(
    ("tried", "chosen", "told"),
    [
        pytest.param(
            [merges("few", (50, 0, 0), 50, 9), merges("most", (99, 0, 0), 1, 1)], "most", "99 of 100", id="more"
        ),
        pytest.param(
            [merges("few", (99, 0, 0), 1, 9), merges("most", (100, 0, 0), 0, 1)], "few", "1 more", id="as good"
        ),
        pytest.param([merges("few", (50, 0, 0), 50, 9), merges("most", (96, 0, 4), 4, 9)], "few", "4.0%", id="unlike"),
        pytest.param(
            [merges("bad", (5, 0, 5), 5, 1), merges("worse", (9, 0, 99), 1, 9)], "bad", "91.7%", id="none sound"
        ),
        pytest.param(
            [merges("few", (0, 0, 0), 0, 1), merges("most", (0, 0, 0), 0, 9)], "most", "no profile", id="none"
        ),
    ],
)
def test_advice(tried: list[Merges], chosen: str, told: str) -> None:
    """Most reposts without unlike texts; of two as good the faster one; the reason has the figures."""
    advice = advise(tried)
    assert advice.profile == chosen
    assert told in advice.reason


COUNTS = st.integers(0, 50)


@given(
    tried=st.lists(
        st.builds(merges, st.uuids().map(str), st.tuples(COUNTS, COUNTS, COUNTS), COUNTS, COUNTS), min_size=1
    )
)
def test_advice_is_sound(tried: list[Merges]) -> None:
    """The chosen one merges unlike texts no more than is tolerated, or than the best does; it finds nearly the most."""
    chosen = next(one for one in tried if one.profile == advise(tried).profile)
    limit = max(TOLERATED, min(one.unlike_share for one in tried))
    assert chosen.unlike_share <= limit
    reposts = max(one.reposts + one.reposts_left for one in tried)
    assert all(one.reposts - chosen.reposts <= AS_GOOD * reposts for one in tried if one.unlike_share <= limit)
