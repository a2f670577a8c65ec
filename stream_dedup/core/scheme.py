"""Schemes: versioned recipes that turn a batch of texts into `Sketches`; profiles: a scheme, a radius and a threshold.

text -> fold -> runs -> words, each with its weight -> SimHash fingerprint
                     -> shingles                    -> MinHash signature
             -> comparable form                     -> digest
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import xxhash
from numpy.typing import NDArray

from stream_dedup.core import minhash, text
from stream_dedup.core.segment import RJIEBA, Scripts, Segmenter, by_script, count_words, segment
from stream_dedup.core.simhash import HashMemory, simhash, xxh3
from stream_dedup.core.sketch import DIGEST_BYTES, SIGNATURE_BYTES, Sketches
from stream_dedup.errors import RecipeMismatchError, SettingsError

PROBE = (
    "我很想要打游戏，但是女朋友会生气！南京市长江大桥下的乒乓球拍卖完了。結婚的和尚未結婚的都要登記，研究生命起源。"
    "中国人民银行宣布下调存款准备金率０．５个百分点，Reuters 于 10:30 报道，ラジオ…"
)
"""A text with words in words, ambiguous borders, traditional characters, numbers and other scripts."""
PROBE_HASHES = {"news-tf.1+rjieba-0.2.2": 0x26279F3AB15480ED}
"""By the scheme's name, the xxh3_64 of the probe text's words and sketch (see check_recipe)."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """The recipe `news-tf`: words weighed by their frequency in the text, one xxh3 seed a fingerprint."""

    name: str
    """Recipe and version + segmenter and version: what the fingerprints depend on."""
    segmenter: Segmenter
    memories: tuple[HashMemory, ...] = field(repr=False, compare=False)
    """Hashes of words, one memory a fingerprint."""

    @property
    def fingerprints(self) -> int:
        """How many fingerprints an article has."""
        return len(self.memories)

    def fingerprint(self, texts: Sequence[str]) -> Sketches:
        """The sketches of n texts; each depends on its own text alone."""
        count = len(texts)
        fingerprints = np.zeros((count, self.fingerprints), dtype=np.uint64)
        digests = np.zeros((count, DIGEST_BYTES), dtype=np.uint8)
        words = np.zeros(count, dtype=np.int64)
        runs: list[list[str]] = []
        scripts: list[Scripts] = []
        for row, raw in enumerate(texts):
            folded = text.fold(raw)
            digests[row] = np.frombuffer(text.digest(text.comparable(folded)), dtype=np.uint8)
            runs.append(text.runs(folded))
            scripts.append(by_script(runs[-1]))
            words[row] = count_words(self.segmenter, scripts[-1])
            fingerprints[row] = self._fingerprints_of(scripts[-1])
        signatures = self._signatures(runs, scripts)
        return Sketches(self.name, fingerprints, signatures, digests, words)

    def _fingerprints_of(self, scripts: Scripts) -> NDArray[np.uint64]:
        """One text's fingerprints."""
        words = segment(self.segmenter, scripts)
        weigh = weigh_unspaced if scripts.mostly_unspaced else weigh_spaced
        values = [simhash(*weigh(words, memory)) for memory in self.memories]
        return np.array(values, dtype=np.uint64)

    def _signatures(self, runs: list[list[str]], scripts: list[Scripts]) -> NDArray[np.uint8]:
        """Signatures over 5 characters each of text that is mostly Han, over 3 words each of other text."""
        result = np.zeros((len(runs), SIGNATURE_BYTES), dtype=np.uint8)
        by_characters = [row for row, sorted_runs in enumerate(scripts) if sorted_runs.mostly_unspaced]
        by_words = [row for row, sorted_runs in enumerate(scripts) if not sorted_runs.mostly_unspaced]
        letters = ["".join(runs[row]) for row in by_characters]
        hashes = [self.memories[0].hashes(runs[row]) for row in by_words]
        result[by_characters] = minhash.signatures(*minhash.character_shingles(letters))
        result[by_words] = minhash.signatures(*minhash.word_shingles(hashes))
        return result


def weigh_unspaced(words: Sequence[str], memory: HashMemory) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Hashes and weights, both (n,), of a mostly Han text's n different words: the frequency to the 5/4, in sixteenths.

    What an edit changes are mostly words that stand once or twice; the frequent ones hold a fingerprint where it is. On
    Chinese news that takes the missed ones from 25 to 17 of 479 (Jaccard .9 and more) and from 126 to 108 of 191 (.7 to
    .9). A higher power brings unrelated articles together: at 3/2 eight candidates an article instead of one in nine.
    """
    hashes, counts = np.unique(memory.hashes(words), return_counts=True)
    # Square roots are rounded alike on every machine, powers are not; whole numbers keep the sums exact.
    return hashes, np.rint(16 * counts * np.sqrt(np.sqrt(counts)))


def weigh_spaced(words: Sequence[str], memory: HashMemory) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Hashes and weights, both (n,), of the n words of a text cut at spaces: a word weighs 1, a number 3.

    Bulletins made from one template differ in their numbers, reposts do not. On Reuters news of 1987 that takes the
    merged bulletins of other companies and days from 11 to 4, and the missed reposts (.9 and more) from 4 to 1 of 267.
    """
    numbers = [not word.isalpha() and any(map(str.isdigit, word)) for word in words]
    return memory.hashes(words), np.where(numbers, 3.0, 1.0)


@dataclass(frozen=True, slots=True)
class Profile:
    """A scheme, and how near two articles must be to be duplicates."""

    name: str
    scheme: Scheme
    radius: int
    """Hamming distance in bits up to which fingerprints are near."""
    threshold: float
    """Estimated Jaccard similarity from which a near one is a duplicate."""


def _news_tf(fingerprints: int) -> Scheme:
    return Scheme(f"news-tf.1+{RJIEBA.name}", RJIEBA, tuple(HashMemory(xxh3(seed)) for seed in range(fingerprints)))


PROFILES = ("strict",)
"""Names of all profiles."""


def profile(name: str) -> Profile:
    """The profile of this name, with a scheme and memories of its own; raises SettingsError for an unknown one."""
    if name != "strict":
        raise SettingsError(f"there is no profile {name!r}: choose strict")
    return Profile("strict", _news_tf(fingerprints=1), radius=3, threshold=0.55)


def check_recipe(scheme: Scheme) -> None:
    """Raise RecipeMismatchError unless the probe text gives the words and the sketch that its name promises."""
    scripts = by_script(text.runs(text.fold(PROBE)))
    words = [
        *segment(scheme.segmenter, scripts),
        *(word for run in scripts.han for word in scheme.segmenter.accurate(run)),
    ]
    sketch = scheme.fingerprint([PROBE]).row(0)
    found = xxhash.xxh3_64_intdigest(f"{words}{sketch}".encode())
    expected = PROBE_HASHES[scheme.name]
    if found != expected:
        raise RecipeMismatchError(
            f"scheme {scheme.name} gives {len(words)} words and hash {found:016x} on the probe text, "
            f"expected {expected:016x}: fingerprints made here would not meet those of other workers; "
            "install the versions in requirements.lock, and add no words to the segmenter's dictionary"
        )
