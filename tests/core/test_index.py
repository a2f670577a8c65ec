"""The index against brute force, across open run, sorted runs and merges, with expiry and eviction going on."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from stream_dedup.core.block_table import MAX_RADIUS
from stream_dedup.core.delta import Entries, joined
from stream_dedup.core.index import MERGE_RATIO, Hits, Index, sorted_run
from stream_dedup.core.window import NO_HORIZON
from tests.core.handmade import entries, sketch

SEED = 20_240_229


@pytest.fixture(autouse=True)
def _small_runs() -> Iterator[None]:
    """Runs are sorted and merged after few entries."""
    with patch("stream_dedup.core.index.OPEN_ENTRIES", 4):
        yield


def kept_near(count: int, fingerprints: int) -> Entries:
    """Entries around ten centres: each 0 to 8 bits from its centre, in a random block mix; a fifth repeat a digest."""
    random = np.random.default_rng(SEED + count)
    centres = np.random.default_rng(SEED).integers(0, 2**64, (10, fingerprints), np.uint64)
    turned = [
        [_bits(random.choice(64, random.integers(0, 9), replace=False)) for _ in centres[0]] for _ in range(count)
    ]
    masks: NDArray[np.uint64] = np.array(turned, np.uint64)
    return replace(
        entries([sketch(0)] * count),
        fingerprints=centres[random.integers(0, 10, count)] ^ masks,
        digests=random.integers(0, max(2, count // 5), (count, 2), np.uint64),
        times=random.integers(0, 100, count),
    )


def _bits(places: NDArray[np.int64]) -> int:
    return sum(1 << place for place in places.tolist())


def filled(
    whole: Entries, portion: int, horizon: int = NO_HORIZON, evicted_below: int = 0, radius: int = MAX_RADIUS
) -> Index:
    """An index that took the entries in portions."""
    index = Index(whole.scheme, whole.fingerprints.shape[1], radius)
    for first in range(0, len(whole), portion):
        rows = (np.arange(len(whole)) >= first) & (np.arange(len(whole)) < first + portion)
        index.insert(whole.take(rows), horizon, evicted_below)
    return index


def pairs(found: list[Hits]) -> list[tuple[int, int, int]]:
    """Query, sequence and distance of all hits."""
    return sorted(
        (query, int(hits.entries.sequences[row]), distance)
        for hits in found
        for query, row, distance in zip(hits.queries.tolist(), hits.rows.tolist(), hits.distances.tolist(), strict=True)
    )


def distances(queries: Entries, whole: Entries) -> NDArray[np.int64]:
    """Smallest Hamming distance of every query, of shape (n,), to every entry, (m,), bit by bit."""
    return np.array(
        [
            [
                min((a ^ b).bit_count() for a, b in zip(ours, theirs, strict=True))
                for theirs in whole.fingerprints.tolist()
            ]
            for ours in queries.fingerprints.tolist()
        ]
    )


@pytest.mark.parametrize("fingerprints", [1, 2, 9])
@pytest.mark.parametrize("portion", [1, 3, 50])
@pytest.mark.parametrize("radius", range(8))
def test_near_is_what_brute_force_finds(radius: int, portion: int, fingerprints: int) -> None:
    """For every radius, each entry within it on any fingerprint is found once, with its smallest distance."""
    whole, queries = kept_near(150, fingerprints), kept_near(30, fingerprints)
    found = pairs(
        [hits for run in filled(whole, portion, radius=radius).runs for hits in run.near(queries.fingerprints, radius)]
    )
    far = distances(queries, whole)
    assert found == [(q, e, int(far[q, e])) for q, e in zip(*np.nonzero(far <= radius), strict=True)]
    assert found


def test_hits_come_in_bounded_portions() -> None:
    """Thousands of entries with one fingerprint and many queries near it do not take memory for all pairs at once."""
    whole = entries([sketch(topic % 3) for topic in range(900)])
    run, queries = sorted_run(whole, MAX_RADIUS), np.repeat(whole.fingerprints[:3], 20, axis=0)
    with patch("stream_dedup.core.block_table.FOUND_AT_ONCE", 1000):
        sizes = [len(hits.rows) for hits in run.near(queries, 3)]
    assert sum(sizes) == 20 * 900
    assert max(sizes) <= 1000


@pytest.mark.parametrize("fingerprints", [1, 2])
@pytest.mark.parametrize("portion", [1, 3, 50])
def test_same_is_an_equal_digest_in_both_halves(portion: int, fingerprints: int) -> None:
    """However far the fingerprints are; one equal half is not enough."""
    whole, queries = kept_near(150, fingerprints), kept_near(60, fingerprints)
    runs = filled(whole, portion).runs
    found = pairs([hits for run in runs for hits in run.same(queries.fingerprints, queries.digests)])
    equal = (queries.digests[:, None, :] == whole.digests[None, :, :]).all(axis=2)
    far = distances(queries, whole)
    assert found == [(q, e, int(far[q, e])) for q, e in zip(*np.nonzero(equal), strict=True)]
    assert found


def test_life_is_tested_for_each_entry_and_query() -> None:
    """In one run, one query finds an entry that another, with a later horizon, does not."""
    whole = entries([sketch(1)] * 3, times=[10, 20, 30])
    found = sorted_run(whole, MAX_RADIUS).near(np.repeat(whole.fingerprints[:1], 3, axis=0), 0)
    live = [hits.live(np.array([9, 10, 29]), evicted_below=1) for hits in found]
    assert pairs(live) == [(0, 1, 0), (0, 2, 0), (1, 1, 0), (1, 2, 0), (2, 2, 0)]


@settings(max_examples=40)
@given(
    steps=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 12), st.integers(0, 3)), min_size=1, max_size=40),
    spread=st.integers(0, 30),
)
def test_live_entries_stay_and_dead_ones_do_not_pile_up(steps: list[tuple[int, int, int]], spread: int) -> None:
    """Through any inserts, expiry and evictions the live entries are all there, in few runs, in order."""
    random = np.random.default_rng(SEED)
    index, every = Index("one", 1, MAX_RADIUS), entries([sketch(0)])
    index.insert(every, NO_HORIZON, 0)
    horizon = evicted_below = 0
    for count, passing, evicting in steps:
        first = len(every)
        times = (horizon + 1 + random.integers(0, spread + 1, count)).tolist()
        more = entries([sketch(first + row) for row in range(count)], first, times)
        every = joined([every, more])
        horizon, evicted_below = horizon + passing, evicted_below + evicting
        index.insert(more, horizon, evicted_below)
        index.drop_dead_runs(horizon, evicted_below)
        live = joined(list(index.live(horizon, evicted_below)))
        expected = every.take((every.times > horizon) & (every.sequences >= evicted_below))
        assert live.sequences.tolist() == expected.sequences.tolist()
        assert [live.id_at(row) for row in range(len(live))] == [expected.id_at(row) for row in range(len(live))]


def test_runs_grow_older_and_larger() -> None:
    """Each run is at least MERGE_RATIO times the next newer one, so that a thousand runs' worth lies in few."""
    index = filled(entries([sketch(0)] * 2000), 2)
    sizes = [len(run.entries) for run in index.runs[:-1]]
    assert sum(sizes) + len(index.runs[-1].entries) == 2000
    assert len(index.runs) <= 7
    assert all(older >= MERGE_RATIO * newer for older, newer in pairwise(sizes))


