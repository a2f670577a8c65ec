"""Runs of one script to words: a dictionary's words in runs of Han, pairs of letters in scripts without spaces.

    segment(RJIEBA, by_script(["我爱北京", "the", "square", "ラジオ"]))
        ->  ["the", "square", "我", "爱", "北", "北京", "京", "ラジ", "ジオ"]

A run of Han goes to the dictionary by itself: texts with digits and Latin letters are cut otherwise by rjieba than by
jieba, runs of Han are not.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import rjieba

from stream_dedup.core.characters import ideographs
from stream_dedup.core.dictionary import Dictionary, dictionary
from stream_dedup.core.jieba_data import jieba_words
from stream_dedup.core.text import UNSPACED


@dataclass(frozen=True, slots=True)
class Segmenter:
    """Words of Chinese text after one dictionary."""

    name: str
    """Program and version: part of the name of every scheme that uses it."""
    full: Callable[[str], list[str]]
    """Full mode: every word of the dictionary that stands in the text, however they overlap, single characters too."""
    accurate: Callable[[str], list[str]]
    """Accurate mode: the text cut into words."""
    dictionary: Callable[[], Dictionary]
    """What full mode finds in runs of Han, as a tree that is made at the first use."""


_SEPARATOR = "\u3400"
"""An ideograph that is in no word of the dictionary: full mode drops it, and no word reaches over it."""


@cache
def rjieba_dictionary() -> Dictionary:
    """The dictionary of rjieba, which is jieba's; a third of a second to make, 20 MB.

    Ideographs that its full mode takes for no Han (々〇 and those of later versions of Unicode) are words alone.
    """
    words, frequencies = jieba_words()
    known = set(words)
    alone = [one for one in map(str.encode, rjieba.cut_all(_SEPARATOR.join(ideographs()))) if one not in known]
    return dictionary(words + alone, np.append(frequencies, np.zeros(len(alone), dtype=np.int32)))


RJIEBA = Segmenter("rjieba-0.2.2", full=rjieba.cut_all, accurate=rjieba.cut, dictionary=rjieba_dictionary)
SHORT_HAN = 64
"""Characters of Han up to which words are counted in accurate mode; beyond, two characters are taken for a word."""
_LETTER = re.compile(r"\w\W*|\W+")
"""A letter with its vowel signs and tone marks, which are no \\w: pairs of bare characters would tell little apart."""
_unspaced = re.compile(f"[{UNSPACED}]").match


@dataclass(frozen=True, slots=True)
class Scripts:
    """The runs of one text by the way in which they are cut into words; each list in the order of the text."""

    han: list[str]
    unspaced: list[str]
    """Kana, Thai and other scripts without spaces."""
    words: list[str]
    """What stands between spaces and punctuation in all other scripts."""

    @property
    def mostly_unspaced(self) -> bool:
        """Whether half the letters or more are Han or of another script without spaces."""
        without = sum(map(len, self.han)) + sum(map(len, self.unspaced))
        return without >= sum(map(len, self.words))

    @property
    def mostly_han(self) -> bool:
        """Whether half the letters or more are Han."""
        return sum(map(len, self.han)) >= sum(map(len, self.unspaced)) + sum(map(len, self.words))


def by_script(runs: Sequence[str]) -> Scripts:
    """Sort a text's runs (see text.runs) by script."""
    scripts = Scripts([], [], [])
    for run in runs:
        if "\u3400" <= run < "\ua000" or run >= "\U00020000" or run[0] in "々〇":
            scripts.han.append(run)
        elif run.isascii() or _unspaced(run) is None:
            scripts.words.append(run)
        else:
            scripts.unspaced.append(run)
    return scripts


def segment(segmenter: Segmenter, scripts: Scripts) -> list[str]:
    """All words of a text, runs of Han in full mode: as often as they stand there, but not in their order."""
    words = scripts.words.copy()
    if scripts.han:
        # One call gives the same words as one a run, in three quarters of the time.
        words += segmenter.full(_SEPARATOR.join(scripts.han))
    for run in scripts.unspaced:
        words += pairs(run)
    return words


def pairs(run: str) -> list[str]:
    """Neighbouring letters of a run in a script without spaces; a letter that is alone."""
    letters = _LETTER.findall(run)
    return [first + second for first, second in pairwise(letters)] or letters
