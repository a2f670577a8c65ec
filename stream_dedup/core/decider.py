"""Deciding: what each article of a batch is, and what the batch changes. `decide` changes nothing, `apply` does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.delta import Delta
from stream_dedup.core.sketch import Submission
from stream_dedup.core.verdict import Judgement
from stream_dedup.core.window import EventClock

Similarity: TypeAlias = Callable[[NDArray[np.uint8], NDArray[np.uint8]], NDArray[np.float64]]
"""Estimates the Jaccard similarity of n pairs of signatures: (n, SIGNATURE_BYTES) twice -> (n,), 0 to 1."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that verdicts depend on.

    Raises:
        SettingsError: a value is out of its range.
    """

    radius: int
    """Hamming distance in bits up to which a kept article is a candidate, 0 to 7."""
    threshold: float
    """Estimated Jaccard similarity that a candidate must reach, 0 to 1."""
    window: int | None
    """How long a kept article can be an original, in ms of event time; None: for ever."""
    max_entries: int
    """How many kept articles are live at most; beyond that the oldest by sequence leaves."""
    keep_revisions: bool
    """Revisions are unique and kept, rather than duplicates."""

    def hash64(self) -> int:
        """A 64-bit hash that is the same on every machine, to notice changed settings."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about a batch; nothing has changed yet."""

    judgements: tuple[Judgement, ...]
    """In the order of the submissions."""
    delta: Delta


class Decider:
    """The whole state of deciding."""

    def __init__(self, rules: Rules, similarity: Similarity, position: int = 0) -> None:
        """Start with nothing kept.

        Args:
            rules: the settings that verdicts depend on.
            similarity: the estimate of the Jaccard similarity from signatures.
            position: next input offset. Restoring starts at the `start` of the first delta that the changelog still has.
        """
        self.rules = rules
        self._similarity = similarity
        self._position = position

    @property
    def position(self) -> int:
        """Next input offset."""
        return self._position

    @property
    def sequence(self) -> int:
        """The sequence of the next article."""
        raise NotImplementedError

    @property
    def clock(self) -> EventClock:
        """The clock of event time."""
        raise NotImplementedError

    @property
    def evicted_below(self) -> int:
        """Entries with a lower sequence have left by the limit on entries."""
        raise NotImplementedError

    def __len__(self) -> int:
        """How many entries are held; some may be dead and not dropped yet."""
        raise NotImplementedError

    def decide(self, submissions: Sequence[Submission], end: int) -> Decision:
        """Judge a batch that starts at `position` and ends before the input offset `end`."""
        raise NotImplementedError

    def apply(self, delta: Delta) -> None:
        """Change the state by one committed delta.

        Raises:
            DeltaRefusedError: the delta does not start where the state stands.
        """
        raise NotImplementedError

    def digest(self) -> str:
        """A hash of the whole state, equal for equal states however they came about."""
        raise NotImplementedError
