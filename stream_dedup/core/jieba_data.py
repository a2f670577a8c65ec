"""The data files of the jieba package. It is not imported for them: that sets up logging and takes 150 MB."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_COLUMNS = 3
"""A word, its frequency, its part of speech."""


def jieba_file(name: str) -> Path:
    """A data file of the jieba package.

    Raises:
        ModuleNotFoundError: jieba is not installed.
    """
    spec = find_spec("jieba")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("jieba, whose data this scheme uses, is not installed: install requirements.lock")
    return Path(spec.submodule_search_locations[0], name)


def jieba_words() -> tuple[list[bytes], NDArray[np.int32]]:
    """The n words of jieba's dictionary in UTF-8, and how often each stands in the corpus it was made from, (n,).

    The corpus has 60 million words.
    """
    columns = jieba_file("dict.txt").read_bytes().split()
    words, frequencies = columns[::_COLUMNS], columns[1::_COLUMNS]
    return words, np.fromiter(map(int, frequencies), np.int32, len(words))
