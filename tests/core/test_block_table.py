"""Values sorted by a block, and which blocks to ask for."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.block_table import BLOCKS, MAX_RADIUS, block_of, block_table, flips

VALUES = st.lists(st.sampled_from([0, 1, 2, 0x0003_0002_0001_0000, 2**64 - 1, 2**63, 0x1_0000]), max_size=30)


@given(
    values=VALUES, asked=st.lists(st.sampled_from([0, 1, 2, 3, 0x8000, 0xFFFF]), max_size=12), portion=st.integers(1, 9)
)
def test_matches_are_all_pairs_with_the_block_each_once(values: list[int], asked: list[int], portion: int) -> None:
    """However small the portions are, for every block."""
    array = np.array(values, np.uint64)
    for block in range(BLOCKS):
        table = block_table(array, block)
        with patch("stream_dedup.core.block_table.PAIRS_AT_ONCE", portion):
            found = [
                (query, row)
                for queries, places in table.matches(np.array(asked, np.int64))
                for query, row in zip(queries.tolist(), table.rows[places].tolist(), strict=True)
            ]
        blocks = [value >> 16 * block & 0xFFFF for value in values]
        assert found == [(i, row) for i, one in enumerate(asked) for row, other in enumerate(blocks) if one == other]
        assert np.array_equal(table.values, array[table.rows])


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
