"""The heaviest TF-IDF keywords of a text: those of `jieba.analyse.extract_tags`, several times as fast.

jieba cuts blocks of Han, Latin letters, digits and some signs. A block of Han alone is cut by rjieba, which gives the
same words. In a mixed block no word of the dictionary reaches over a digit or a letter, save for the few that have one
(A股, 1号店), and so its runs of Han can be cut one by one: but for single characters at a run's border, which jieba
would take together with the digits (see `_cut_otherwise`). Blocks with either are left to jieba itself.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

import rjieba

from stream_dedup.core.jieba_data import jieba_file

# fmt: off
STOP_WORDS = frozenset([
    "the", "of", "is", "and", "to", "in", "that", "we", "for", "an", "are", "by", "be", "as", "on", "with", "can", "if",
    "from", "which", "you", "it", "this", "then", "at", "have", "all", "not", "one", "has", "or",
])
# fmt: on
"""English words that jieba.analyse leaves out."""
_HAN = "\u4e00-\u9fd5"
_BLOCK = re.compile(f"[{_HAN}a-zA-Z0-9+#&._%\\-]+")
_HAN_BLOCK = re.compile(f"[{_HAN}]+")
_RUN = re.compile(f"[{_HAN}]+|[^{_HAN}]+")
_NUMBER = re.compile(r"([a-zA-Z0-9]+(?:\.\d+)?%?)")
_BORDER = "。"
"""A character that ends a block and is no word of one."""


@dataclass(frozen=True, slots=True)
class _Jieba:
    """What is taken from jieba's package; some 150 MB, loaded at the first use."""

    cut: Callable[[str], Iterator[str]]
    """Accurate mode."""
    frequencies: dict[str, int]
    """Of the words in the dictionary; 0 for what only begins one."""
    mixed: re.Pattern[str]
    """The words that have a letter or a digit in them."""
    idf: dict[str, float]
    """Inverse document frequencies."""
    median: float
    """What a word without one gets."""


def keywords(text: str, count: int) -> list[tuple[str, float]]:
    """The heaviest words of two or more characters, heaviest first, with their weights: frequency * IDF / all words.

    Of words that are equally heavy those come first that stand first in the text.
    """
    return heaviest(cut(text), count)


def heaviest(words: Iterable[str], count: int) -> list[tuple[str, float]]:
    """The heaviest of a text's words, as `keywords`."""
    jieba = _jieba()
    counts = Counter(word for word in words if len(word.strip()) > 1 and word.lower() not in STOP_WORDS)
    # The order of jieba's operations, so that weights come out equal to the last bit.
    total = float(counts.total())
    weighed = [(word, times * (jieba.idf.get(word, jieba.median) / total)) for word, times in counts.items()]
    return sorted(weighed, key=lambda pair: pair[1], reverse=True)[:count]


def cut(text: str) -> Iterator[str]:
    """The words of a text in jieba's accurate mode, in order; characters outside of blocks are left out."""
    blocks = [_RUN.findall(block) for block in _BLOCK.findall(text)]
    han = [run for block in blocks for run in block if _HAN_BLOCK.match(run)]
    words = iter([*rjieba.cut(_BORDER.join(han)), _BORDER])
    for block in blocks:
        pieces = [
            list(takewhile(_BORDER.__ne__, words)) if _HAN_BLOCK.match(run) else list(filter(None, _NUMBER.split(run)))
            for run in block
        ]
        if _cut_otherwise(block, pieces):
            yield from _jieba().cut("".join(block))
        else:
            for piece in pieces:
                yield from piece


def _cut_otherwise(block: list[str], pieces: list[list[str]]) -> bool:
    """Whether jieba may cut a mixed block otherwise than its runs one by one.

    Neighbouring single characters go to the hidden Markov model together, unless they are a word of the dictionary,
    which together with digits they are not.
    """
    if len(block) == 1 and _HAN_BLOCK.match(block[0]):
        return False
    jieba = _jieba()
    return jieba.mixed.search("".join(block)) is not None or any(
        jieba.frequencies.get("".join(takewhile(_is_single, end)), 0) > 0
        or jieba.frequencies.get("".join(takewhile(_is_single, reversed(end)))[::-1], 0) > 0
        for run, end in zip(block, pieces, strict=True)
        if len(run) > 1 and _HAN_BLOCK.match(run)
    )


def _is_single(word: str) -> bool:
    return len(word) == 1


@cache
def _jieba() -> _Jieba:
    """Load jieba without its messages on stderr and its cache file in the temporary folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        import jieba  # noqa: PLC0415 - it sets up logging and takes a second: only for the scheme that needs it
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(jieba_file("dict.txt").open("rb"))
    tokenizer.initialized = True
    mixed = [word for word, frequency in tokenizer.FREQ.items() if frequency and not _HAN_BLOCK.fullmatch(word)]
    idf = dict(_idf_lines())
    return _Jieba(
        cut=tokenizer.cut,
        frequencies=tokenizer.FREQ,
        mixed=re.compile("|".join(map(re.escape, mixed))),
        idf=idf,
        median=sorted(idf.values())[len(idf) // 2],
    )


def _idf_lines() -> Iterator[tuple[str, float]]:
    with jieba_file("analyse/idf.txt").open(encoding="utf-8") as lines:
        for line in lines:
            word, frequency = line.strip().split(" ")
            yield word, float(frequency)
