"""The exact Jaccard similarity of two texts, over the same shingles as their signatures estimate it from."""

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core import minhash, text
from stream_dedup.core.segment import by_script
from stream_dedup.core.simhash import HashMemory


def shingles(raw: str, memory: HashMemory) -> NDArray[np.uint64]:
    """Hashes of a text's different shingles, ascending, (n,); none of a text without letters.

    Args:
        raw: the text as it is.
        memory: hashes of words.
    """
    runs = text.runs(text.fold(raw))
    if not runs:
        return np.empty(0, dtype=np.uint64)
    if by_script(runs).mostly_unspaced:
        hashes, _ = minhash.character_shingles(["".join(runs)])
    else:
        hashes, _ = minhash.word_shingles([memory.hashes(runs)])
    return np.unique(hashes)


def jaccard(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> float:
    """How many of all shingles of two texts they share, 0 to 1; 0 where neither has any."""
    shared = len(np.intersect1d(left, right, assume_unique=True))
    return shared / max(1, len(left) + len(right) - shared)
