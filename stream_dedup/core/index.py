"""The index of one scheme's kept articles: a few sorted runs, oldest first, and a small open run of the newest."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.block_table import BLOCKS, BlockTable, block_table, flips
from stream_dedup.core.delta import Entries, joined, no_entries

OPEN_ENTRIES = 1024
"""Entries of the open run at most: comparing a batch of 1,000 with all of them takes about 3 ms."""
MERGE_RATIO = 4
"""A run is at least so many times as large as the next newer one: 5 million entries lie in 7 sorted runs or fewer."""


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Pairs of a batch's article and an entry."""

    entries: Entries
    """Where the rows point into."""
    queries: NDArray[np.int64]
    """(h,) rows of the batch."""
    rows: NDArray[np.int64]
    """(h,) rows of `entries`."""
    distances: NDArray[np.uint8]
    """(h,) Hamming distances in bits, the smallest where a scheme has several fingerprints."""

    def where(self, mask: NDArray[np.bool_]) -> "Hits":
        """The pairs that a mask of shape (h,) chooses."""
        return Hits(self.entries, self.queries[mask], self.rows[mask], self.distances[mask])

    def live(self, horizons: NDArray[np.int64], evicted_below: int) -> "Hits":
        """The pairs whose entry is live for their article.

        Args:
            horizons: for each row of the batch, the event time that a live entry is above.
            evicted_below: entries with a lower sequence have left.
        """
        fresh = self.entries.times[self.rows] > horizons[self.queries]
        return self.where(fresh & (self.entries.sequences[self.rows] >= evicted_below))


class Run(Protocol):
    """Entries that can be searched."""

    @property
    def entries(self) -> Entries:
        """All of them, dead ones too."""
        ...

    def near(self, fingerprints: NDArray[np.uint64], radius: int) -> Iterator[Hits]:
        """Entries within the radius on any fingerprint, each once; fingerprints of (n, fingerprints of the scheme).

        They come in bounded portions: whoever shuffles one text's words makes entries of one fingerprint by thousands.
        """
        ...

    def same(self, fingerprints: NDArray[np.uint64], digests: NDArray[np.uint64]) -> Iterator[Hits]:
        """Entries with an equal digest, of shape (n, 2), however far the fingerprints are; in bounded portions."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class OpenRun:
    """Few entries, compared one and all: nothing to build when entries come."""

    entries: Entries

    def near(self, fingerprints: NDArray[np.uint64], radius: int) -> Iterator[Hits]:
        """As in `Run`."""
        if radius == 0:
            queries, rows = _true_cells(_equal_in_a_column(fingerprints, self.entries.fingerprints))
            yield Hits(self.entries, queries, rows, np.zeros(len(rows), np.uint8))
            return
        pairs = zip(fingerprints.T, self.entries.fingerprints.T, strict=True)
        distances = reduce(np.minimum, (np.bitwise_count(ours[:, None] ^ theirs) for ours, theirs in pairs))
        queries, rows = _true_cells(distances <= radius)
        yield Hits(self.entries, queries, rows, distances[queries, rows])

    def same(self, fingerprints: NDArray[np.uint64], digests: NDArray[np.uint64]) -> Iterator[Hits]:
        """As in `Run`."""
        queries, rows = _true_cells(digests[:, 0, None] == self.entries.digests[:, 0])
        yield _same(self.entries, queries, rows, fingerprints, digests)


@dataclass(frozen=True, slots=True, eq=False)
class SortedRun:
    """Many entries, sorted by each block of each fingerprint, and by a block of the digest."""

    entries: Entries
    tables: tuple[tuple[BlockTable, ...], ...]
    """[fingerprint][block], of the blocks that the radius needs."""
    digest_table: BlockTable
    """The digest's first half by its lowest block."""
    newest: int
    """Highest event time, so that a run in which all are dead is seen at once."""
    largest_block: int
    """How many entries share one block of their fingerprints, at most."""

    def near(self, fingerprints: NDArray[np.uint64], radius: int) -> Iterator[Hits]:
        """As in `Run`."""
        for column, tables in enumerate(self.tables):
            for table in tables:
                for queries, rows in table.near(fingerprints[:, column], radius):
                    yield self._nearest(queries, rows, fingerprints, radius, column)

    def _nearest(
        self,
        queries: NDArray[np.int64],
        rows: NDArray[np.int64],
        fingerprints: NDArray[np.uint64],
        radius: int,
        column: int,
    ) -> Hits:
        """The pairs that no fingerprint before this one has found, with their smallest distance."""
        distances = np.bitwise_count(fingerprints[queries] ^ self.entries.fingerprints[rows])
        first = (distances <= radius).argmax(axis=1) == column
        return Hits(self.entries, queries, rows, distances.min(axis=1)).where(first)

    def same(self, fingerprints: NDArray[np.uint64], digests: NDArray[np.uint64]) -> Iterator[Hits]:
        """As in `Run`."""
        for queries, rows in self.digest_table.near(digests[:, 0], 0):
            yield _same(self.entries, queries, rows, fingerprints, digests)


