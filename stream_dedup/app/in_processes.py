"""A function over batches in as many processes as there are cores, its results in the order of the batches."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice
from typing import TypeVar

from stream_dedup.errors import StreamDedupError

FEW = 2
"""Batches up to which the work is done here: processes take a second to start."""
AHEAD = 2
"""Batches for each process that wait or are worked on: the next is there when one is done, and memory stays bounded."""
Argument = TypeVar("Argument")
Result = TypeVar("Result")


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each_in_order(
    task: Callable[[Argument], Result], arguments: Iterable[Argument], processes: int
) -> Generator[tuple[Argument, Result]]:
    """Each argument with what the task makes of it; close the iterator to end the processes before its end.

    Args:
        task: a function of a module, or a partial of one, that can be pickled.
        arguments: taken as they are needed, a few ahead.
        processes: how many; with 1, or few arguments, the work is done in this one.

    Raises:
        StreamDedupError: a process was killed.
    """
    remaining = iter(arguments)
    first = list(islice(remaining, FEW + 1))
    if processes == 1 or len(first) <= FEW:
        for argument in chain(first, remaining):
            yield argument, task(argument)
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _end_with_parent)
    waiting: deque[tuple[Argument, Future[Result]]] = deque()
    try:
        for argument in chain(first, remaining):
            with _interrupts_held_back():  # each of the first ones may start a process
                waiting.append((argument, pool.submit(task, argument)))
            if len(waiting) >= AHEAD * processes:
                done, future = waiting.popleft()
                yield done, future.result()
        for done, future in waiting:
            yield done, future.result()
    except BrokenProcessPool as error:
        raise StreamDedupError(
            f"one of {processes} processes was killed, perhaps for want of memory: use fewer with --processes"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Processes started here do not get Ctrl-C, which goes to the whole group: this one gets it, and ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, however it went."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent.join,), daemon=True).start()


def _end_after(wait: Callable[[], None]) -> None:
    wait()
    os._exit(1)
