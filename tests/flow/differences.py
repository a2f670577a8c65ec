"""What may differ between what came out and what must have."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a difference comes to for those who read the outputs."""

    LOST = "lost"
    EXTRA = "extra"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it must be."""

    kind: Kind
    what: str
