"""What the commands of the long fault tests share: their options, and a line for each case."""

import argparse
import logging
import tempfile
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

SHOWN = 5
"""Differences of one case that are shown."""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for."""

    seeds: Sequence[int]
    logs: Path
    """Folder of the workers' logs."""


def options(description: str, name: str) -> Options:
    """What was asked for on the command line; aiokafka no longer tells of connections that fail."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--logs", type=Path, default=Path(tempfile.gettempdir()) / f"stream-dedup-{name}")
    chosen = parser.parse_args()
    logging.disable()
    chosen.logs.mkdir(parents=True, exist_ok=True)
    return Options(chosen.seeds, chosen.logs)


async def judged(name: str, outcome: Awaitable[Sequence[str]]) -> bool:
    """Whether nothing was wrong with a case; tells it, with the seconds that it took."""
    begun = time.monotonic()
    try:
        found = await outcome
    except TimeoutError:
        found = ["no progress"]
    click.echo(f"{'BAD' if found else 'ok '} {time.monotonic() - begun:5.0f} s  {name}")
    for line in found[:SHOWN]:
        click.echo(f"    {line}")
    return not found
