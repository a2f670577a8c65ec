"""The supervisor runs a program and ends it with its parent."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import pytest

from stream_dedup.kafka import supervisor

STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"
WILLING = "import signal; print('up', flush=True); signal.pause()"


def command(program: str, parent: int, grace: float) -> list[str]:
    """A supervisor's command line."""
    return [sys.executable, "-I", supervisor.__file__, str(parent), str(grace), sys.executable, "-c", program]


@contextmanager
def supervised(program: str, parent: int, grace: float = 60) -> Iterator[subprocess.Popen[str]]:
    """A supervisor with its program, both ended at the end whatever they do."""
    with subprocess.Popen(
        command(program, parent, grace), stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def first_line(process: subprocess.Popen[str]) -> str:
    """What the program printed first: it is up."""
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.parametrize("code", [0, 3])
def test_the_exit_code_is_the_programs(code: int) -> None:
    """A program that ends by itself ends the supervisor with its code."""
    with supervised(f"raise SystemExit({code})", os.getpid()) as process:
        assert process.wait(60) == code


@pytest.mark.parametrize(
    ("program", "grace", "code"), [(WILLING, 60, -signal.SIGTERM), (STUBBORN, 0.1, -signal.SIGKILL)]
)
def test_sigterm_ends_the_program_by_force_after_the_grace(program: str, grace: float, code: int) -> None:
    """SIGTERM goes on to the program; one that does not heed it is killed."""
    with supervised(program, os.getpid(), grace) as process:
        assert first_line(process) == "up\n"
        process.terminate()
        assert process.wait(60) == code % 256


def test_a_program_whose_parent_is_gone_is_ended() -> None:
    """A parent that died, even before the supervisor looked, takes the program with it."""
    gone: Sequence[str] = [sys.executable, "-c", "pass"]
    with subprocess.Popen(gone) as parent:
        parent.wait(60)
    with supervised(WILLING, parent.pid) as process:
        assert process.wait(60) == -signal.SIGTERM % 256
