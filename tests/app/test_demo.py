"""When the demo ends."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from stream_dedup.app.demo import show_each
from stream_dedup.app.publish import Published
from stream_dedup.app.verdict_line import VerdictLine
from stream_dedup.app.watch import Shown

DEADLINE = 30
"""Seconds, generous: nothing here waits for more than the event loop."""


def verdict(sequence: int) -> Shown:
    """A verdict on an article of no matter what."""
    line = VerdictLine(f"id-{sequence}", "unique", "new", None, None, None, sequence, f"raw-0-{sequence}", None)
    return Shown(line, "headline")


async def coming(number: int, before_last: asyncio.Event, after_last: asyncio.Event) -> AsyncIterator[Shown]:
    """So many verdicts, the last one when the first event is set; then no more, as from a topic that stands still."""
    for sequence in range(number):
        if sequence == number - 1:
            await before_last.wait()
        yield verdict(sequence)
    after_last.set()
    await asyncio.Event().wait()


@pytest.mark.parametrize("last", ["verdict", "publishing"])
async def test_the_demo_ends_with_the_last_verdict(last: str) -> None:
    """Every verdict is shown, and then it ends, whether the last verdict or the end of publishing comes later."""
    published, shown = Published(), list[Shown]()
    all_sent, all_judged, at_once = asyncio.Event(), asyncio.Event(), asyncio.Event()
    at_once.set()

    async def publish() -> None:
        published.sent = 3
        await (all_judged if last == "publishing" else at_once).wait()
        all_sent.set()

    verdicts = coming(3, at_once if last == "publishing" else all_sent, all_judged)
    async with asyncio.timeout(DEADLINE):
        await show_each(verdicts, asyncio.create_task(publish()), published, shown.append)
    assert [one.sequence for one in shown] == [0, 1, 2]


async def test_the_demo_ends_when_publishing_fails() -> None:
    """A file that cannot be published ends the demo with that error, though no verdict comes."""

    async def publish() -> None:
        raise OSError("no such file")

    never = asyncio.Event()
    async with asyncio.timeout(DEADLINE):
        with pytest.raises(OSError, match="no such file"):
            await show_each(coming(1, never, never), asyncio.create_task(publish()), Published(), list[Shown]().append)
