"""The part of deciding that goes article by article, since each may be the original of the next."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

import numpy as np

from stream_dedup.core.candidates import Candidate, Candidates, by_rank
from stream_dedup.core.delta import Entries
from stream_dedup.core.eviction import Occupancy
from stream_dedup.core.sketch import SetAside, Sketch, Submission
from stream_dedup.core.verdict import VERDICT_OF, Judgement, Kind, Original, Replaced, Verdict, Veto

FactComparison: TypeAlias = Callable[[bytes, bytes], tuple[Replaced, ...]]
"""Two sketches of facts -> what was replaced, where that keeps the articles apart; else nothing."""
MAX_VETOES = 32
"""Candidates that are tried for one article: the article that it repeats is among its nearest, not behind dozens."""


class Comparison:
    """A batch's articles of one scheme, what they may repeat, and which of them were kept so far."""

    def __init__(self, batch: Entries, candidates: Candidates) -> None:
        """Start before the first article."""
        self.batch = batch
        self.candidates = candidates
        self.kept = np.zeros(len(batch), np.bool_)
        self.next_row = 0
        self.positions: list[int] = batch.positions.tolist()


class Judge:
    """Judges the articles of one batch in their order."""

    def __init__(
        self,
        keeping: AbstractSet[Kind],
        vetoing: FactComparison,
        occupancy: Occupancy,
        comparisons: Mapping[str, Comparison],
    ) -> None:
        """Start before the first article.

        Args:
            keeping: the kinds that are unique and kept, unless they are too old or a replay.
            vetoing: says of two sketches of facts what was replaced, if it keeps the articles apart.
            occupancy: how full the index is.
            comparisons: by scheme, what the articles are compared with.
        """
        self.occupancy = occupancy
        self._comparisons = comparisons
        self._keeping = keeping
        self._vetoing = vetoing

    def judge(self, sequence: int, submission: Submission, horizon: int) -> Judgement:
        """Judge the next article; if it is kept, those after it may repeat it."""
        content = submission.content
        if isinstance(content, SetAside):
            return Judgement(sequence, content.kind, VERDICT_OF[content.kind], reason=content.reason)
        return self._compared(sequence, submission, content, horizon)

    def _compared(self, sequence: int, submission: Submission, sketch: Sketch, horizon: int) -> Judgement:
        comparison = self._comparisons[sketch.scheme]
        row = comparison.next_row
        comparison.next_row += 1
        candidates = comparison.candidates.of(row, comparison.kept, self.occupancy.evicted_below)
        position = comparison.positions[row]
        others = [candidate for candidate in candidates if candidate.position != position]
        original, veto = self._original(submission.id, sketch.facts, others)
        kind = _kind(submission, original, horizon)
        replayed = any(candidate.exact and candidate.position == position for candidate in candidates)
        if kind in self._keeping and submission.time > horizon and not replayed:
            comparison.kept[row] = True
            self.occupancy.keep(sequence, submission.time, horizon)
        verdict = Verdict.UNIQUE if kind in self._keeping else VERDICT_OF[kind]
        return Judgement(sequence, kind, verdict, _evidence(original) if original else None, veto)

    def _original(
        self, article_id: str, facts: bytes, candidates: Sequence[Candidate]
    ) -> tuple[Candidate | None, Veto | None]:
        """The best candidate that no veto keeps apart; without one, the veto of the best."""
        first: Veto | None = None
        for candidate in by_rank(candidates)[:MAX_VETOES]:
            if candidate.exact or candidate.id == article_id:
                return candidate, None
            replaced = self._vetoing(facts, candidate.facts)
            if not replaced:
                return candidate, None
            first = first or Veto(candidate.id, replaced)
        return None, first


def _kind(submission: Submission, original: Candidate | None, horizon: int) -> Kind:
    """What a fingerprinted article is."""
    if original is None:
        return Kind.NEW if submission.time > horizon else Kind.LATE
    if original.exact:
        return Kind.EXACT
    return Kind.REVISION if original.id == submission.id else Kind.NEAR


def _evidence(original: Candidate) -> Original:
    return Original(original.id, original.sequence, original.time, original.distance, original.similarity)
