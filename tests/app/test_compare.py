"""`stream-dedup compare`: why two texts are called the same or not."""

import json
from pathlib import Path

import pytest

from stream_dedup.app.cli import run_cli
from stream_dedup.core.recipes import PROFILES
from tests.app.archives import EDITED, OTHER, STORY, printed, write_lines

REPOST = EDITED.replace("Nobody was hurt.", "Nobody was hurt. This line is new.")


def command(left: str, right: str) -> list[str]:
    """Compare two texts by the profile strict, for programs."""
    return ["compare", "--text", left, right, "--profile", "strict", "--json"]


def test_two_texts_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """Words, fingerprints, similarity, sentences, and the verdict with its reason."""
    found = json.loads(printed(command(STORY, EDITED), capsys))
    (strict,) = found["profiles"]
    assert (strict["verdict"]["kind"], strict["verdict"]["original_id"]) == ("near", "A")
    assert "within the radius of 3" in strict["why"]
    (pair,) = strict["fingerprints"]
    assert int(pair["differing"], 16) == int(pair["a"], 16) ^ int(pair["b"], 16)
    assert pair["distance"] == int(pair["differing"], 16).bit_count() == strict["distance"]
    assert {"word": "residents", "left": 0.0, "right": 1.0} in strict["words"]
    assert [len(found["sentences"][side]) for side in ("removed", "added")] == [1, 1]


@pytest.mark.parametrize(
    ("left", "right", "kind", "why"),
    [
        (STORY, STORY.upper(), "exact", "nothing but case"),
        (STORY, OTHER, "new", "beyond the radius of 3; the estimated Jaccard"),
        (STORY, "Rain.", "unfingerprintable", "1 words are too few to compare, 8 are needed"),
        ("Rain.", STORY, "new", "1 words are too few to compare"),
        ("", "", "unfingerprintable", "0 words"),
    ],
)
def test_why(left: str, right: str, kind: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence with the numbers that decided."""
    (strict,) = json.loads(printed(command(left, right), capsys))["profiles"]
    assert strict["verdict"]["kind"] == kind
    assert why in strict["why"]


def test_what_people_see(capsys: pytest.CaptureFixture[str]) -> None:
    """Every profile's verdict, bits with marks, words by where they stand, changed sentences; plain in a pipe."""
    shown = printed(["compare", "--text", STORY, REPOST], capsys)
    lines = shown.splitlines()
    assert [line.split()[0] for line in lines if line.startswith(tuple(f"  {name} " for name in PROFILES))] == list(
        PROFILES
    )
    first = next(number for number, line in enumerate(lines) if line.startswith("fingerprint 1"))
    ours, theirs, marks = lines[first + 1 : first + 4]
    for place in range(2, 2 + 64 + 3):
        assert (ours[place] != theirs[place]) == (marks[place : place + 1] == "^")
    assert any("only in B" in line and "residents" in line for line in lines)
    assert any(line.startswith("+ This line is new.") for line in lines)
    assert "\x1b" not in shown


def test_nothing_hostile_reaches_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Control and bidi characters in texts and names are shown as escapes, and markup is not taken as such."""
    shown = printed(["compare", "--text", f"{STORY} \x1b[2J\u202e[red]x[/red]", f"{OTHER} \x07\x9b"], capsys)
    assert "\\x1b[2J\\u202e[red]x[/red]" in shown
    assert {"\x1b", "\x07", "\x9b", "\u202e"}.isdisjoint(shown)


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A .json file holds one article, another file is a text."""
    left = write_lines(tmp_path / "a.json", {"id": 1, "content": STORY})
    right = write_lines(tmp_path / "b.txt", EDITED)
    found = json.loads(printed(["compare", left, right, "--json"], capsys))
    assert (found["a"], found["b"]) == (left, right)
    assert found["profiles"][0]["verdict"]["kind"] == "near"


def test_ids_of_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two articles of an archive by their ids, or by the positions of those without."""
    file = write_lines(
        tmp_path / "a.jsonl", {"id": "x", "text": STORY}, "broken", {"text": EDITED}, {"id": "y", "text": ""}
    )
    found = json.loads(printed(["compare", "x", f"{file}:3", "--in", file, "--json"], capsys))
    assert found["profiles"][0]["verdict"]["kind"] == "near"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["compare", "missing.txt", "missing.txt"], 1, "missing.txt"),
        (["compare", "x", "z", "--in", "{}"], 1, "has no article z"),
        (["compare", "{}", "{}"], 1, "holds no single article"),
        (["compare", "a", "b", "--text", "--in", "{}"], 2, "choose one"),
        (["compare", "a", "b", "--text", "--profile", "loose"], 2, "there is no profile loose"),
    ],
)
def test_errors_are_one_line(
    arguments: list[str], code: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong, and what to do."""
    file = write_lines(tmp_path / "a.jsonl", {"id": "x", "text": STORY}, {"id": "y", "text": OTHER})
    assert run_cli([argument.format(file) for argument in arguments]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
