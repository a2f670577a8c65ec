"""Values sorted by a block, and which blocks to ask for."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.block_table import BLOCKS, MAX_RADIUS, block_of, block_table, flips

VALUES = st.lists(
    st.sampled_from([0, 1, 2, 7, 0x0003_0002_0001_0000, 0x0001_0001_0001_0001, 2**64 - 1, 2**63, 0x1_0000])
    | st.integers(0, 2**64 - 1),
    max_size=30,
)


@given(values=VALUES, asked=VALUES, radius=st.integers(0, MAX_RADIUS), portion=st.integers(1, 9))
def test_each_near_pair_is_found_by_one_block(values: list[int], asked: list[int], radius: int, portion: int) -> None:
    """However small the portions are, the blocks together find what comparing all with all finds, each pair once."""
    ours, theirs = np.array(asked, np.uint64), np.array(values, np.uint64)
    found: list[tuple[int, int]] = []
    with patch("stream_dedup.core.block_table.FOUND_AT_ONCE", portion):
        for block in range(BLOCKS):
            table = block_table(theirs, block)
            assert np.array_equal(table.values, theirs[table.rows])
            for queries, rows in table.near(ours, radius) if len(flips(radius, block)) else ():
                assert len(queries) <= portion
                assert queries.tolist() == sorted(queries.tolist())
                found += zip(queries.tolist(), rows.tolist(), strict=True)
    near = [
        (i, row) for i, one in enumerate(asked) for row, other in enumerate(values) if _distance(one, other) <= radius
    ]
    assert sorted(found) == near


def _distance(one: int, other: int) -> int:
    return (one ^ other).bit_count()


def test_the_largest_block_is_known() -> None:
    """As many values are compared by whoever asks for it."""
    values = np.array([7, 7, 1 << 16 | 7, 8], np.uint64)
    assert [block_table(values, block).largest for block in (0, 1)] == [3, 3]


@given(
    radius=st.integers(0, MAX_RADIUS),
    value=st.integers(0, 2**64 - 1),
    turned=st.lists(st.integers(0, 63), unique=True, max_size=MAX_RADIUS),
)
def test_every_value_within_the_radius_shares_a_flipped_block(radius: int, value: int, turned: list[int]) -> None:
    """The generalised pigeonhole principle holds for whichever bits differ."""
    other = value ^ sum(1 << bit for bit in turned[:radius])
    ours, theirs = np.array([value], np.uint64), np.array([other], np.uint64)
    met = [
        int(block_of(theirs, block)[0]) in (int(block_of(ours, block)[0]) ^ flips(radius, block)) for block in range(4)
    ]
    assert any(met)


@pytest.mark.parametrize(
    ("radius", "probes"),
    [(0, [1, 0, 0, 0]), (2, [1, 1, 1, 0]), (3, [1, 1, 1, 1]), (4, [17, 1, 1, 1]), (7, [17, 17, 17, 17])],
)
def test_no_more_blocks_are_asked_for_than_needed(radius: int, probes: list[int]) -> None:
    """Radius 3 asks for four blocks, radius 7 for 17 in each of four."""
    assert [len(flips(radius, block)) for block in range(BLOCKS)] == probes
