"""Sentences of a text, and those that another text added or left out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from stream_dedup.core.text import comparable, fold

COMPARED = 2000
"""Sentences of a text that are compared: the time may grow with the square of it."""
_END = re.compile(
    r"(?<=[。！？])(?![。！？”’」』）])|(?<=[。！？][”’」』）])|(?<=[.!?…])\s+|(?<=[.!?…][\"'”’)])\s+|\s*\n\s*"
)


@dataclass(frozen=True, slots=True)
class SentenceChanges:
    """What became of the sentences of one text in another, each side in the order of its text."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    kept: int
    """Sentences in both, in the same order; case, width, script variant and punctuation do not matter."""
    not_compared: int
    """Sentences beyond COMPARED, of both texts."""


def sentences(text: str) -> list[str]:
    """The sentences of a text as they stand there; a line end ends one as well."""
    return [part for sentence in _END.split(text) if (part := sentence.strip())]


def compare_sentences(left: str, right: str) -> SentenceChanges:
    """What a later text has and an earlier one has not, and the other way round."""
    ours, theirs = sentences(left), sentences(right)
    beyond = max(0, len(ours) - COMPARED) + max(0, len(theirs) - COMPARED)
    ours, theirs = ours[:COMPARED], theirs[:COMPARED]
    blocks = SequenceMatcher(None, _keys(ours), _keys(theirs), autojunk=False).get_matching_blocks()
    left_kept = {place for block in blocks for place in range(block.a, block.a + block.size)}
    right_kept = {place for block in blocks for place in range(block.b, block.b + block.size)}
    return SentenceChanges(
        removed=tuple(one for place, one in enumerate(ours) if place not in left_kept),
        added=tuple(one for place, one in enumerate(theirs) if place not in right_kept),
        kept=len(left_kept),
        not_compared=beyond,
    )


def _keys(parts: Sequence[str]) -> list[str]:
    return [comparable(fold(part)) for part in parts]
