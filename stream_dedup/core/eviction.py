"""The limit on live entries: how many there are, article by article, and which leaves next."""

from collections import deque
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

import numpy as np

from stream_dedup.core.delta import Entries
from stream_dedup.core.index import live_mask


class Occupancy:
    """Counts live entries while a batch is decided; where the limit is passed, the oldest by sequence leaves."""

    def __init__(
        self,
        max_entries: int,
        evicted_below: int,
        live: int,
        oldest: list[tuple[int, int]],
        expiring: list[tuple[int, int]],
    ) -> None:
        """Start before the batch's first article.

        Args:
            max_entries: the limit.
            evicted_below: entries with a lower sequence have left.
            live: how many entries are live.
            oldest: (sequence, time) of the oldest live ones, ascending; as many as may leave in the batch.
            expiring: (time, sequence) of those that the clock may pass in the batch.
        """
        self.evicted_below = evicted_below
        self._max_entries = max_entries
        self._live = live
        self._oldest = deque(oldest)
        self._expiring = expiring
        heapify(self._expiring)

    def keep(self, sequence: int, time: int, horizon: int) -> None:
        """Count an article that is kept while the horizon stands there; `evicted_below` rises if another must leave."""
        while self._expiring and self._expiring[0][0] <= horizon:
            _, expired = heappop(self._expiring)
            self._live -= expired >= self.evicted_below
        heappush(self._expiring, (time, sequence))
        self._oldest.append((sequence, time))
        self._live += 1
        while self._live > self._max_entries:
            leaving, left_time = self._oldest.popleft()
            if left_time > horizon:
                self.evicted_below = leaving + 1
                self._live -= 1


def roomy(max_entries: int, evicted_below: int, held: int) -> Occupancy:
    """Before a batch that cannot reach the limit: all that are held, dead ones too, bound the count from above."""
    return Occupancy(max_entries, evicted_below, held, [], [])


def census(
    max_entries: int, evicted_below: int, parts: Iterable[Entries], horizons: tuple[int, int], articles: int
) -> Occupancy:
    """Before a batch that may reach the limit.

    Args:
        max_entries: the limit.
        evicted_below: entries with a lower sequence have left.
        parts: all entries.
        horizons: before the batch and after it.
        articles: how many the batch has: no more entries leave by the limit.
    """
    before, after = horizons
    live = 0
    oldest: list[tuple[int, int]] = []
    expiring: list[tuple[int, int]] = []
    for entries in parts:
        standing = live_mask(entries, before, evicted_below)
        live += int(np.count_nonzero(standing))
        passing = standing & (entries.times <= after)
        expiring += zip(entries.times[passing].tolist(), entries.sequences[passing].tolist(), strict=True)
        staying = np.flatnonzero(standing & ~passing)[:articles]
        oldest += zip(entries.sequences[staying].tolist(), entries.times[staying].tolist(), strict=True)
    oldest += [(sequence, time) for time, sequence in expiring]
    return Occupancy(max_entries, evicted_below, live, sorted(oldest), expiring)
