"""Bands: their shape from the threshold, and who shares one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.bands import band_keys, optimal_bands


@pytest.mark.parametrize(
    ("threshold", "bands", "rows"),
    [(0.5, 25, 5), (0.55, 21, 6), (0.7, 14, 9), (0.8, 9, 13), (0.9, 5, 25)],
)
def test_the_shape_for_128_values(threshold: float, bands: int, rows: int) -> None:
    """The bands and rows that a threshold gives stay the same: the scheme's name carries them."""
    assert optimal_bands(threshold, 128) == (bands, rows)


@pytest.mark.parametrize("threshold", [0.0, 0.01, 0.3, 0.55, 0.99, 1.0])
def test_the_curve_rises_at_the_threshold(threshold: float) -> None:
    """Well below it texts rarely share a band, well above it nearly always; all values fit."""
    bands, rows = optimal_bands(threshold, 128)
    assert bands * rows <= 128
    assert 1 - (1 - max(0, threshold - 0.25) ** rows) ** bands <= 0.2
    assert 1 - (1 - min(1, threshold + 0.25) ** rows) ** bands >= 0.8


@given(st.integers(1, 6), st.integers(1, 6), st.lists(st.booleans(), min_size=36, max_size=36))
def test_a_key_is_shared_where_a_whole_band_is(bands: int, rows: int, changed: list[bool]) -> None:
    """A key differs when one value of its band does, and keys of two bands differ even over the same values."""
    left = np.full((1, 40), 7, np.uint64)
    right = left.copy()
    right[0, :36][changed] = 8
    equal = band_keys(left, bands, rows)[0] == band_keys(right, bands, rows)[0]
    assert equal.tolist() == [not any(changed[band * rows : (band + 1) * rows]) for band in range(bands)]
    assert len(set(band_keys(left, bands, rows)[0].tolist())) == bands


def test_the_order_within_a_band_counts() -> None:
    """The same values at other places are another band."""
    keys = band_keys(np.array([[1, 2], [2, 1]], np.uint64), 1, 2)
    assert keys[0, 0] != keys[1, 0]


def test_no_texts() -> None:
    """They have no keys."""
    assert band_keys(np.empty((0, 512), np.uint64), 21, 6).shape == (0, 21)
