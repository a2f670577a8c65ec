"""Two texts compared after one scheme: their words with weights, their fingerprints, their similarity."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stream_dedup.core.block_table import BLOCKS, block_of
from stream_dedup.core.jaccard import jaccard, shingles
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.prepared import prepare
from stream_dedup.core.scheme import Scheme
from stream_dedup.core.simhash import HashMemory, xxh3


@dataclass(frozen=True, slots=True)
class WeighedWord:
    """A word and what it weighs in two texts, 0 where it does not stand."""

    word: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class FingerprintPair:
    """Two 64-bit fingerprints of one hash seed."""

    left: int
    right: int

    @property
    def distance(self) -> int:
        """Hamming distance in bits."""
        return (self.left ^ self.right).bit_count()

    @property
    def shared_blocks(self) -> tuple[int, ...]:
        """Blocks of 16 bits that are equal, by which a lookup meets them; 0 has the lowest bits."""
        values = np.array([self.left, self.right], dtype=np.uint64)
        pairs = ((block, block_of(values, block)) for block in range(BLOCKS))
        return tuple(block for block, (ours, theirs) in pairs if ours == theirs)


@dataclass(frozen=True, slots=True)
class TextComparison:
    """What a scheme makes of two texts."""

    scheme: str
    words: tuple[WeighedWord, ...]
    """All words of both, the heaviest first."""
    word_counts: tuple[int, int]
    """Words that a reader would count, for the limit under which a text is too short."""
    fingerprints: tuple[FingerprintPair, ...]
    jaccard: float
    """Exact, over the shingles that the signature is made from."""
    estimated: float
    """Estimated from the signatures."""
    same_digest: bool
    """Nothing but case, width, script variant, white space and punctuation differs."""

    @property
    def distance(self) -> int:
        """The smallest Hamming distance of any fingerprint, in bits."""
        return min(pair.distance for pair in self.fingerprints)

    @property
    def equal_fingerprints(self) -> int:
        """How many fingerprints are equal."""
        return sum(pair.left == pair.right for pair in self.fingerprints)


def compare_texts(scheme: Scheme, left: str, right: str) -> TextComparison:
    """Compare two texts, given as they are."""
    sketches = scheme.fingerprint([left, right])
    memory = HashMemory(xxh3(0))
    return TextComparison(
        scheme=scheme.name,
        words=_joined(word_weights(scheme, left), word_weights(scheme, right)),
        word_counts=(int(sketches.words[0]), int(sketches.words[1])),
        fingerprints=tuple(FingerprintPair(*pair) for pair in sketches.fingerprints.T.tolist()),
        jaccard=jaccard(shingles(left, memory), shingles(right, memory)),
        estimated=float(estimated_jaccard(sketches.signatures[0], sketches.signatures[1])),
        same_digest=sketches.digests[0].tobytes() == sketches.digests[1].tobytes(),
    )


def word_weights(scheme: Scheme, text: str) -> Mapping[str, float]:
    """What each word of a text weighs in its fingerprints; nothing where the scheme does not go by words."""
    return scheme.recipe.weights(prepare([text], scheme.segmenter, scheme.memory), 0)


def _joined(left: Mapping[str, float], right: Mapping[str, float]) -> tuple[WeighedWord, ...]:
    words = (WeighedWord(word, left.get(word, 0.0), right.get(word, 0.0)) for word in dict.fromkeys([*left, *right]))
    return tuple(sorted(words, key=lambda one: (-max(one.left, one.right), one.word)))
