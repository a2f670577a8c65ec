"""Candidates: live kept articles that an article may repeat, found for a whole batch at once, earlier ones included."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.delta import Entries
from stream_dedup.core.index import Hits, OpenRun, Run

Similarity: TypeAlias = Callable[[NDArray[np.uint8], NDArray[np.uint8]], NDArray[np.float64]]
"""Estimates the Jaccard similarity of n pairs of signatures: (n, SIGNATURE_BYTES) twice -> (n,), 0 to 1."""
ESTIMATES_AT_ONCE = 1 << 16
"""Bound on the pairs whose signatures are gathered in one step: 8 MB."""
QUERIES_AT_ONCE = 1024
"""Bound on the articles that are compared with their whole batch in one step."""
MAX_VERIFIED = 200
"""Near entries that are verified for one article at most. Of real news no article has a tenth as many, while whoever
shuffles one text's words makes entries of one fingerprint by thousands, each of which would make the next dearer."""
HITS_AT_ONCE = 1 << 20
"""Bound on the near pairs of one run that wait to be cut to the nearest: 17 MB."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """What makes a live entry that is not exact a candidate."""

    radius: int
    """Hamming distance in bits that it is within, on any fingerprint."""
    threshold: float
    """Estimated Jaccard similarity that it reaches, 0 to 1."""
    similarity: Similarity


@dataclass(frozen=True, slots=True)
class Candidate:
    """One kept article that another may repeat, and how near it is."""

    entries: Entries
    row: int
    """The kept article is this row of `entries`."""
    distance: int
    """Hamming distance in bits."""
    similarity: float
    """Estimated Jaccard similarity; 1 when exact."""
    exact: bool
    """The digests are equal."""

    @property
    def sequence(self) -> int:
        """The kept article's place in the total order."""
        return int(self.entries.sequences[self.row])

    @property
    def time(self) -> int:
        """The kept article's event time in ms."""
        return int(self.entries.times[self.row])

    @property
    def position(self) -> int:
        """The hash of the kept article's position."""
        return int(self.entries.positions[self.row])

    @property
    def facts(self) -> bytes:
        """The sketch of the kept article's facts."""
        facts: NDArray[np.uint8] = self.entries.facts[self.row]
        return facts.tobytes()

    @property
    def id(self) -> str:
        """The kept article's id."""
        return self.entries.id_at(self.row)


