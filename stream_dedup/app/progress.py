"""A bar on long work, on a terminal only."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

Show: TypeAlias = Callable[[int, int], None]
"""Called with the articles and the share of the work (in the total's unit) that are done."""


@contextlib.contextmanager
def progress(label: str, total: int | None) -> Iterator[Show]:
    """Show how far the work is on stderr, where that is a terminal; the total is None where it is not known."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _articles, _done: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[articles]:,} articles"),
        BarColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=total, articles=0)
        yield lambda articles, done: bar.update(task, completed=done, articles=articles)
