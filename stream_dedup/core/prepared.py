"""A batch of texts made ready once for whatever a scheme takes from them: runs, words, hashes, shingle minima."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core import minhash, text
from stream_dedup.core.comparable import comparable_all
from stream_dedup.core.fact_sketch import fact_sketch, sketch_of
from stream_dedup.core.facts import spaced_facts
from stream_dedup.core.folding import fold_all
from stream_dedup.core.han_facts import unspaced_slots
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
    """(r,) see `hash_runs`."""
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
    folded = fold_all(texts)
    runs = runs_of(folded)
    run_hashes = hash_runs(runs, memory)
    counts = count_words(runs, segmenter)
    return Prepared(
        texts=texts,
        folded=folded,
        runs=runs,
        run_hashes=run_hashes,
        mostly_unspaced=runs.mostly_unspaced,
        digests=digests_of(folded),
        facts=sketch_facts(texts, folded, runs.mostly_unspaced, counts),
        word_counts=counts,
        minima=minima_of(runs, run_hashes),
        segmenter=segmenter,
        memory=memory,
    )


def hash_runs(runs: Runs, memory: HashMemory) -> NDArray[np.uint64]:
    """(r,) hashes of the runs that are words, and of all runs of texts that are cut at spaces; 0 of others."""
    hashes = np.zeros(len(runs.ends), dtype=np.uint64)
    wanted = runs.are_words | ~np.repeat(runs.mostly_unspaced, runs.per_text)
    hashes[wanted] = memory.hashes(runs.strings(wanted))
    return hashes


def digests_of(folded: Sequence[str]) -> NDArray[np.uint8]:
    """(n, DIGEST_BYTES) of the comparable forms of n texts."""
    return _rows([text.digest(one) for one in comparable_all(folded)], DIGEST_BYTES)


def sketch_facts(
    texts: Sequence[str], folded: Sequence[str], unspaced: NDArray[np.bool_], counts: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """(n, FACT_BYTES) of n texts, given also folded, whether each is mostly unspaced, (n,), and its words, (n,)."""
    of_han = iter(unspaced_slots([one for one, without in zip(folded, unspaced, strict=True) if without]))
    sketches = [
        # Where words are cut at spaces facts come from the text as it came, for its capitals: so decode it here too.
        sketch_of(next(of_han), words)
        if without
        else fact_sketch(spaced_facts(unescape(raw) if "&" in raw else raw), words)
        for raw, without, words in zip(texts, unspaced.tolist(), counts.tolist(), strict=True)
    ]
    return _rows(sketches, FACT_BYTES)


def minima_of(runs: Runs, run_hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """(n, minhash.BINS) over 5 characters each of text that is mostly Han, over 3 words each of other text."""
    unspaced = runs.mostly_unspaced
    result = np.empty((len(unspaced), minhash.BINS), dtype=np.uint64)
    letters = runs.letters[np.repeat(unspaced, runs.letters_per_text)].astype(np.uint64)
    result[unspaced] = minhash.minima(*minhash.shingles(letters, runs.letters_per_text[unspaced], minhash.CHARACTERS))
    words = run_hashes[np.repeat(~unspaced, runs.per_text)]
    result[~unspaced] = minhash.minima(*minhash.shingles(words, runs.per_text[~unspaced], minhash.WORDS))
    return result


def _rows(parts: list[bytes], size: int) -> NDArray[np.uint8]:
    """(n, size) of n byte strings of this size."""
    return np.frombuffer(bytearray(b"".join(parts)), dtype=np.uint8).reshape(-1, size)
