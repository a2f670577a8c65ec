"""The words of a batch of texts as hashes with their frequencies: what fingerprints are made of.

Words of runs of Han come from the dictionary, all others by their strings. Two words of one text with one 64-bit hash
count as one word: they would vote for the same bits all the same.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.characters import HAN, STRANGE, UNSPACED, WORD
from stream_dedup.core.compiled import compiled
from stream_dedup.core.runs import Runs
from stream_dedup.core.segment import SHORT_HAN, Segmenter, pairs
from stream_dedup.core.simhash import HashMemory
from stream_dedup.core.traits import trait_of
from stream_dedup.core.tree import Occurrences, find_words


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The different words of n texts, w in all, one text's after the other's."""

    hashes: NDArray[np.uint64]
    """(w,)."""
    traits: NDArray[np.int32]
    """(w,) NUMBER of a word with a digit, and how common they are of others (see traits.py)."""
    counts: NDArray[np.float64]
    """(w,) how often each stands in its text: whole numbers."""
    ends: NDArray[np.int64]
    """(n,) where each text's words end."""


def words_of(runs: Runs, run_hashes: NDArray[np.uint64], segmenter: Segmenter, memory: HashMemory) -> Words:
    """The different words of n texts: the same ones as `segment` finds, runs of Han in full mode.

    Args:
        runs: of the n texts.
        run_hashes: (r,) the hash of each run that is a word; those of other runs are not looked at.
        segmenter: finds words in runs of Han.
        memory: hashes of words.
    """
    dictionary = segmenter.dictionary()
    extra = _extra_words(runs, segmenter, memory)
    return Words(*_tally(*find_words(runs, run_hashes, memory.tree(dictionary), dictionary.longest, extra)))


def _extra_words(runs: Runs, segmenter: Segmenter, memory: HashMemory) -> Occurrences:
    """The words of runs that are neither Han nor words.

    They are few: pairs of letters, and what the segmenter makes of runs that begin with an unassigned character.
    """
    counts = np.zeros(len(runs.run_ends), dtype=np.int64)
    found: list[str] = []
    wanted = (runs.kinds == UNSPACED) | (runs.kinds == STRANGE)
    for row, kind, run in zip(runs.rows[wanted], runs.kinds[wanted], runs.strings(wanted), strict=True):
        words = pairs(run) if kind == UNSPACED else segmenter.full(run)
        counts[row] += len(words)
        found += words
    traits = np.fromiter(map(trait_of, found), np.int32, len(found))
    return Occurrences(memory.hashes(found), traits, np.cumsum(counts))


def count_words(runs: Runs, segmenter: Segmenter) -> NDArray[np.int64]:
    """(n,) how many words a reader would count in each text, for the limit under which a text is too short.

    Full mode finds words in words, so runs of Han are counted in accurate mode while they are few; where there are more
    than SHORT_HAN characters, and in other scripts without spaces, two characters are taken for a word.
    """
    han = runs.sizes[:, HAN] + runs.sizes[:, STRANGE]
    counts = np.where(han > SHORT_HAN, han // 2, 0)
    lengths = np.diff(runs.ends, prepend=0)
    single = np.where(runs.kinds == WORD, 1, np.where(runs.kinds == UNSPACED, (lengths + 1) // 2, 0))
    rows = runs.rows
    np.add.at(counts, rows, single)
    few = ((runs.kinds == HAN) | (runs.kinds == STRANGE)) & (han <= SHORT_HAN)[rows]
    for row, run in zip(rows[few], runs.strings(few), strict=True):
        counts[row] += len(segmenter.accurate(run))
    return counts


@compiled
def _tally(
    hashes: NDArray[np.uint64], traits: NDArray[np.int32], ends: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
    """The fields of `Words`, from all words as often as they stand in each text."""
    different, different_traits = np.empty_like(hashes), np.empty_like(traits)
    counts = np.empty(len(hashes), np.float64)
    different_ends = np.empty_like(ends)
    table = np.empty(0, np.int64)  # a hash table with open addresses, at most half full: places in `different`
    found = place = 0
    for row in range(len(ends)):
        size = 2
        while size < 2 * (ends[row] - place):
            size *= 2
        if size > len(table):
            table = np.empty(size, np.int64)
        table[:size] = -1
        while place < ends[row]:
            slot = np.int64(hashes[place] & np.uint64(size - 1))
            while table[slot] >= 0 and different[table[slot]] != hashes[place]:
                slot = slot + 1 & size - 1
            if table[slot] < 0:
                table[slot] = found
                different[found], different_traits[found], counts[found] = hashes[place], traits[place], 0.0
                found += 1
            counts[table[slot]] += 1.0
            place += 1
        different_ends[row] = found
    return different[:found], different_traits[:found], counts[:found], different_ends
