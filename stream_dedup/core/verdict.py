"""What was decided about an article (verdict), why (kind), and the evidence."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum


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


class FactKind(IntEnum):
    """What sort of fact tells two bulletins of one template apart."""

    NUMBER = 0
    DATE = 1
    NAME = 2


@dataclass(frozen=True, slots=True)
class Replaced:
    """How many facts of one kind stand in the same context in both texts, but with another value."""

    kind: FactKind
    count: int
    compared: int
    """Facts of this kind that could be compared."""


@dataclass(frozen=True, slots=True)
class Veto:
    """Why an article that is near a kept one is no duplicate of it: its facts are others."""

    original_id: str
    """Of the kept article."""
    replaced: tuple[Replaced, ...]
    """By kind, only those of which any was replaced."""

    def __str__(self) -> str:
        said = ", ".join(f"{one.count} of {one.compared} {one.kind.name.lower()}s" for one in self.replaced)
        return f"{said} replaced"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One article's verdict with its evidence."""

    sequence: int
    """Place in the total order, from 0."""
    kind: Kind
    verdict: Verdict
    original: Original | None = None
    veto: Veto | None = None
    """Only where a veto left the article without an original; the nearest kept article's."""
    reason: str | None = None
    """One sentence; only where the verdict is rejected."""
