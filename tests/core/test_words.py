"""A batch's runs and words from arrays against those of each text alone from strings."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stream_dedup.core import minhash
from stream_dedup.core.characters import UNSPACED, ideographs
from stream_dedup.core.jieba_data import jieba_words
from stream_dedup.core.prepared import Prepared, prepare
from stream_dedup.core.runs import Runs, runs_of
from stream_dedup.core.segment import RJIEBA, by_script, segment
from stream_dedup.core.simhash import HashMemory, simhashes, xxh3
from stream_dedup.core.text import fold, runs
from stream_dedup.core.traits import LISTED
from stream_dedup.core.words import count_words, words_of
from tests.core import plain_words
from tests.core.languages import LANGUAGES
from tests.core.plain_words import hashed_words

MEMORY = HashMemory(xxh3(0))
PIECES = [
    "中国人民银行",
    "宣布",
    "下调存款准备金率",
    "二〇一八",
    "人々",
    "㐀",
    "\U00020000",
    "\U0002b740",
    "\U00031350",
]
OTHERS = [
    "the rate",
    "2.5",
    "q3",
    "٣",
    "한국",
    "ラジオ",
    "ข่าว",
    "႑႒",
    "\U0003fffeab5人民",
    "\U00040000 c++",
    "，",
    "\n",
    "😀",
    "é",
]
TEXTS = st.lists(st.sampled_from(PIECES + OTHERS) | st.text(max_size=8), max_size=30).map("".join)
STORIES = [" ".join(story) for stories in LANGUAGES.values() for story in stories]


def _words(batch: Prepared) -> list[set[tuple[int, int, float]]]:
    """The words of each text: hash, how common (0 for rare ones) or -1 for a number, frequency."""
    words = batch.words()
    traits = np.where((words.traits >= LISTED) | (words.traits < 0), words.traits, 0)
    found = list(zip(words.hashes.tolist(), traits.tolist(), words.counts.tolist(), strict=True))
    rows = [found[start:end] for start, end in pairwise([0, *words.ends.tolist()])]
    assert [len(row) for row in rows] == [len(set(row)) for row in rows]
    return [set(row) for row in rows]


@given(st.lists(TEXTS | st.sampled_from(STORIES), max_size=5))
def test_words_are_those_of_the_segmenter(texts: list[str]) -> None:
    """Every word of every script with its hash, trait and frequency, as if each text were cut alone into strings."""
    scripts = [by_script(runs(fold(raw))) for raw in texts]
    assert _words(prepare(texts, RJIEBA, MEMORY)) == [hashed_words(RJIEBA, one, MEMORY) for one in scripts]


def test_every_word_of_the_dictionary_is_found() -> None:
    """Full mode finds the same words in all words of the dictionary and in all its ideographs, side by side."""
    found = [word for word in [*map(bytes.decode, jieba_words()[0]), *ideographs()] if len(word) < 5]
    texts = ["".join(found[start::500]) for start in range(500)]
    scripts = [by_script(runs(one)) for one in texts]
    words = words_of(*_runs(texts), RJIEBA, MEMORY)
    expected = [set(MEMORY.hashes(segment(RJIEBA, one)).tolist()) for one in scripts]
    assert [set(part.tolist()) for part in np.split(words.hashes, words.ends[:-1])] == expected


def _runs(texts: list[str]) -> tuple[Runs, NDArray[np.uint64]]:
    made = runs_of(texts)
    return made, MEMORY.hashes(made.strings(np.ones(len(made.ends), dtype=np.bool_)))


def test_a_text_with_more_words_than_twice_its_letters() -> None:
    """Overlapping words of a long run have room."""
    text = "中华人民共和国中央人民政府" * 500
    assert _words(prepare([text, "字"], RJIEBA, MEMORY))[0] == hashed_words(RJIEBA, by_script([text]), MEMORY)


@given(st.lists(TEXTS | st.sampled_from(STORIES), max_size=5))
def test_runs_are_those_of_the_pattern(texts: list[str]) -> None:
    """The same runs in the same order, sorted by script alike, and the same words counted."""
    folded = [fold(raw) for raw in texts]
    made = runs_of(folded)
    scripts = [by_script(runs(one)) for one in folded]
    everything = made.strings(np.ones(len(made.ends), dtype=np.bool_))
    assert [everything[start:end] for start, end in pairwise([0, *made.run_ends.tolist()])] == list(map(runs, folded))
    assert made.strings(made.are_words) == [word for one in scripts for word in one.words]
    assert made.strings(made.kinds == UNSPACED) == [run for one in scripts for run in one.unspaced]
    assert made.mostly_unspaced.tolist() == [one.mostly_unspaced for one in scripts]
    assert made.digits.tolist() == [any(map(str.isdigit, run)) for run in everything]
    assert made.letters_per_text.tolist() == [len("".join(runs(one))) for one in folded]
    assert count_words(made, RJIEBA).tolist() == [plain_words.count_words(RJIEBA, one) for one in scripts]


@given(st.lists(TEXTS | st.sampled_from(STORIES), min_size=1, max_size=4))
def test_minima_are_those_of_each_text(texts: list[str]) -> None:
    """Each bin has the smallest hash of the text's shingles, an empty one that of the first donor that has one."""
    expected = []
    for raw in texts:
        found = runs(fold(raw))
        unspaced = by_script(found).mostly_unspaced
        items = list(map(ord, "".join(found))) if unspaced else MEMORY.hashes(found).tolist()
        expected.append(plain_words.minima(items, minhash.CHARACTERS if unspaced else minhash.WORDS))
    assert prepare(texts, RJIEBA, MEMORY).minima.tolist() == expected


@given(st.lists(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**40)), max_size=9), max_size=6))
def test_a_batch_has_the_fingerprints_of_its_texts(texts: list[list[tuple[int, int]]]) -> None:
    """Each bit is set when the weights for it outweigh those against it, text by text."""
    hashes = np.array([value for text in texts for value, _ in text], dtype=np.uint64)
    weights = np.array([weight for text in texts for _, weight in text], dtype=np.float64)
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    expected = [
        sum((sum(w if value >> bit & 1 else -w for value, w in text) > 0) << bit for bit in range(64)) for text in texts
    ]
    assert simhashes(hashes, weights, ends).tolist() == expected
