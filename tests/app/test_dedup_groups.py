"""`stream-dedup dedup --groups`: originals with their duplicates."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from stream_dedup.app import groups
from stream_dedup.app.cli import run_cli
from stream_dedup.core.jaccard import jaccard, shingles
from stream_dedup.core.simhash import HashMemory, xxh3
from tests.app.archives import EDITED, OTHER, STORY, objects, printed, story, write_lines

ROWS = [
    {"id": "z", "text": OTHER},
    {"id": "a", "text": STORY},
    {"id": "c", "text": EDITED},
    {"id": "z2", "text": OTHER.upper()},
    {"id": "d", "text": STORY + "!"},
]


def exact(left: str, right: str) -> float:
    """Their Jaccard similarity, rounded as it is printed."""
    memory = HashMemory(xxh3(0))
    return round(jaccard(shingles(left, memory), shingles(right, memory)), 3)


def test_originals_with_their_duplicates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A group is an original with what repeats it, and the exact similarity of each two; single articles are none."""
    file = write_lines(tmp_path / "a.jsonl", *ROWS, {"id": "alone", "text": "nothing else is like this " * 3})
    first, second = objects(printed(["dedup", "--groups", file], capsys))
    assert first == {
        "group": 0,
        "original": {"id": "z", "position": f"{file}:1"},
        "duplicates": [{"id": "z2", "position": f"{file}:4", "kind": "exact", "distance": 0, "similarity": 1.0}],
        "pairs": [{"a": f"{file}:1", "b": f"{file}:4", "jaccard": 1.0}],
    }
    assert second["original"] == {"id": "a", "position": f"{file}:2"}
    assert isinstance(second["duplicates"], list)
    assert [(one["id"], one["kind"]) for one in second["duplicates"]] == [("c", "near"), ("d", "exact")]
    assert second["pairs"] == [
        {"a": f"{file}:2", "b": f"{file}:3", "jaccard": exact(STORY, EDITED)},
        {"a": f"{file}:2", "b": f"{file}:5", "jaccard": 1.0},
        {"a": f"{file}:3", "b": f"{file}:5", "jaccard": exact(STORY, EDITED)},
    ]
    assert 0.9 < exact(STORY, EDITED) < 1


def test_a_pair_is_a_row_of_a_table(tmp_path: Path) -> None:
    """In Parquet and CSV each pair stands with the ids and positions of both."""
    out = tmp_path / "out.parquet"
    file = write_lines(tmp_path / "a.jsonl", *ROWS)
    assert run_cli(["dedup", "--groups", "--output", str(out), file]) == 0
    assert [(row["group"], row["a"], row["b"], row["jaccard"]) for row in pq.read_table(out).to_pylist()] == [
        (0, "z", "z2", 1.0),
        (1, "a", "c", exact(STORY, EDITED)),
        (1, "a", "d", 1.0),
        (1, "c", "d", exact(STORY, EDITED)),
    ]


def test_a_large_group_is_compared_in_bounded_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beyond a limit articles are compared with the original only: the pairs of n articles grow with its square."""
    monkeypatch.setattr(groups, "COMPARED", 3)
    file = write_lines(tmp_path / "a.jsonl", *[{"text": STORY}] * 6)
    (group,) = objects(printed(["dedup", "--groups", file], capsys))
    assert isinstance(group["pairs"], list)
    places = [tuple(int(pair[side].rsplit(":", 1)[1]) for side in "ab") for pair in group["pairs"]]
    assert places == [(1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (2, 3)]


def test_groups_do_not_depend_on_the_number_of_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Groups come in the order of their originals with the same pairs."""
    texts = [{"text": story(number)} for number in range(1200)]
    file = write_lines(tmp_path / "a.jsonl", *texts, *texts)
    one, two = (printed(["dedup", "--groups", "--processes", number, file], capsys) for number in "12")
    assert one == two
    assert [line["group"] for line in objects(one)] == list(range(1200))


def test_rejected_rows_are_told_of_beside_the_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They stand in no group: each of the first is named with its reason on stderr, the number of all at the end."""
    file = write_lines(tmp_path / "a.jsonl", *ROWS, *["{\x1b[2J"] * 12)
    assert run_cli(["dedup", "--groups", file]) == 1
    out, err = capsys.readouterr()
    assert all(json.loads(line)["pairs"] for line in out.splitlines())
    *rejected, more, counts = err.splitlines()
    assert len(rejected) == 10
    assert rejected[0].startswith(f"rejected {file}:6: ")
    assert "more rejected" in more
    assert counts == "17 articles: 2 unique, 3 duplicate, 12 rejected"


def test_unique_articles_or_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are two outputs."""
    assert run_cli(["dedup", "--keep", "--groups", write_lines(tmp_path / "a", STORY)]) == 2
    assert "choose one" in capsys.readouterr().err
