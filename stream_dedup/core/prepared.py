"""A batch of texts made ready once for whatever a scheme takes from them: runs, words, hashes, shingle minima."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core import minhash, text
from stream_dedup.core.fact_sketch import fact_sketch
from stream_dedup.core.facts import facts_of
from stream_dedup.core.segment import Scripts, Segmenter, by_script, count_words, segment
from stream_dedup.core.simhash import HashMemory
from stream_dedup.core.sketch import DIGEST_BYTES, FACT_BYTES


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """n texts; rows are in their order."""

    texts: Sequence[str]
    """As they came."""
    scripts: list[Scripts]
    """(n,) each text's runs by script, folded."""
    digests: NDArray[np.uint8]
    """(n, DIGEST_BYTES) of the comparable forms."""
    facts: NDArray[np.uint8]
    """(n, FACT_BYTES) sketches of the numbers, dates and names."""
    word_counts: NDArray[np.int64]
    """(n,) words that a reader would count."""
    minima: NDArray[np.uint64]
    """(n, minhash.BINS) smallest shingle hash of each bin."""
    segmenter: Segmenter
    memory: HashMemory

    def words(self, row: int) -> Counter[str]:
        """How often each word stands in one text, runs of Han in full mode."""
        return Counter(segment(self.segmenter, self.scripts[row]))

    def hashes(self, words: Counter[str]) -> NDArray[np.uint64]:
        """The hashes of the n different words, (n,)."""
        return self.memory.hashes(words.keys())


def prepare(texts: Sequence[str], segmenter: Segmenter, memory: HashMemory) -> Prepared:
    """Make a batch of texts ready; each row depends on its own text alone."""
    digests = np.zeros((len(texts), DIGEST_BYTES), dtype=np.uint8)
    facts = np.zeros((len(texts), FACT_BYTES), dtype=np.uint8)
    counts = np.zeros(len(texts), dtype=np.int64)
    runs: list[list[str]] = []
    scripts: list[Scripts] = []
    for row, raw in enumerate(texts):
        folded = text.fold(raw)
        digests[row] = np.frombuffer(text.digest(text.comparable(folded)), dtype=np.uint8)
        runs.append(text.runs(folded))
        scripts.append(by_script(runs[-1]))
        counts[row] = count_words(segmenter, scripts[-1])
        # Where words are cut at spaces facts come from the text as it came, for its capitals: so decode it here too.
        found = facts_of(unescape(raw) if "&" in raw else raw, folded, unspaced=scripts[-1].mostly_unspaced)
        facts[row] = np.frombuffer(fact_sketch(found, int(counts[row])), dtype=np.uint8)
    return Prepared(texts, scripts, digests, facts, counts, _minima(runs, scripts, memory), segmenter, memory)


def _minima(runs: list[list[str]], scripts: list[Scripts], memory: HashMemory) -> NDArray[np.uint64]:
    """Minima over 5 characters each of text that is mostly Han, over 3 words each of other text."""
    result = np.empty((len(runs), minhash.BINS), dtype=np.uint64)
    by_characters = [row for row, sorted_runs in enumerate(scripts) if sorted_runs.mostly_unspaced]
    by_words = [row for row, sorted_runs in enumerate(scripts) if not sorted_runs.mostly_unspaced]
    letters = ["".join(runs[row]) for row in by_characters]
    hashes = [memory.hashes(runs[row]) for row in by_words]
    result[by_characters] = minhash.minima(*minhash.character_shingles(letters))
    result[by_words] = minhash.minima(*minhash.word_shingles(hashes))
    return result
