"""Runs a program and ends it when the process that started it is gone, however that ended.

    python supervisor.py PARENT_PID GRACE_SECONDS PROGRAM [ARGUMENT ...]

It needs nothing but the standard library. It watches its parent's process id, which works on Linux and macOS and
whatever thread started it (PR_SET_PDEATHSIG is Linux alone and fires when the starting thread ends; a pipe stays open
when the parent has forked).
"""

import os
import signal
import subprocess
import sys
from types import FrameType

POLL_SECONDS = 0.2
"""How often the parent is looked for."""


def main() -> int:
    """Run, watch, end; the exit code is the program's."""
    parent, grace, *command = sys.argv[1:]
    told = False

    def end(_signal: int, _frame: FrameType | None) -> None:
        nonlocal told
        told = True

    signal.signal(signal.SIGTERM, end)
    # Open files are passed on: the program holds the data folder's lock as long as it lives.
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, close_fds=False)  # noqa: S603 (its task)
    while not told and os.getppid() == int(parent):
        try:
            return program.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            continue
    program.terminate()
    try:
        return program.wait(float(grace))
    except subprocess.TimeoutExpired:
        program.kill()
        return program.wait()


if __name__ == "__main__":
    sys.exit(main())
