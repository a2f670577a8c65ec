"""The recipes: from a prepared batch to fingerprints, each a small pure function; and the profiles that use them.

A profile more is one entry in PROFILES, a recipe more is one function and its entry.

    news-tf      SimHash of words by frequency, for radius 3             strict
    news-wide    the same with common words damped, for radius 7         balanced, thorough
    full-tf      SimHash of jieba's full mode by plain term frequency
    tfidf-top20  SimHash of jieba's twenty heaviest TF-IDF keywords
    minhash      hashes of the bands of a MinHash signature, met only if equal
"""

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
from stream_dedup.core.simhash import reseeded, simhash, simhashes
from stream_dedup.core.text import fold
from stream_dedup.core.traits import traits_of

Fingerprinter: TypeAlias = Callable[[Prepared], NDArray[np.uint64]]
"""A batch of n texts -> (n, fingerprints of the scheme)."""
WordWeights: TypeAlias = Callable[[Prepared, int], Mapping[str, float]]
"""A batch and one of its rows -> what each word of that text weighs in its fingerprints."""
Weigh: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.int32]], NDArray[np.float64]]
"""How often n words stand in their texts, and their traits -> weights (n,)."""
KEYWORDS = 20
"""As many as `tfidf-top20` says."""
PERMUTATIONS = 128
"""Values of a signature that bands are made of at most: datasketch's default."""
MINHASH_THRESHOLD = 0.52
"""At .5 one more bulletin of another company merges on Reuters news; at .53 nine of 191 reposts (J .7 to .9) are missed
on Sina, at .52 three."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What makes a scheme."""

    name: str
    """Recipe, version, and what else the fingerprints depend on; the segmenter comes to it."""
    fingerprints: int
    """How many an article has."""
    fingerprint: Fingerprinter
    weights: WordWeights
    """For people to see why; the same weights as `fingerprint` takes."""
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
        words = batch.words()
        cut_at_spaces = ~np.repeat(batch.mostly_unspaced, np.diff(words.ends, prepend=0))
        weighed = unspaced(words.counts, words.traits).copy()
        weighed[cut_at_spaces] = spaced(words.counts[cut_at_spaces], words.traits[cut_at_spaces])
        columns = [simhashes(reseeded(words.hashes, seed), weighed, words.ends) for seed in range(fingerprints)]
        return np.stack(columns, axis=1)

    return of


def word_weights(unspaced: Weigh, spaced: Weigh) -> WordWeights:
    """The weights of `word_simhash`."""

    def of(batch: Prepared, row: int) -> Mapping[str, float]:
        words = batch.counter(row)
        weigh = unspaced if batch.mostly_unspaced[row] else spaced
        weighed = weigh(np.array(list(words.values()), dtype=np.float64), traits_of(words))
        return dict(zip(words, weighed.tolist(), strict=True))

    return of


def keyword_weights(batch: Prepared, row: int) -> Mapping[str, float]:
    """The heaviest TF-IDF keywords of one text, in millionths, so that sums are exact.

    A mostly Han text is cut as it came, as jieba.analyse cuts it, and its keywords are folded; other text, of which
    jieba makes single characters, into the words that all other recipes take.
    """
    scripts = batch.scripts(row)
    words = cut(batch.texts[row]) if scripts.mostly_han else segment(batch.segmenter, scripts)
    weighed: dict[str, float] = {}
    for word, weight in heaviest(words, KEYWORDS):
        folded = fold(word)
        weighed[folded] = weighed.get(folded, 0.0) + round(weight * 1e6)
    return weighed


def no_weights(_batch: Prepared, _row: int) -> Mapping[str, float]:
    """Of a scheme that does not go by words."""
    return {}


def keyword_simhash(batch: Prepared) -> NDArray[np.uint64]:
    """SimHash of each text's `keyword_weights`, as one column."""
    result = np.zeros((len(batch.texts), 1), dtype=np.uint64)
    for row in range(len(batch.texts)):
        weighed = keyword_weights(batch, row)
        result[row] = simhash(batch.memory.hashes(weighed.keys()), np.fromiter(weighed.values(), np.float64))
    return result


def _of_words(name: str, fingerprints: int, unspaced: Weigh, spaced: Weigh) -> Recipe:
    return Recipe(name, fingerprints, word_simhash(unspaced, spaced, fingerprints), word_weights(unspaced, spaced))


def _news_tf(_threshold: float) -> Recipe:
    return _of_words("news-tf.1", 1, weights.weigh_unspaced, weights.weigh_spaced)


def _news_wide(fingerprints: int) -> Callable[[float], Recipe]:
    name = f"news-wide.1x{fingerprints}"
    recipe = _of_words(name, fingerprints, weights.weigh_unspaced_widely, weights.weigh_spaced_widely)
    return lambda _threshold: recipe


def _full_tf(_threshold: float) -> Recipe:
    return _of_words("full-tf.1", 1, weights.weigh_plainly, weights.weigh_plainly)


def _tfidf_top20(_threshold: float) -> Recipe:
    return Recipe("tfidf-top20.1", 1, keyword_simhash, keyword_weights)


def _minhash(threshold: float) -> Recipe:
    bands, rows = optimal_bands(threshold, PERMUTATIONS)
    probed = None if threshold == MINHASH_THRESHOLD else _minhash(MINHASH_THRESHOLD)
    return Recipe(
        f"minhash.1-{bands}x{rows}", bands, lambda batch: band_keys(batch.minima, bands, rows), no_weights, probed
    )


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
    "news-tf.1+rjieba-0.2.2": 0xC6678C319A3AF087,
    "news-wide.1x1+rjieba-0.2.2": 0xCDF30A64C2FF5117,
    "news-wide.1x3+rjieba-0.2.2": 0xEC3267B7DC14B2B8,
    "full-tf.1+rjieba-0.2.2": 0x84B226FE57D0D479,
    "tfidf-top20.1+rjieba-0.2.2": 0x8CC9EF6ECF69B9C0,
    "minhash.1-22x5+rjieba-0.2.2": 0x250C962ECEC9FBEA,
}
"""By the scheme's name, the xxh3_64 of what the probe texts give (see scheme.check_recipe)."""
