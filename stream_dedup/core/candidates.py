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
PAIRS_AT_ONCE = 1 << 16
"""Bound on the pairs whose signatures are gathered in one step: 8 MB."""
ROWS_AT_ONCE = 1024
"""Bound on the articles that are compared with their whole batch in one step."""


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

    def of(self, query: int, kept: NDArray[np.bool_], evicted_below: int) -> list[Candidate]:
        """The candidates of one article that are kept and not evicted.

        Args:
            query: the article's row in the batch.
            kept: for each row of the batch, whether it was kept; of rows from `query` on it says nothing yet.
            evicted_below: entries with a lower sequence have left.
        """
        first, last = self.offsets[query], self.offsets[query + 1]
        if first == last:
            return []
        part, row = self.part[first:last], self.row[first:last]
        of_batch = part == len(self.parts) - 1
        standing = ~of_batch
        standing[of_batch] = kept[row[of_batch]]
        found = [
            Candidate(
                entries=self.parts[int(part[i])],
                row=int(row[i]),
                distance=int(self.distances[first + i]),
                similarity=float(self.similarities[first + i]),
                exact=bool(self.exact[first + i]),
            )
            for i in np.flatnonzero(standing).tolist()
        ]
        return [candidate for candidate in found if candidate.sequence >= evicted_below]


def find_candidates(
    batch: Entries,
    runs: Sequence[Run],
    criterion: Criterion,
    horizons: NDArray[np.int64],
    evicted_below: int,
) -> Candidates:
    """All live candidates of a batch's articles: in the runs, and earlier in the batch, should they be kept.

    Args:
        batch: the articles, as the entries they become if they are kept.
        runs: the index.
        criterion: what makes an entry a candidate.
        horizons: for each row of the batch, the event time that a live entry is above.
        evicted_below: entries with a lower sequence have left before the batch.
    """
    same = chain(*(run.same(batch.fingerprints, batch.digests) for run in runs), _same_in_batch(batch))
    near = chain(
        *(run.near(batch.fingerprints, criterion.radius) for run in runs), _near_in_batch(batch, criterion.radius)
    )
    return _sorted_by_article(
        batch,
        same=[hits.live(horizons, evicted_below) for hits in same],
        near=[_verified(hits.live(horizons, evicted_below), batch, criterion) for hits in near],
    )


def _same_in_batch(batch: Entries) -> Iterator[Hits]:
    """Each article with those before it that have the same digest."""
    for first in range(0, len(batch), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        for hits in OpenRun(batch).same(batch.fingerprints[rows], batch.digests[rows]):
            yield _earlier(hits, first)


def _near_in_batch(batch: Entries, radius: int) -> Iterator[Hits]:
    """Each article with those before it that are within the radius."""
    for first in range(0, len(batch), ROWS_AT_ONCE):
        for hits in OpenRun(batch).near(batch.fingerprints[first : first + ROWS_AT_ONCE], radius):
            yield _earlier(hits, first)


def _earlier(hits: Hits, first: int) -> Hits:
    """Pairs with an article before, where the first query is this row of the batch."""
    queries = hits.queries + first
    return Hits(hits.entries, queries, hits.rows, hits.distances).where(hits.rows < queries)


def _verified(hits: Hits, batch: Entries, criterion: Criterion) -> tuple[Hits, NDArray[np.float64]]:
    """The near pairs that reach the threshold, with their similarity; equal digests are left to the exact pairs."""
    differing = (batch.digests[hits.queries] != hits.entries.digests[hits.rows]).any(axis=1)
    hits = hits.where(differing)
    estimates = np.empty(len(hits.rows), np.float64)
    for first in range(0, len(hits.rows), PAIRS_AT_ONCE):
        portion = slice(first, first + PAIRS_AT_ONCE)
        estimates[portion] = criterion.similarity(
            batch.signatures[hits.queries[portion]], hits.entries.signatures[hits.rows[portion]]
        )
    reached = estimates >= criterion.threshold
    return hits.where(reached), estimates[reached]


def _sorted_by_article(
    batch: Entries, same: Sequence[Hits], near: Sequence[tuple[Hits, NDArray[np.float64]]]
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
    )
