"""What was decided about an article (verdict), why (kind), and the evidence."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What was decided."""

    UNIQUE = "unique"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"


class Kind(StrEnum):
    """Why it was decided so."""

    NEW = "new"
    UNFINGERPRINTABLE = "unfingerprintable"
    LATE = "late"
    TOMBSTONE = "tombstone"
    EXACT = "exact"
    NEAR = "near"
    REVISION = "revision"
    UNREADABLE = "unreadable"


VERDICT_OF: Mapping[Kind, Verdict] = {
    Kind.NEW: Verdict.UNIQUE,
    Kind.UNFINGERPRINTABLE: Verdict.UNIQUE,
    Kind.LATE: Verdict.UNIQUE,
    Kind.TOMBSTONE: Verdict.UNIQUE,
    Kind.EXACT: Verdict.DUPLICATE,
    Kind.NEAR: Verdict.DUPLICATE,
    Kind.REVISION: Verdict.DUPLICATE,
    Kind.UNREADABLE: Verdict.REJECTED,
}
"""The verdict that each kind carries, unless a revision is routed to unique."""


@dataclass(frozen=True, slots=True)
class Original:
    """The kept article that a duplicate repeats, and how near it is."""

    id: str
    sequence: int
    time: int
    """Event time in ms since the epoch."""
    distance: int
    """Hamming distance of the fingerprints in bits, the smallest where a scheme has several."""
    similarity: float
    """Jaccard similarity estimated from the signatures, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One article's verdict with its evidence."""

    sequence: int
    """Place in the total order, from 0."""
    kind: Kind
    verdict: Verdict
    original: Original | None = None
    reason: str | None = None
    """One sentence; only where the verdict is rejected."""