def test_memory_follows_the_live_entries() -> None:
    """Under a steady stream what is held stays within a small multiple of what is live."""
    index = Index("one", 1, MAX_RADIUS)
    for first in range(0, 1200, 2):
        index.insert(entries([sketch(first)] * 2, first), horizon=first - 100, evicted_below=0)
        index.drop_dead_runs(first - 100, 0)
        assert len(index) <= 250


@pytest.mark.parametrize(("horizon", "evicted_below"), [(98, 0), (NO_HORIZON, 99)], ids=["expired", "evicted"])
def test_a_run_in_which_all_are_dead_is_dropped(horizon: int, evicted_below: int) -> None:
    """Without any insert: the last live entry keeps its own run, and no other."""
    index = filled(entries([sketch(0)] * 100), 3)
    last = len(index.runs[-1].entries)
    assert 0 < last < len(index)
    index.drop_dead_runs(horizon, evicted_below)
    assert len(index) == last
    index.drop_dead_runs(horizon + 1, evicted_below + 1)
    assert len(index) == 0


@pytest.mark.parametrize(("flood", "largest"), [(4, 0), (5, 5), (40, 40)])
def test_the_largest_block_is_told(flood: int, largest: int) -> None:
    """A flood of one fingerprint shows; what is in the open run is not looked up by blocks."""
    assert filled(entries([sketch(1)] * flood), flood).largest_block == largest
