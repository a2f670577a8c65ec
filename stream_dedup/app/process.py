"""How a process of this project runs and ends: Ctrl-C and SIGTERM close everything in order, worker processes too."""

import asyncio
import multiprocessing
import multiprocessing.process
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import NoReturn

import structlog

from stream_dedup.app.plain_text import plain
from stream_dedup.errors import StreamDedupError

EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""
EXIT_UNEXPECTED = 1
AT_ONCE = 0.5
"""Seconds after a second signal for what does not wait for anybody, such as deleting files; then the process ends."""
LONGEST_ERROR = 1000
"""Characters of an error's line."""

log = structlog.get_logger(__name__)


def run_main(main: Coroutine[None, None, None]) -> None:
    """Run to the end; SIGTERM cancels as Ctrl-C does, but counts as a proper end. The first of them decides.

    A second one ends the process at once, with 128 + its number: nobody is waited for any more. A child process leaves
    that to its parent, which kills it: the signals that it sees may be one, sent to all processes of a group or service
    and passed on by the parent.

    Raises:
        KeyboardInterrupt: Ctrl-C, after everything was closed.
    """
    if asyncio.run(_until_told(main)) is signal.SIGINT:
        raise KeyboardInterrupt


async def _until_told(main: Coroutine[None, None, None]) -> signal.Signals | None:
    """The signal that ended it; None where it ended by itself."""
    task = asyncio.create_task(main)
    told: list[signal.Signals] = []
    loop = asyncio.get_running_loop()
    parent = multiprocessing.process.parent_process()

    def end(by: signal.Signals) -> None:
        # asyncio's own handler would raise KeyboardInterrupt at the second Ctrl-C wherever the process is, in a
        # clean-up too. Another cancellation breaks off what is waited for, and what is left is cleaned up.
        told.append(by)
        if len(told) == 1 or parent is None:
            task.cancel()
        if len(told) == 2 and parent is None:  # noqa: PLR2004 - the second one
            loop.call_later(AT_ONCE, _end_at_once, by)

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, end, each)
    if parent is not None:
        # The sentinel becomes readable when the parent is gone, however it ended.
        loop.add_reader(parent.sentinel, _once(loop, parent.sentinel, lambda: end(signal.SIGTERM)))
    await asyncio.wait({task})
    if not (told and task.cancelled()):
        task.result()
    return told[0] if told else None


def _end_at_once(by: signal.Signals) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(128 + by)


def _once(loop: asyncio.AbstractEventLoop, descriptor: int, call: Callable[[], None]) -> Callable[[], None]:
    def called() -> None:
        loop.remove_reader(descriptor)
        call()

    return called


async def first_of(*works: Coroutine[None, None, None]) -> None:
    """Do things side by side until one of them ends, which ends the others; an error of any of them is raised."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ended = [task for task in tasks if task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in ended:
        task.result()


def end_child(work: Callable[[], None]) -> NoReturn:
    """The whole life of a child process: its errors become one line on stderr and its exit code."""
    try:
        work()
    except StreamDedupError as error:
        print(f"stream-dedup: {plain(str(error), LONGEST_ERROR)}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except Exception:
        log.exception("a worker process ends")
        sys.exit(EXIT_UNEXPECTED)
    sys.exit(0)