class Index:
    """Kept articles of one scheme. Dead entries are never found, and dropped when their run is merged or all dead."""

    def __init__(self, scheme: str, fingerprints: int, radius: int) -> None:
        """Start empty, for a scheme with so many fingerprints, and lookups up to this radius."""
        self._radius = radius
        self._sorted: list[SortedRun] = []
        self._open = OpenRun(no_entries(scheme, fingerprints))

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs in order of sequence."""
        return (*self._sorted, self._open)

    def __len__(self) -> int:
        return sum(len(run.entries) for run in self.runs)

    @property
    def largest_block(self) -> int:
        """How many entries of one sorted run share one block of their fingerprints, at most."""
        return max((run.largest_block for run in self._sorted), default=0)

    def insert(self, entries: Entries, horizon: int, evicted_below: int) -> None:
        """Add entries, whose sequences are above all that were added before.

        Args:
            entries: at least one.
            horizon: what has an event time at or below it is dead and may be dropped.
            evicted_below: what has a lower sequence is dead and may be dropped.
        """
        newest = joined([self._open.entries, entries])
        if len(newest) <= OPEN_ENTRIES:
            self._open = OpenRun(newest)
            return
        parts = [newest]
        while self._sorted and len(self._sorted[-1].entries) < MERGE_RATIO * sum(map(len, parts)):
            parts.append(self._sorted.pop().entries)
        merged = joined([part.take(live_mask(part, horizon, evicted_below)) for part in reversed(parts)])
        self._open = OpenRun(no_entries(entries.scheme, entries.fingerprints.shape[1]))
        if len(merged) <= OPEN_ENTRIES:
            self._open = OpenRun(merged)
        else:
            self._sorted.append(sorted_run(merged, self._radius))

    def drop_dead_runs(self, horizon: int, evicted_below: int) -> None:
        """Let go of each run in which all entries are dead."""
        self._sorted = [
            run for run in self._sorted if run.newest > horizon and run.entries.sequences[-1] >= evicted_below
        ]
        if not live_mask(self._open.entries, horizon, evicted_below).any():
            self._open = OpenRun(self._open.entries.take(np.zeros(len(self._open.entries), np.bool_)))

    def live(self, horizon: int, evicted_below: int) -> Iterator[Entries]:
        """The live entries of each run, in order of sequence."""
        for run in self.runs:
            yield run.entries.take(live_mask(run.entries, horizon, evicted_below))


def live_mask(entries: Entries, horizon: int, evicted_below: int) -> NDArray[np.bool_]:
    """Which entries, of shape (n,), are live: above the horizon in event time, and not evicted."""
    return (entries.times > horizon) & (entries.sequences >= evicted_below)


def sorted_run(entries: Entries, radius: int) -> SortedRun:
    """Sort one or more entries by all blocks that lookups up to this radius ask."""
    blocks = [block for block in range(BLOCKS) if len(flips(radius, block))]
    tables = tuple(tuple(block_table(values, block) for block in blocks) for values in entries.fingerprints.T)
    return SortedRun(
        entries=entries,
        tables=tables,
        digest_table=block_table(entries.digests[:, 0], 0),
        newest=int(entries.times.max()),
        largest_block=max(table.largest for of_one in tables for table in of_one),
    )


def _equal_in_a_column(ours: NDArray[np.uint64], theirs: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether rows of two tables (n, f) and (m, f) have the same value in any column, as a mask (n, m).

    By sorting, in a tenth of the time of comparing all with all: schemes that ask for equality have many columns.
    """
    mask = np.zeros((len(ours), len(theirs)), np.bool_)
    for asked, values in zip(ours.T, theirs.T, strict=True):
        order = np.argsort(values)
        ordered = values[order]
        starts = np.searchsorted(ordered, asked, side="left")
        counts = np.searchsorted(ordered, asked, side="right") - starts
        shifts = np.repeat(starts - np.cumsum(counts) + counts, counts)
        mask[np.repeat(np.arange(len(ours)), counts), order[np.arange(counts.sum()) + shifts]] = True
    return mask


def _true_cells(mask: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns where a mask of shape (n, m) is true; 40 times as fast as np.nonzero on two dimensions."""
    cells = np.flatnonzero(mask)
    return cells // max(1, mask.shape[1]), cells % max(1, mask.shape[1])


def _same(
    entries: Entries,
    queries: NDArray[np.int64],
    rows: NDArray[np.int64],
    fingerprints: NDArray[np.uint64],
    digests: NDArray[np.uint64],
) -> Hits:
    """Those pairs with an equal first half of the digest whose second half is equal as well."""
    equal = digests[queries, 1] == entries.digests[rows, 1]
    queries, rows = queries[equal], rows[equal]
    distances = np.bitwise_count(fingerprints[queries] ^ entries.fingerprints[rows]).min(axis=1)
    return Hits(entries, queries, rows, distances)
