"""What a weight asks of a word, besides how often it stands there: whether it is a number, and how common it is."""

from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.jieba_data import jieba_words

NUMBER = -1
"""The trait of a word that is a number, or has a digit at least. Of others it is how often the word stands in the
corpus of jieba's dictionary, where that is LISTED or more, and anything below LISTED otherwise."""
NO_WORD = -2
"""In a dictionary: of what only begins a word."""
LISTED = 2_000
"""From how many on a word is damped: below, it would lose less than a hundredth."""


def trait_of(word: str) -> int:
    """The trait of a word that is not in the dictionary."""
    return NUMBER if any(map(str.isdigit, word)) else 0


def traits_of(words: Iterable[str]) -> NDArray[np.int32]:
    """The trait of each of n words, (n,): to explain weights, since the words that are hashed come with theirs."""
    common = common_words()
    return np.array([common.get(word) or trait_of(word) for word in words], dtype=np.int32)


@cache
def common_words() -> Mapping[str, int]:
    """Words of jieba's dictionary that are frequent in the corpus it was made from, and how often they stand there."""
    words, frequencies = jieba_words()
    return {words[place].decode(): int(frequencies[place]) for place in np.flatnonzero(frequencies >= LISTED)}
