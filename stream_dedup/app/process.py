"""How a process of this project runs and ends: Ctrl-C and SIGTERM close everything in order, worker processes too."""

import asyncio
import multiprocessing
import multiprocessing.process
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
LONGEST_ERROR = 1000
"""Characters of an error's line."""

log = structlog.get_logger(__name__)


def run_main(main: Coroutine[None, None, None]) -> None:
    """Run to the end; SIGTERM cancels as Ctrl-C does, but counts as a proper end. The first of them decides.

    Raises:
        KeyboardInterrupt: Ctrl-C, after everything was closed.
    """
    asyncio.run(_until_terminated(main))


async def _until_terminated(main: Coroutine[None, None, None]) -> None:
    task = asyncio.create_task(main)

    def terminate() -> None:
        # Only the first signal cancels: another cancellation would break off what is closing already.
        if not task.cancelling():
            task.cancel()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, terminate)
    parent = multiprocessing.process.parent_process()
    if parent is not None:
        # The sentinel becomes readable when the parent is gone, however it ended.
        loop.add_reader(parent.sentinel, _once(loop, parent.sentinel, terminate))
    interrupted: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:  # Ctrl-C
            if not task.cancelling():
                interrupted = error
                task.cancel()
    if not task.cancelled():
        task.result()
    if interrupted is not None:
        raise interrupted


def _once(loop: asyncio.AbstractEventLoop, descriptor: int, call: Callable[[], None]) -> Callable[[], None]:
    def called() -> None:
        loop.remove_reader(descriptor)
        call()

    return called


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
