"""`stream-dedup dedup`: verdicts without a broker."""

import json
from pathlib import Path

import pytest

from stream_dedup.app.cli import run_cli
from stream_dedup.errors import SettingsError

STORY = (
    "Heavy rain flooded the valley on Monday and hundreds of people had to leave their homes, officials said. The "
    "river rose by four metres within a few hours, broke through a dam near the old mill and carried away two "
    "bridges. Nobody was hurt. Firefighters from the neighbouring towns helped to fill sandbags through the "
    "night, while a school and a church took in those who could not return. The water is expected to fall from "
    "Wednesday on, when the rain moves east."
)
OTHER = "A completely different story about the price of copper, which rose sharply in London trading on Thursday."
KEYS = [
    "id",
    "verdict",
    "kind",
    "original_id",
    "distance",
    "similarity",
    "sequence",
    "position",
    "reason",
    "veto",
    "veto_original_id",
]


def write(path: Path, *lines: object) -> str:
    """A file with a line for each; texts as they are, others as JSON."""
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return str(path)


def test_every_line_gets_its_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object a line, all keys in order; a bad line is rejected, the rest goes on, and the command ends with 1."""
    first = write(
        tmp_path / "1.jsonl", {"id": "a", "text": STORY}, "{broken", {"text": OTHER}, "", {"id": 7, "text": ""}
    )
    second = write(
        tmp_path / "2.jsonl", {"id": "b", "text": STORY.upper()}, {"id": "a", "text": STORY.replace("Nobody", "No one")}
    )
    assert run_cli(["dedup", first, second]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(list(line) == KEYS for line in lines)
    assert [(line["id"], line["kind"], line["original_id"]) for line in lines] == [
        ("a", "new", None),
        (f"{first}:2", "unreadable", None),
        (f"{first}:3", "new", None),
        ("7", "unfingerprintable", None),
        ("b", "exact", "a"),
        ("a", "revision", "a"),
    ]
    assert [line["sequence"] for line in lines] == list(range(6))
    assert lines[4]["position"] == f"{second}:1"
    assert (lines[4]["distance"], lines[4]["similarity"]) == (0, 1.0)
    assert "JSON" in lines[1]["reason"]


def test_a_window_counts_in_the_time_of_the_articles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a window, a copy after it is new; without one it is a duplicate for ever."""
    days = [{"text": f"{OTHER} Day {day}: {day * 'and so on '}", "date": f"2024-01-{day:02}"} for day in range(1, 9)]
    file = write(tmp_path / "a", {"text": STORY, "date": "2024-01-01"}, *days, {"text": STORY, "date": "2024-01-09"})
    kinds = []
    for options in ([], ["--window", "72h"]):
        assert run_cli(["dedup", "--time-field", "date", *options, file]) == 0
        kinds.append(json.loads(capsys.readouterr().out.splitlines()[-1])["kind"])
    assert kinds == ["exact", "new"]


def test_a_window_without_times_is_said_to_be_without_effect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An option that can do nothing is not taken in silence."""
    assert run_cli(["dedup", "--window", "72h", write(tmp_path / "a", {"text": STORY})]) == 0
    assert "no effect without --time-field" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "kind", "veto"), [([], "new", "1 of 2 numbers replaced"), (["--no-vetoes"], "near", None)]
)
def test_vetoes_are_a_switch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], kind: str, veto: str | None
) -> None:
    """Replaced facts keep an article unless the switch is off, and the line says which and from whom."""
    notice = (
        "The water works close the main in Mill Street from {} to 14 o'clock on Thursday; please keep all taps closed "
        "until then. The water may be cloudy for a short time after the work, which does no harm; let it run until it "
        "is clear again. Anyone who needs water in the meantime finds a tank wagon beside the old market hall, and "
        "those who cannot walk so far may ring the office, which will bring some to the door. The council thanks "
        "everyone for their patience."
    )
    path = write(tmp_path / "1.jsonl", {"id": "a", "text": notice.format(7)}, {"id": "b", "text": notice.format(16)})
    run_cli(["dedup", *options, path])
    line = json.loads(capsys.readouterr().out.splitlines()[1])
    assert (line["kind"], line["veto"]) == (kind, veto)
    assert (line["veto_original_id"] == "a") == (veto is not None)


@pytest.mark.parametrize("name", ["strict", "balanced", "thorough", "full-tf", "tfidf-top20", "minhash"])
def test_every_profile_finds_a_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Whatever the profile, an edited copy is near and another story new."""
    file = write(tmp_path / "a", {"text": STORY}, {"text": OTHER}, {"text": STORY + " More soon."})
    assert run_cli(["dedup", "--profile", name, file]) == 0
    assert [json.loads(line)["kind"] for line in capsys.readouterr().out.splitlines()] == ["new", "new", "near"]


def test_radius_and_threshold_can_be_overridden(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A copy that the profile finds is new at a threshold that it does not reach; a wrong radius is refused."""
    file = write(tmp_path / "a", {"text": STORY}, {"text": STORY.replace("Nobody", "No one") + " More soon."})
    kinds = []
    for options in (["--radius", "7"], ["--radius", "7", "--threshold", "0.99"]):
        assert run_cli(["dedup", *options, file]) == 0
        kinds.append(json.loads(capsys.readouterr().out.splitlines()[-1])["kind"])
    assert kinds == ["near", "new"]
    assert run_cli(["dedup", "--profile", "minhash", "--radius", "1", file]) == SettingsError.exit_code
    assert "equal bands" in capsys.readouterr().err
