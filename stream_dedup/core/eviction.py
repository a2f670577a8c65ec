"""The limit on live entries: how many there are, article by article, and which leaves next."""

from collections import deque
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush, merge

import numpy as np

from stream_dedup.core.delta import Entries

TIMES_AT_ONCE = 4096
"""Rows that are looked at in one step for the oldest live entries."""


class Occupancy:
    """Counts live entries while a batch is decided; where the limit is passed, the oldest by sequence leaves."""

    def __init__(
        self,
        max_entries: int,
        evicted_below: int,
        live: int,
        oldest: Iterator[tuple[int, int]],
        expiring: list[tuple[int, int]],
    ) -> None:
        """Start before the batch's first article.

        Args:
            max_entries: the limit.
            evicted_below: entries with a lower sequence have left.
            live: how many entries are live.
            oldest: (sequence, time) of all that are live, ascending; read only as far as entries leave.
            expiring: (time, sequence) of those that the clock passes in the batch.
        """
        self.evicted_below = evicted_below
        self._max_entries = max_entries
        self._live = live
        self._oldest = oldest
        self._kept: deque[tuple[int, int]] = deque()
        self._expiring = expiring
        heapify(self._expiring)

    def keep(self, sequence: int, time: int, horizon: int) -> None:
        """Count an article that is kept while the horizon stands there; `evicted_below` rises if others must leave."""
        while self._expiring and self._expiring[0][0] <= horizon:
            _, expired = heappop(self._expiring)
            self._live -= expired >= self.evicted_below
        heappush(self._expiring, (time, sequence))
        self._kept.append((sequence, time))
        self._live += 1
        while self._live > self._max_entries:
            leaving, left_time = next(self._oldest, None) or self._kept.popleft()
            if left_time > horizon:
                self.evicted_below = leaving + 1
                self._live -= 1


def roomy(max_entries: int, evicted_below: int, held: int) -> Occupancy:
    """Before a batch that cannot reach the limit: all that are held, dead ones too, bound the count from above."""
    return Occupancy(max_entries, evicted_below, held, iter(()), [])


def census(
    max_entries: int, evicted_below: int, schemes: Sequence[Sequence[Entries]], horizons: tuple[int, int]
) -> Occupancy:
    """Before a batch that may reach the limit.

    Args:
        max_entries: the limit.
        evicted_below: entries with a lower sequence have left.
        schemes: each scheme's entries, in order of sequence.
        horizons: before the batch and after it.
    """
    before, after = horizons
    live = 0
    expiring: list[tuple[int, int]] = []
    for entries in (part for parts in schemes for part in parts):
        first = int(np.searchsorted(entries.sequences, evicted_below))
        times = entries.times[first:]
        live += int(np.count_nonzero(times > before))
        if after > before:
            rows = np.flatnonzero((times > before) & (times <= after))
            expiring += zip(times[rows].tolist(), entries.sequences[first + rows].tolist(), strict=True)
    oldest = merge(*(_in_order(parts, before, evicted_below) for parts in schemes))
    return Occupancy(max_entries, evicted_below, live, oldest, expiring)


def _in_order(parts: Sequence[Entries], horizon: int, evicted_below: int) -> Iterator[tuple[int, int]]:
    """(sequence, time) of one scheme's live entries, ascending."""
    for entries in parts:
        standing = int(np.searchsorted(entries.sequences, evicted_below))
        for first in range(standing, len(entries), TIMES_AT_ONCE):
            times = entries.times[first : first + TIMES_AT_ONCE]
            rows = np.flatnonzero(times > horizon)
            yield from zip(entries.sequences[first + rows].tolist(), times[rows].tolist(), strict=True)
