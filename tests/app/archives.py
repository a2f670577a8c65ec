"""Small archives that tests of the offline tools share."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from stream_dedup.app.cli import run_cli

STORY = (
    "Heavy rain flooded the valley on Monday and hundreds of people had to leave their homes, officials said. The "
    "river rose by four metres within a few hours, broke through a dam near the old mill and carried away two "
    "bridges. Nobody was hurt. Firefighters from the neighbouring towns helped to fill sandbags through the "
    "night, while a school and a church took in those who could not return. The water is expected to fall from "
    "Wednesday on, when the rain moves east."
)
EDITED = STORY.replace("hundreds of people", "hundreds of residents")
OTHER = "A completely different story about the price of copper, which rose sharply in London trading on Thursday."
_SUBJECTS = ("copper", "wheat", "the harbour", "a museum", "the old theatre", "two schools", "the railway", "a bakery")


def story(number: int) -> str:
    """One of many articles that share little."""
    words = [f"{_SUBJECTS[(number + step) % len(_SUBJECTS)]} {number * 7919 + step * 104729}" for step in range(12)]
    return f"Report {number}: " + ", then ".join(words) + "."


def write_lines(path: Path, *lines: object) -> str:
    """A file with a line for each; texts as they are, others as JSON."""
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return str(path)


def printed(arguments: Sequence[str], capsys: pytest.CaptureFixture[str], exit_code: int = 0) -> str:
    """What a command prints on the standard output."""
    assert run_cli(list(arguments)) == exit_code
    return capsys.readouterr().out


def objects(output: str) -> list[dict[str, object]]:
    """The JSON lines of an output."""
    return [json.loads(line) for line in output.splitlines()]
