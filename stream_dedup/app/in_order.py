"""Puts verdicts that come from several partitions into the order of their sequence."""

import heapq
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar


class Sequenced(Protocol):
    """Anything with a place in the total order."""

    @property
    def sequence(self) -> int:
        """From 0, each number once."""
        ...


V = TypeVar("V", bound=Sequenced)
HELD_AT_MOST = 100_000
"""Verdicts that wait for an earlier one: some 50 MB. Beyond it the order gives way to memory."""
PATIENCE = 1.0
"""Seconds that a verdict waits for an earlier one although all partitions are read to their ends: a transaction becomes
visible on each partition by a marker of its own."""


@dataclass(order=True, slots=True)
class _Held(Generic[V]):
    sequence: int
    since: float = field(compare=False)
    verdict: V = field(compare=False)


class InOrder(Generic[V]):
    """Holds back what comes before its turn, as long as the missing one can still come.

    On each partition sequences rise. So a missing one will not come any more when every partition has either shown a
    later one, or is at its end and stays so for a while: it has been deleted, or was there before we began.
    """

    def __init__(self, partitions: Collection[object], expected: int | None) -> None:
        """Begin.

        Args:
            partitions: all that verdicts come from.
            expected: the sequence to begin with, None where it is not known.
        """
        self._newest = dict.fromkeys(partitions, -1)
        self._expected = -1 if expected is None else expected
        self._held: list[_Held[V]] = []

    def add(self, partition: object, verdict: V, now: float) -> None:
        """Take what a partition brings; `now` is monotonic time in seconds."""
        self._newest[partition] = max(self._newest.get(partition, -1), verdict.sequence)
        heapq.heappush(self._held, _Held(verdict.sequence, now, verdict))

    def ready(self, ended: Collection[object], now: float) -> Iterator[V]:
        """What can be shown now.

        Args:
            ended: partitions that are read to their end at this moment.
            now: monotonic time in seconds.
        """
        while self._held and self._may_show(ended, now):
            held = heapq.heappop(self._held)
            self._expected = max(self._expected, held.sequence + 1)
            yield held.verdict

    def rest(self) -> Iterator[V]:
        """Everything that is still held, in order, when nothing more is awaited."""
        while self._held:
            yield heapq.heappop(self._held).verdict

    def _may_show(self, ended: Collection[object], now: float) -> bool:
        first = self._held[0]
        if first.sequence <= self._expected or len(self._held) > HELD_AT_MOST:
            return True
        behind = [partition for partition, newest in self._newest.items() if newest < first.sequence]
        if not all(partition in ended for partition in behind):
            return False
        return not behind or now - first.since >= PATIENCE
