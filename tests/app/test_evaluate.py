"""`stream-dedup evaluate`: figures on articles whose reposts are known."""

import json
from pathlib import Path

import pytest

from stream_dedup.app.cli import run_cli
from stream_dedup.core.recipes import PROFILES
from tests.app.archives import EDITED, OTHER, STORY, printed, story, write_lines

ARTICLES = [
    {"id": "a", "text": STORY},
    {"id": "b", "text": EDITED},
    {"id": "c", "text": OTHER},
    {"id": "d", "text": STORY.upper()},
    {"id": "e", "text": story(1)},
]
PAIRS = [
    "id1\tid2\tjaccard\tcontainment",
    "a\tb\t0.94\t1",
    "c\te\t0.75\t1",
    "a\td\t1\t1",
    "b\td\t0.94\t1",
    "gone\ta\t1\t1",
]
LABELS = ["id1\tid2\tlabel", "a\td\tdifferent"]
STRICT = {
    "profile": "strict",
    "articles": 5,
    "missed_90": 0,
    "of_90": 2,
    "recall_90": 1.0,
    "missed_70_90": 1,
    "of_70_90": 1,
    "recall_70_90": 0.0,
    "missed_50_70": 0,
    "of_50_70": 0,
    "recall_50_70": None,
    "flagged": 2,
    "false": 0,
    "false_share": 0.0,
    "grey": 0,
}


def files(path: Path) -> list[str]:
    """Articles and pairs."""
    return [write_lines(path / "articles.jsonl", *ARTICLES), write_lines(path / "pairs.tsv", *PAIRS)]


def test_figures_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An object a profile: recall in bands, false share, speed."""
    (figures,) = json.loads(printed(["evaluate", *files(tmp_path), "--profile", "strict", "--json"], capsys))
    assert figures.pop("seconds") >= 0
    assert figures.pop("articles_per_second") > 0
    assert figures == STRICT


def test_labels_make_a_pair_false(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pair labelled different is no repost, and false when it is merged."""
    labels = write_lines(tmp_path / "labels.tsv", *LABELS)
    options = ["--labels", labels, "--profile", "strict", "--json", "--processes", "2"]
    (figures,) = json.loads(printed(["evaluate", *files(tmp_path), *options], capsys))
    assert (figures["false"], figures["false_share"], figures["of_90"]) == (1, 0.5, 2)


def test_all_profiles_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --profile every profile has a row of the table."""
    shown = printed(["evaluate", *files(tmp_path)], capsys)
    rows = [line.split() for line in shown.splitlines() if line.strip().startswith(tuple(PROFILES))]
    assert [row[0] for row in rows] == list(PROFILES)
    strict = rows[list(PROFILES).index("strict")]
    assert strict[:10] == ["strict", "2", "of", "2", "0", "of", "1", "0", "of", "0"]
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        (["a\tb\t0.9"], "line 1: the first line must name the columns id1, id2, jaccard"),
        ([PAIRS[0], "a\tb"], "line 2: it has 2 columns"),
        ([PAIRS[0], "a\tb\tmuch"], "line 2: much is no Jaccard similarity"),
        ([PAIRS[0], "a\tb\tnan"], "line 2: nan is no Jaccard similarity"),
        ([PAIRS[0], "x\ty\t1"], "none of 1 pairs names any of 5 articles"),
    ],
)
def test_wrong_pairs_are_told_of(
    pairs: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the place and what is wrong."""
    articles, _ = files(tmp_path)
    assert run_cli(["evaluate", articles, write_lines(tmp_path / "wrong.tsv", *pairs)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_wrong_labels_are_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only the two labels that have a meaning are taken."""
    labels = write_lines(tmp_path / "labels.tsv", LABELS[0], "a\tb\tsame")
    assert run_cli(["evaluate", *files(tmp_path), "--labels", labels]) == 1
    assert "same is no label; known are different, grey" in capsys.readouterr().err


def test_an_id_must_name_one_article(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pairs name articles by their ids, so that an id that stands twice cannot be scored."""
    articles = write_lines(tmp_path / "a.jsonl", *ARTICLES, ARTICLES[0])
    assert run_cli(["evaluate", articles, files(tmp_path)[1]]) == 1
    assert "id a stands at" in capsys.readouterr().err


def test_an_unknown_profile_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The known ones are named."""
    assert run_cli(["evaluate", *files(tmp_path), "--profile", "loose"]) == 2
    assert ", ".join(PROFILES) in capsys.readouterr().err
