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
from stream_dedup.core.runs import Runs, runs_of
from stream_dedup.core.segment import Scripts, Segmenter, by_script, segment
from stream_dedup.core.simhash import HashMemory
from stream_dedup.core.sketch import DIGEST_BYTES, FACT_BYTES
from stream_dedup.core.words import Words, count_words, words_of


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """n texts; rows are in their order."""

    texts: Sequence[str]
    """As they came."""
    folded: list[str]
    """(n,) folded."""
    runs: Runs
    """Their runs."""
    run_hashes: NDArray[np.uint64]
    """(runs,) hashes of the runs that are words, and of all runs of texts that are cut at spaces; 0 of others."""
    mostly_unspaced: NDArray[np.bool_]
    """(n,) whether half the letters or more are Han or of another script without spaces."""
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

    def words(self) -> Words:
        """The different words of all texts, runs of Han in full mode, as hashes."""
        return words_of(self.runs, self.run_hashes, self.segmenter, self.memory)

    def scripts(self, row: int) -> Scripts:
        """The runs of one text by script."""
        return by_script(text.runs(self.folded[row]))

    def counter(self, row: int) -> Counter[str]:
        """How often each word stands in one text: the same words as strings, for people to see."""
        return Counter(segment(self.segmenter, self.scripts(row)))


def prepare(texts: Sequence[str], segmenter: Segmenter, memory: HashMemory) -> Prepared:
    """Make a batch of texts ready; each row depends on its own text alone."""
    folded = [text.fold(raw) for raw in texts]
    runs = runs_of(folded)
    counts = count_words(runs, segmenter)
    unspaced = runs.mostly_unspaced
    run_hashes = _run_hashes(runs, unspaced, memory)
    return Prepared(
        texts=texts,
        folded=folded,
        runs=runs,
        run_hashes=run_hashes,
        mostly_unspaced=unspaced,
        digests=_rows([text.digest(text.comparable(one)) for one in folded], DIGEST_BYTES),
        facts=_rows(_facts(texts, folded, unspaced, counts), FACT_BYTES),
        word_counts=counts,
        minima=_minima(runs, run_hashes, unspaced),
        segmenter=segmenter,
        memory=memory,
    )


def _run_hashes(runs: Runs, unspaced: NDArray[np.bool_], memory: HashMemory) -> NDArray[np.uint64]:
    hashes = np.zeros(len(runs.ends), dtype=np.uint64)
    wanted = runs.are_words | ~np.repeat(unspaced, runs.per_text)
    hashes[wanted] = memory.hashes(runs.strings(wanted))
    return hashes


def _facts(
    texts: Sequence[str], folded: list[str], unspaced: NDArray[np.bool_], counts: NDArray[np.int64]
) -> list[bytes]:
    return [
        # Where words are cut at spaces facts come from the text as it came, for its capitals: so decode it here too.
        fact_sketch(facts_of(unescape(raw) if "&" in raw else raw, plain, unspaced=without_spaces), words)
        for raw, plain, without_spaces, words in zip(texts, folded, unspaced.tolist(), counts.tolist(), strict=True)
    ]


def _rows(parts: list[bytes], size: int) -> NDArray[np.uint8]:
    """(n, size) of n byte strings of this size."""
    return np.frombuffer(bytearray(b"".join(parts)), dtype=np.uint8).reshape(-1, size)


def _minima(runs: Runs, run_hashes: NDArray[np.uint64], unspaced: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Minima over 5 characters each of text that is mostly Han, over 3 words each of other text."""
    result = np.empty((len(unspaced), minhash.BINS), dtype=np.uint64)
    per_text = runs.letters_per_text
    letters = runs.letters[np.repeat(unspaced, per_text)].astype(np.uint64)
    result[unspaced] = minhash.minima(*minhash.shingles(letters, per_text[unspaced], minhash.CHARACTERS))
    words = run_hashes[np.repeat(~unspaced, runs.per_text)]
    result[~unspaced] = minhash.minima(*minhash.shingles(words, runs.per_text[~unspaced], minhash.WORDS))
    return result
