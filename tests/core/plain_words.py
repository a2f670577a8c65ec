"""Runs, words and minima one text and one string at a time: slow, and plain to see; what is quick must equal it."""

from collections import Counter

from stream_dedup.core import minhash
from stream_dedup.core.segment import SHORT_HAN, Scripts, Segmenter, segment
from stream_dedup.core.simhash import HashMemory
from stream_dedup.core.traits import common_words, trait_of


def count_words(segmenter: Segmenter, scripts: Scripts) -> int:
    """How many words a reader would count."""
    characters = sum(map(len, scripts.han))
    few = characters <= SHORT_HAN
    han = sum(len(segmenter.accurate(run)) for run in scripts.han) if few else characters // 2
    return han + sum((len(run) + 1) // 2 for run in scripts.unspaced) + len(scripts.words)


def hashed_words(segmenter: Segmenter, scripts: Scripts, memory: HashMemory) -> set[tuple[int, int, float]]:
    """The different words of a text: hash, how common in the dictionary or -1 for a number, frequency."""
    common = common_words()
    counted = Counter(segment(segmenter, scripts))
    return {(memory[word], common.get(word) or trait_of(word), times) for word, times in counted.items()}


def minima(items: list[int], size: int) -> list[int]:
    """The smallest shingle hash of each bin; an empty bin asks its donors in turn."""
    items = items + [0] * (size - len(items))
    hashes = {_shingle(items[place : place + size]) for place in range(len(items) - size + 1)}
    filled: dict[int, int] = {}
    for value in hashes:
        place = value * minhash.BINS >> 64
        filled[place] = min(value, filled.get(place, value))
    return [filled[place] if place in filled else _borrowed(filled, place) for place in range(minhash.BINS)]


_WHOLE = 2**64 - 1


def _shingle(items: list[int]) -> int:
    factors: list[int] = minhash.FACTORS[: len(items)].tolist()
    value = sum(item * factor for item, factor in zip(items, factors, strict=True)) & _WHOLE
    mix: list[int] = minhash.MIX.tolist()
    for factor in mix:
        value = (value ^ value >> 32) * factor & _WHOLE
    return value ^ value >> 29


def _borrowed(filled: dict[int, int], place: int) -> int:
    for donor in minhash.DONORS[:, place].tolist():
        if donor in filled:
            return filled[donor]
    salt, factor = int(minhash.SALTS[place]), int(minhash.MIX[0])
    return min(filled.values(), key=lambda value: (value ^ salt) * factor & _WHOLE)
