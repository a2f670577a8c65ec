"""The command line: help, usage, errors and exit codes."""

import subprocess
import sys

import click
import pytest

from stream_dedup import errors
from stream_dedup.app import dedup
from stream_dedup.app.cli import cli, run_cli
from stream_dedup.app.options import command_variables
from stream_dedup.errors import StreamDedupError


def commands(group: click.Group = cli, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The paths of all commands that do something."""
    found = []
    for name, command in group.commands.items():
        found += commands(command, (*path, name)) if isinstance(command, click.Group) else [(*path, name)]
    return found


@pytest.mark.parametrize("path", commands())
def test_every_command_explains_itself(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Help has examples, and names a variable for every option."""
    assert run_cli([*path, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Examples:" in shown
    assert f"stream-dedup {' '.join(path)}" in shown
    options = shown.split("Options:")[1].split("--help")[0]
    assert options.count("STREAM_DEDUP_") == options.count("\n  --")


def test_the_list_of_commands_is_whole(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command is told in few enough words for a narrow terminal."""
    monkeypatch.setenv("COLUMNS", "60")
    for arguments in (["--help"], ["topics", "--help"]):
        assert run_cli(arguments) == 0
        assert "..." not in capsys.readouterr().out.split("Commands:")[1]


def test_help_loads_no_kafka_and_no_dictionary() -> None:
    """What makes a command slow to start is loaded by those who need it."""
    code = "import sys; from stream_dedup.app.cli import run_cli; run_cli(['--help']); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert {"aiokafka", "faust", "numpy", "jieba", "rjieba", "rich", "structlog"} & set(run.stdout.split()) == set()


def test_options_have_variables_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of options count as known, and set the option."""
    assert "STREAM_DEDUP_WATCH_IDLE_EXIT" in command_variables(cli)
    monkeypatch.setenv("STREAM_DEDUP_DEDUP_WINDOW", "never")
    assert run_cli(["dedup", "-"]) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["dedup"], "Missing argument 'FILE...'"),
        (["run", "--workers", "0"], "--workers"),
        (["dedup", "--window", "3 days", "-"], "72h"),
        (["publis"], "publis"),
        (["publish", "/no/such/file"], "/no/such/file"),
        (["dedup", "-", "/no/such/file"], "/no/such/file"),
        (["publish", "/"], "is a directory"),
        (["watch", "--idle-exit", "-1"], "--idle-exit"),
    ],
)
def test_wrong_usage_is_told_in_one_line(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line on stderr that says where the help is, and exit code 2."""
    assert run_cli(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert "--help" in line


ERRORS = [error for error in vars(errors).values() if isinstance(error, type) and issubclass(error, StreamDedupError)]


@pytest.mark.parametrize("error", [*(each("3 of 4\x1b[2J\nhere") for each in ERRORS), ZeroDivisionError("why")])
def test_an_error_ends_with_one_line_and_its_code(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback, nothing that a terminal would act on, and the error's own exit code."""

    def fail(*_arguments: object) -> int:
        raise error

    monkeypatch.setattr(dedup, "dedup_files", fail)
    assert run_cli(["dedup", "-"]) == (error.exit_code if isinstance(error, StreamDedupError) else 1)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("stream-dedup: ")
    assert line.isprintable()


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """With --debug an error comes as it is."""

    def fail(*_arguments: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(dedup, "dedup_files", fail)
    with pytest.raises(ZeroDivisionError):
        run_cli(["--debug", "dedup", "-"])


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """As shells have it."""

    def interrupt(*_arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(dedup, "dedup_files", interrupt)
    assert run_cli(["dedup", "-"]) == 130
