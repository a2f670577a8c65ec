"""Locality-sensitive hashing by bands: which articles share a band of their MinHash signatures.

Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets" (2nd edition, 2014), section 3.4: of b bands of r values
each two texts of Jaccard similarity s share one with the probability 1 - (1 - s^r)^b, an S-curve that rises at about
(1/b)^(1/r).
"""

from functools import cache

import numpy as np
import xxhash
from numpy.typing import NDArray

_STEPS = 1000
"""Parts that an integral is summed over: the choice of bands does not change beyond some 100."""


@cache
def optimal_bands(threshold: float, values: int) -> tuple[int, int]:
    """Bands and rows, together at most so many values, that separate best at a similarity.

    Best is the smallest sum of the two areas under error: sharing a band below the threshold, and sharing none above it
    (the choice that datasketch makes too, with equal weights).
    """
    shapes = [(bands, rows) for bands in range(1, values + 1) for rows in range(1, values // bands + 1)]
    return min(shapes, key=lambda shape: _error(threshold, *shape))


def _error(threshold: float, bands: int, rows: int) -> float:
    similarities = (np.arange(_STEPS) + 0.5) / _STEPS
    shared = 1 - (1 - similarities**rows) ** bands
    return float(np.where(similarities < threshold, shared, 1 - shared).mean())


def band_keys(minima: NDArray[np.uint64], bands: int, rows: int) -> NDArray[np.uint64]:
    """A 64-bit key of each band of n texts, (n, bands), from minima (n, m) with m at least bands * rows.

    Two texts have the same key in a column when their minima are the same throughout the band; otherwise by a chance of
    one in 2**64. Keys of different bands differ even where their minima do not.
    """
    values = minima[:, : bands * rows].reshape(len(minima), bands, rows)
    keys = np.tile(_constants(bands), (len(minima), 1))
    for row in range(rows):
        keys ^= values[:, :, row]
        keys *= np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: Knuth's multiplicative hashing
        keys ^= keys >> np.uint64(32)
    return keys


def _constants(count: int) -> NDArray[np.uint64]:
    return np.array([xxhash.xxh3_64_intdigest(b"band", seed=band) for band in range(count)], dtype=np.uint64)
