"""Work in several processes: order, equality, and ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stream_dedup.app.archive import decided
from stream_dedup.app.in_processes import AHEAD, FEW, each_in_order
from stream_dedup.app.load_settings import load_settings
from stream_dedup.app.rows import read_rows
from stream_dedup.errors import StreamDedupError
from tests.app.archives import story, write_lines

DEADLINE = 60
"""Seconds; a machine may be slow."""


def double(number: int) -> int:
    """A task."""
    return 2 * number


def killed(_number: int) -> int:
    """A task whose process is killed."""
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


@pytest.mark.parametrize(("count", "processes"), [(0, 2), (1, 1), (FEW, 2), (40, 1), (40, 2)])
def test_results_come_in_order(count: int, processes: int) -> None:
    """Each argument comes with its result, in the order of the arguments, in one process or several."""
    assert list(each_in_order(double, range(count), processes)) == [(number, 2 * number) for number in range(count)]


def test_arguments_are_taken_as_they_are_needed() -> None:
    """Few are taken ahead of the results: that bounds memory."""
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    results = each_in_order(double, numbers(), 2)
    for _ in range(20):
        next(results)
    results.close()
    assert len(taken) <= 20 + AHEAD * 2


def test_a_killed_process_is_told_of() -> None:
    """One sentence says what to do, instead of a wait without end."""
    with pytest.raises(StreamDedupError, match="fewer with --processes"):
        list(each_in_order(killed, range(10), 2))


def test_several_processes_give_the_same_verdicts(tmp_path: Path) -> None:
    """The verdicts on an archive do not depend on how many processes there are."""
    texts = ({"id": number, "text": story(number if number % 3 else number // 2)} for number in range(1800))
    file = write_lines(tmp_path / "a.jsonl", *texts, "broken", {"text": ""})
    settings = load_settings({})
    one, two = (list(decided(settings, read_rows([file], None, 100_000), None, processes)) for processes in (1, 2))
    assert one == two
    assert {outcome.line.kind for outcome in one} == {"new", "exact", "unreadable", "unfingerprintable"}


@pytest.mark.parametrize(
    ("number", "to_group", "exit_code"),
    [
        pytest.param(signal.SIGINT, True, 130, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, False, -signal.SIGTERM, id="TERM"),
        pytest.param(signal.SIGKILL, False, -signal.SIGKILL, id="KILL"),
    ],
)
def test_no_process_is_left_behind(number: int, to_group: bool, exit_code: int, tmp_path: Path) -> None:  # noqa: FBT001
    """However the command ends, its processes end too, and none of them prints a traceback."""
    file = write_lines(tmp_path / "a.jsonl", *({"text": story(number)} for number in range(3000)))
    script = Path(sys.executable).with_name("stream-dedup")
    command = [str(script), "dedup", "--processes", "2", *[file] * 300]
    # Shells let what runs in the background ignore Ctrl-C, and so would the command that is started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        (os.killpg if to_group else os.kill)(running.pid, number)
        assert running.wait(DEADLINE) == exit_code
        assert wait_until_gone(running.pid)
        assert "Traceback" not in running.stderr.read()


def wait_until_gone(group: int) -> bool:
    """Whether all processes of the group end in time."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
