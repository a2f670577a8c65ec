"""What is left of an article's text once it is fingerprinted: one article's `Sketch`, a batch's `Sketches`."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.verdict import Kind

SIGNATURE_BYTES = 64
"""Bytes of a MinHash signature, whatever the scheme."""
FACT_BYTES = 64
"""Bytes of the sketch of the text's facts (see core/fact_sketch.py)."""
DIGEST_BYTES = 16
"""Bytes of the digest (xxh3_128) that finds the same text."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """One fingerprinted article."""

    scheme: str
    fingerprints: tuple[int, ...]
    """64-bit SimHash values, as many as the scheme has."""
    signature: bytes
    digest: bytes
    facts: bytes
    """What is kept of the numbers, dates and names."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """An article that is not compared: unfingerprintable, tombstone or unreadable."""

    kind: Kind
    reason: str | None = None
    """One sentence; only for an unreadable one."""


@dataclass(frozen=True, slots=True)
class Sketches:
    """A batch of n texts after the scheme; rows are in the order of the texts."""

    scheme: str
    fingerprints: NDArray[np.uint64]
    """(n, fingerprints of the scheme)."""
    signatures: NDArray[np.uint8]
    """(n, SIGNATURE_BYTES)."""
    digests: NDArray[np.uint8]
    """(n, DIGEST_BYTES)."""
    facts: NDArray[np.uint8]
    """(n, FACT_BYTES)."""
    words: NDArray[np.int64]
    """(n,) words in each text, for the limit under which a text is too short to compare."""

    def content(self, index: int, min_words: int) -> Sketch | SetAside:
        """What the decider takes for one text of the batch: too few words are too little to compare."""
        return self.row(index) if self.words[index] >= min_words else SetAside(Kind.UNFINGERPRINTABLE)

    def row(self, index: int) -> Sketch:
        """The sketch of one text of the batch."""
        return Sketch(
            scheme=self.scheme,
            fingerprints=tuple(self.fingerprints[index].tolist()),
            signature=self.signatures[index].tobytes(),
            digest=self.digests[index].tobytes(),
            facts=self.facts[index].tobytes(),
        )


@dataclass(frozen=True, slots=True)
class Submission:
    """One article as the decider takes it: everything but the text."""

    position: str
    """Raw topic-partition-offset (`articles.raw-0-17`), or FILE:LINE offline; tells a replay from a repost."""
    id: str
    time: int
    """Event time in ms since the epoch."""
    content: Sketch | SetAside
