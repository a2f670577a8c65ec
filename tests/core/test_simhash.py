"""SimHash against the package that people know, and the memory of hashes."""

import hashlib
from collections import Counter

import jieba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simhash import Simhash

from stream_dedup.core.simhash import HashMemory, simhash, xxh3

FEATURES = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6), st.integers(0, 60), max_size=30
)


def _md5(word: bytes) -> int:
    return int.from_bytes(hashlib.md5(word, usedforsecurity=False).digest()[-8:], "big")


def _ours(features: dict[str, int] | dict[str, float]) -> int:
    return simhash(HashMemory(_md5).hashes(features), np.array(list(features.values()), dtype=np.float64))


@given(FEATURES.filter(bool))
def test_equals_the_simhash_package(features: dict[str, int]) -> None:
    """With the low 64 bits of MD5 every bit is the simhash package's, whole weights, zero weights and ties included."""
    assert _ours(features) == Simhash(features).value


@given(st.dictionaries(st.text("abc字", max_size=4), st.integers(1, 4000).map(lambda eighths: eighths / 8), min_size=1))
def test_equals_the_simhash_package_with_fractions(features: dict[str, float]) -> None:
    """Weights that are not whole numbers give the package's bits too."""
    assert _ours(features) == Simhash(features).value


def test_a_tie_leaves_the_bit_unset() -> None:
    """Two words of equal weight set only the bits that both have."""
    both = np.array([0b1100, 0b1010], dtype=np.uint64)
    assert simhash(both, np.ones(2)) == 0b1000


def test_known_sentence() -> None:
    """The words of jieba's full mode with term frequency and MD5 give the value known for this sentence."""
    words = ["我", "很", "想要", "打游戏", "游戏", "但是", "女朋友", "朋友", "会生", "生气"]
    assert [word for word in jieba.cut("我很想要打游戏，但是女朋友会生气！", cut_all=True) if word.isalpha()] == words
    assert _ours(Counter(words)) == 1459185014329402212


def test_no_words() -> None:
    """Without words the fingerprint is 0."""
    assert _ours(dict[str, int]()) == 0


@pytest.mark.parametrize("weight", [1.0, 2.0**40])
def test_one_word_gives_its_hash(weight: float) -> None:
    """A single word's fingerprint is its hash, however heavy it is."""
    value = xxh3(7)("字".encode())
    assert simhash(np.array([value], dtype=np.uint64), np.array([weight])) == value


def test_seeds_give_other_hashes() -> None:
    """Each fingerprint of a scheme votes by hashes of its own."""
    assert len({xxh3(seed)(b"word") for seed in range(8)}) == 8


@given(st.lists(st.text("abcd", max_size=2), max_size=60), st.integers(1, 5))
def test_memory_is_bounded_and_forgets_without_harm(words: list[str], limit: int) -> None:
    """The memory never holds more than its limit, and what it forgot comes out the same."""
    memory = HashMemory(xxh3(0), limit)
    for word in words:
        assert memory[word] == xxh3(0)(word.encode())
        assert len(memory) <= limit
    assert memory.hashes(words).tolist() == [xxh3(0)(word.encode()) for word in words]


def test_memory_computes_a_word_once() -> None:
    """A word that is held is not hashed again."""
    asked: list[bytes] = []

    def counting(word: bytes) -> int:
        asked.append(word)
        return len(asked)

    memory = HashMemory(counting)
    assert memory.hashes(["a", "b", "a"]).tolist() == [1, 2, 1]
    assert asked == [b"a", b"b"]


def test_memory_does_not_hold_long_words() -> None:
    """A stream of endless words cannot fill the memory: they are hashed, not held."""
    memory = HashMemory(xxh3(0))
    word = "x" * 1_000_000
    assert memory[word] == xxh3(0)(word.encode())
    assert word not in memory