def by_rank(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first: an exact one before others, then smallest distance, highest similarity, lowest sequence."""
    return sorted(candidates, key=lambda one: (not one.exact, one.distance, -one.similarity, one.sequence))


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """All candidates of a batch's articles, sorted by article."""

    parts: tuple[Entries, ...]
    offsets: list[int]
    """n + 1: the candidates of the batch's row r stand from offsets[r] up to, but without, offsets[r + 1]."""
    part: NDArray[np.int64]
    """(c,) which of `parts`; the last one is the batch itself."""
    row: NDArray[np.int64]
    """(c,) which row of the part."""
    distances: NDArray[np.uint8]
    similarities: NDArray[np.float64]
    exact: NDArray[np.bool_]
    sequences: NDArray[np.int64]
    threshold: float

    def of(self, query: int, kept: NDArray[np.bool_], evicted_below: int) -> tuple[list[Candidate], bool]:
        """The candidates of one article that are kept and not evicted, and whether some were left out.

        Of the entries that are near but not exact only the MAX_VERIFIED nearest by (distance, sequence) count, whether
        they reach the threshold or not: so it depends on nothing but what stands in the index.

        Args:
            query: the article's row in the batch.
            kept: for each row of the batch, whether it was kept; of rows from `query` on it says nothing yet.
            evicted_below: entries with a lower sequence have left.
        """
        first, last = self.offsets[query], self.offsets[query + 1]
        if first == last:
            return [], False
        part, row = self.part[first:last], self.row[first:last]
        of_batch = part == len(self.parts) - 1
        standing = ~of_batch
        standing[of_batch] = kept[row[of_batch]]
        standing &= self.sequences[first:last] >= evicted_below
        near = first + np.flatnonzero(standing & ~self.exact[first:last])
        crowded = len(near) > MAX_VERIFIED
        if crowded:
            near = near[np.lexsort((self.sequences[near], self.distances[near]))[:MAX_VERIFIED]]
        near = near[self.similarities[near] >= self.threshold]
        exact = first + np.flatnonzero(standing & self.exact[first:last])
        return [self._candidate(place) for place in (*exact.tolist(), *near.tolist())], crowded

    def _candidate(self, place: int) -> Candidate:
        return Candidate(
            entries=self.parts[int(self.part[place])],
            row=int(self.row[place]),
            distance=int(self.distances[place]),
            similarity=float(self.similarities[place]),
            exact=bool(self.exact[place]),
        )


def find_candidates(
    batch: Entries,
    runs: Sequence[Run],
    criterion: Criterion,
    horizons: NDArray[np.int64],
    evicted_below: int,
    *,
    evictable: int,
) -> Candidates:
    """All live candidates of a batch's articles: in the runs, and earlier in the batch, should they be kept.

    Args:
        batch: the articles, as the entries they become if they are kept.
        runs: the index.
        criterion: what makes an entry a candidate.
        horizons: for each row of the batch, the event time that a live entry is above.
        evicted_below: entries with a lower sequence have left before the batch.
        evictable: how many entries may leave while the batch is decided, at most.
    """
    same = chain(*(run.same(batch.fingerprints, batch.digests) for run in runs), _same_in_batch(batch))

    def other(portions: Iterator[Hits]) -> Iterator[Hits]:
        return (_other_texts(hits.live(horizons, evicted_below), batch) for hits in portions)

    # As many as are verified once those have left that may, and one more to tell that there are more.
    most = MAX_VERIFIED + evictable + 1
    indexed = (_nearest(other(run.near(batch.fingerprints, criterion.radius)), most) for run in runs)
    near = [*chain(*indexed), *other(_near_in_batch(batch, criterion.radius))]
    crowded = np.bincount(np.concatenate([hits.queries for hits in near]), minlength=len(batch)) > MAX_VERIFIED
    return _sorted_by_article(
        batch,
        same=[hits.live(horizons, evicted_below) for hits in same],
        near=[_estimated(hits, batch, criterion, crowded) for hits in near],
        threshold=criterion.threshold,
    )


def _other_texts(hits: Hits, batch: Entries) -> Hits:
    """The pairs of different digests; equal ones are left to the exact pairs."""
    return hits.where((batch.digests[hits.queries] != hits.entries.digests[hits.rows]).any(axis=1))


def _nearest(portions: Iterator[Hits], most: int) -> list[Hits]:
    """For each article so many pairs of a run at most, the nearest by (distance, sequence)."""
    waiting: list[Hits] = []
    for hits in portions:
        waiting.append(hits)
        if sum(len(one.rows) for one in waiting) > HITS_AT_ONCE:
            waiting = [_cut(waiting, most)]
    return [_cut(waiting, most)] if sum(len(one.rows) for one in waiting) > most else waiting


def _cut(portions: Sequence[Hits], most: int) -> Hits:
    """Rows of a run are in order of sequence, so one sort of numbers made of (query, distance, row) does it."""
    keys = np.concatenate([hits.queries << 40 | hits.distances.astype(np.int64) << 32 | hits.rows for hits in portions])
    keys.sort()
    queries = keys >> 40
    counts = np.bincount(queries)
    rank = np.arange(len(keys)) - (np.cumsum(counts) - counts)[queries]
    keys = keys[rank < most]
    distances = (keys >> 32 & 0xFF).astype(np.uint8)
    return Hits(portions[0].entries, keys >> 40, keys & 0xFFFFFFFF, distances)


def _same_in_batch(batch: Entries) -> Iterator[Hits]:
    """Each article with those before it that have the same digest."""
    for first in range(0, len(batch), QUERIES_AT_ONCE):
        rows = slice(first, first + QUERIES_AT_ONCE)
        for hits in OpenRun(batch).same(batch.fingerprints[rows], batch.digests[rows]):
            yield _earlier(hits, first)


def _near_in_batch(batch: Entries, radius: int) -> Iterator[Hits]:
    """Each article with those before it that are within the radius."""
    for first in range(0, len(batch), QUERIES_AT_ONCE):
        for hits in OpenRun(batch).near(batch.fingerprints[first : first + QUERIES_AT_ONCE], radius):
            yield _earlier(hits, first)


def _earlier(hits: Hits, first: int) -> Hits:
    """Pairs with an article before, where the first query is this row of the batch."""
    queries = hits.queries + first
    return Hits(hits.entries, queries, hits.rows, hits.distances).where(hits.rows < queries)


def _estimated(
    hits: Hits, batch: Entries, criterion: Criterion, crowded: NDArray[np.bool_]
) -> tuple[Hits, NDArray[np.float64]]:
    """The near pairs that reach the threshold, or whose article has so many that they are counted; with similarity."""
    estimates = np.empty(len(hits.rows), np.float64)
    for first in range(0, len(hits.rows), ESTIMATES_AT_ONCE):
        portion = slice(first, first + ESTIMATES_AT_ONCE)
        estimates[portion] = criterion.similarity(
            batch.signatures[hits.queries[portion]], hits.entries.signatures[hits.rows[portion]]
        )
    wanted = (estimates >= criterion.threshold) | crowded[hits.queries]
    return hits.where(wanted), estimates[wanted]


def _sorted_by_article(
    batch: Entries, same: Sequence[Hits], near: Sequence[tuple[Hits, NDArray[np.float64]]], threshold: float
) -> Candidates:
    """Bring exact pairs (similarity 1) and near ones together, sorted by the batch's rows."""
    every = [*((hits, np.ones(len(hits.rows)), True) for hits in same), *((*pair, False) for pair in near)]
    parts = {id(hits.entries): hits.entries for hits, _, _ in every}
    parts[id(batch)] = parts.pop(id(batch))
    place = {identity: part for part, identity in enumerate(parts)}
    queries = np.concatenate([hits.queries for hits, _, _ in every])
    order = np.argsort(queries, kind="stable")
    return Candidates(
        parts=tuple(parts.values()),
        offsets=np.searchsorted(queries[order], np.arange(len(batch) + 1)).tolist(),
        part=np.concatenate([np.full(len(hits.rows), place[id(hits.entries)]) for hits, _, _ in every])[order],
        row=np.concatenate([hits.rows for hits, _, _ in every])[order],
        distances=np.concatenate([hits.distances for hits, _, _ in every])[order],
        similarities=np.concatenate([similarities for _, similarities, _ in every])[order],
        exact=np.concatenate([np.full(len(hits.rows), exact) for hits, _, exact in every])[order],
        sequences=np.concatenate([hits.entries.sequences[hits.rows] for hits, _, _ in every])[order],
        threshold=threshold,
    )
