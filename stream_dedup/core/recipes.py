"""The recipes: from a prepared batch to fingerprints, each a small pure function; and the profiles that use them.

A profile more is one entry in PROFILES, a recipe more is one function and its entry.

    news-tf      SimHash of words by frequency, for radius 3             strict
    news-wide    the same with common words damped, for radius 7         balanced, thorough
    full-tf      SimHash of jieba's full mode by plain term frequency
    tfidf-top20  SimHash of jieba's twenty heaviest TF-IDF keywords
    minhash      hashes of the bands of a MinHash signature, met only if equal
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core import weights
from stream_dedup.core.bands import band_keys, optimal_bands
from stream_dedup.core.keywords import cut, heaviest
from stream_dedup.core.prepared import Prepared
from stream_dedup.core.segment import segment
from stream_dedup.core.simhash import reseeded, simhash
from stream_dedup.core.text import fold

Fingerprinter: TypeAlias = Callable[[Prepared], NDArray[np.uint64]]
"""A batch of n texts -> (n, fingerprints of the scheme)."""
Weigh: TypeAlias = Callable[[Counter[str]], NDArray[np.float64]]
"""The n different words of a text, and how often each stands there -> weights (n,)."""
KEYWORDS = 20
"""As many as `tfidf-top20` says."""
PERMUTATIONS = 128
"""Values of a signature that bands are made of at most: datasketch's default."""
MINHASH_THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class Recipe:
    """What makes a scheme."""

    name: str
    """Recipe, version, and what else the fingerprints depend on; the segmenter comes to it."""
    fingerprints: int
    """How many an article has."""
    fingerprint: Fingerprinter
    probed: "Recipe | None" = None
    """The recipe of the same family whose probe hash is known; None: this one itself."""


@dataclass(frozen=True, slots=True)
class ProfileData:
    """A profile before its scheme is made."""

    recipe: Callable[[float], Recipe]
    """From the threshold."""
    radius: int
    """0: candidates are met by equality, and no other radius means anything."""
    threshold: float


def word_simhash(unspaced: Weigh, spaced: Weigh, fingerprints: int) -> Fingerprinter:
    """SimHash of all words, weighed by one function in mostly Han text and another in text cut at spaces."""

    def of(batch: Prepared) -> NDArray[np.uint64]:
        result = np.zeros((len(batch.texts), fingerprints), dtype=np.uint64)
        for row, scripts in enumerate(batch.scripts):
            words = batch.words(row)
            weigh = unspaced if scripts.mostly_unspaced else spaced
            hashes, weighed = batch.hashes(words), weigh(words)
            result[row] = [simhash(reseeded(hashes, seed), weighed) for seed in range(fingerprints)]
        return result

    return of


def keyword_simhash(batch: Prepared) -> NDArray[np.uint64]:
    """SimHash of each text's heaviest TF-IDF keywords by their weights, as one column.

    A mostly Han text is cut as it came, as jieba.analyse cuts it, and its keywords are folded; other text, of which
    jieba makes single characters, into the words that all other recipes take.
    """
    result = np.zeros((len(batch.texts), 1), dtype=np.uint64)
    for row, (raw, scripts) in enumerate(zip(batch.texts, batch.scripts, strict=True)):
        words = cut(raw) if scripts.mostly_han else segment(batch.segmenter, scripts)
        keywords = heaviest(words, KEYWORDS)
        # In millionths, so that sums are exact.
        weighed = np.rint(np.array([weight * 1e6 for _, weight in keywords]))
        result[row] = simhash(batch.memory.hashes([fold(word) for word, _ in keywords]), weighed)
    return result


def _news_tf(_threshold: float) -> Recipe:
    return Recipe("news-tf.1", 1, word_simhash(weights.weigh_unspaced, weights.weigh_spaced, 1))


def _news_wide(fingerprints: int) -> Callable[[float], Recipe]:
    of = word_simhash(weights.weigh_unspaced_widely, weights.weigh_spaced_widely, fingerprints)
    return lambda _threshold: Recipe(f"news-wide.1x{fingerprints}", fingerprints, of)


def _full_tf(_threshold: float) -> Recipe:
    return Recipe("full-tf.1", 1, word_simhash(weights.weigh_plainly, weights.weigh_plainly, 1))


def _tfidf_top20(_threshold: float) -> Recipe:
    return Recipe("tfidf-top20.1", 1, keyword_simhash)


def _minhash(threshold: float) -> Recipe:
    bands, rows = optimal_bands(threshold, PERMUTATIONS)
    probed = None if threshold == MINHASH_THRESHOLD else _minhash(MINHASH_THRESHOLD)
    return Recipe(f"minhash.1-{bands}x{rows}", bands, lambda batch: band_keys(batch.minima, bands, rows), probed)


PROFILES: Mapping[str, ProfileData] = {
    "strict": ProfileData(_news_tf, radius=3, threshold=0.55),
    "balanced": ProfileData(_news_wide(1), radius=7, threshold=0.55),
    "thorough": ProfileData(_news_wide(3), radius=7, threshold=0.55),
    "full-tf": ProfileData(_full_tf, radius=3, threshold=0.55),
    "tfidf-top20": ProfileData(_tfidf_top20, radius=3, threshold=0.55),
    "minhash": ProfileData(_minhash, radius=0, threshold=MINHASH_THRESHOLD),
}
"""All profiles by name."""
PROBE_HASHES: Mapping[str, int] = {
    "news-tf.1+rjieba-0.2.2": 0x573002F1186BE169,
    "news-wide.1x1+rjieba-0.2.2": 0x7E79A30B496028CB,
    "news-wide.1x3+rjieba-0.2.2": 0x21B04C7E1E3E94B4,
    "full-tf.1+rjieba-0.2.2": 0x51C8060044C5092E,
    "tfidf-top20.1+rjieba-0.2.2": 0xF86302DD9567E52A,
    "minhash.1-25x5+rjieba-0.2.2": 0xE07D69B6918106EC,
}
"""By the scheme's name, the xxh3_64 of what the probe texts give (see scheme.check_recipe)."""
