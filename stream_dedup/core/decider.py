"""Deciding: what each article of a batch is, and what the batch changes. `decide` changes nothing, `apply` does."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xxhash

from stream_dedup.core.candidates import Criterion, Similarity, find_candidates
from stream_dedup.core.delta import Delta, Entries, entries_of, joined
from stream_dedup.core.eviction import Occupancy, census, roomy
from stream_dedup.core.index import Index
from stream_dedup.core.judging import Comparison, Judge
from stream_dedup.core.rules import Rules
from stream_dedup.core.sketch import SetAside, Sketch, Submission
from stream_dedup.core.verdict import Judgement, Kind
from stream_dedup.core.veto import no_veto, replaced_facts
from stream_dedup.core.window import EventClock
from stream_dedup.errors import DeltaRefusedError

CLOCKLESS = frozenset({Kind.TOMBSTONE, Kind.UNREADABLE})
"""What has no event time of its own and does not move the clock."""
KEPT = frozenset({Kind.NEW})
KEPT_WITH_REVISIONS = KEPT | {Kind.REVISION}


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about a batch; nothing has changed yet."""

    judgements: tuple[Judgement, ...]
    """In the order of the submissions."""
    delta: Delta
    truncated: int
    """Articles that had more near entries than are verified: somebody floods the index with variants of one text."""


class Decider:
    """The whole state of deciding."""

    def __init__(self, rules: Rules, similarity: Similarity, position: int = 0) -> None:
        """Start with nothing kept.

        Args:
            rules: the settings that verdicts depend on, until a delta brings others.
            similarity: the estimate of the Jaccard similarity from signatures.
            position: next input offset. A restore begins at the `start` of the first delta that is still there.
        """
        self._rules = rules
        self._similarity = similarity
        self._position = position
        self._sequence = 0
        self._clock = EventClock()
        self._evicted_below = 0
        self._indices: dict[str, Index] = {}

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return self._rules

    @property
    def position(self) -> int:
        """Next input offset."""
        return self._position

    @property
    def sequence(self) -> int:
        """The sequence of the next article."""
        return self._sequence

    @property
    def clock(self) -> EventClock:
        """The clock of event time."""
        return self._clock

    @property
    def evicted_below(self) -> int:
        """Entries with a lower sequence have left by the limit on entries."""
        return self._evicted_below

    def __len__(self) -> int:
        """How many entries are held; some may be dead and not dropped yet."""
        return sum(map(len, self._indices.values()))

    @property
    def largest_block(self) -> int:
        """How many entries of one sorted run share a block of their fingerprints: a lookup may compare them all."""
        return max((index.largest_block for index in self._indices.values()), default=0)

    def decide(self, submissions: Sequence[Submission], end: int) -> Decision:
        """Judge a batch that starts at `position` and ends before the input offset `end`. Changes nothing.

        A batch gives the same judgements and the same state as its articles one by one.
        """
        clocks = self._clocks(submissions)
        horizons = [clock.horizon(self._rules.window) for clock in clocks]
        comparisons = self._compare(submissions, horizons)
        keeping = KEPT_WITH_REVISIONS if self._rules.keep_revisions else KEPT
        judge = Judge(
            keeping, replaced_facts if self._rules.vetoes else no_veto, self._occupancy(horizons), comparisons
        )
        judgements = tuple(
            judge.judge(sequence, submission, horizon)
            for sequence, (submission, horizon) in enumerate(zip(submissions, horizons, strict=True), self._sequence)
        )
        delta = Delta(
            start=self._position,
            end=end,
            sequence=self._sequence + len(submissions),
            clock=clocks[-1].times if clocks else self._clock.times,
            entries=tuple(one.batch.take(one.kept) for one in comparisons.values() if one.kept.any()),
            evicted_below=judge.occupancy.evicted_below,
            rules=self._rules,
        )
        return Decision(judgements, delta, judge.truncated)

    def change(self, rules: Rules) -> Delta:
        """The event that brings other rules: a delta without articles. Changes nothing."""
        return Delta(self._position, self._position, self._sequence, self._clock.times, (), self._evicted_below, rules)

    def apply(self, delta: Delta) -> None:
        """Change the state by one committed delta; the rules that it was decided under are in force from then on.

        Raises:
            DeltaRefusedError: the delta does not start where the state stands; nothing has changed.
        """
        if delta.start != self._position:
            raise DeltaRefusedError(
                f"A delta from offset {delta.start} to {delta.end} cannot follow a state that stands at offset "
                f"{self._position}; apply each committed delta once, in order."
            )
        if delta.rules != self._rules:
            self._adopt(delta.rules)
        self._position = delta.end
        self._sequence = delta.sequence
        self._clock = EventClock(delta.clock)
        self._evicted_below = delta.evicted_below
        horizon = self._clock.horizon(self._rules.window)
        for entries in delta.entries:
            self._insert(entries, horizon)
        for index in self._indices.values():
            index.drop_dead_runs(horizon, self._evicted_below)

    def _adopt(self, rules: Rules) -> None:
        """Other rules from here on. What is dead by its age stays dead, since it may be held or dropped already."""
        earlier, self._rules = self._rules, rules
        if rules.radius == earlier.radius and not rules.may_revive(earlier):
            return
        horizon = self._clock.horizon(earlier.window)
        indices, self._indices = self._indices, {}
        for index in indices.values():
            for entries in index.live(horizon, self._evicted_below):
                if len(entries):
                    self._insert(entries, horizon)

    def _insert(self, entries: Entries, horizon: int) -> None:
        new = Index(entries.scheme, entries.fingerprints.shape[1], self._rules.radius)
        self._indices.setdefault(entries.scheme, new).insert(entries, horizon, self._evicted_below)

    def digest(self) -> str:
        """A hash of the whole state, equal for equal states however they came about: only live entries count."""
        horizon = self._clock.horizon(self._rules.window)
        small = (self._position, self._sequence, self._clock.times, self._evicted_below, self._rules)
        state = xxhash.xxh3_128(repr(small).encode())
        for scheme, index in sorted(self._indices.items()):
            live = joined(list(index.live(horizon, self._evicted_below)))
            if len(live):
                _update(state, scheme, live)
        return state.hexdigest()

    def _clocks(self, submissions: Sequence[Submission]) -> list[EventClock]:
        """The clock as each article finds it: its own time is taken first."""
        clocks, clock = [], self._clock
        for submission in submissions:
            if isinstance(submission.content, Sketch) or submission.content.kind not in CLOCKLESS:
                clock = clock.take(submission.time)
            clocks.append(clock)
        return clocks

    def _compare(self, submissions: Sequence[Submission], horizons: Sequence[int]) -> dict[str, Comparison]:
        """Find the candidates of all fingerprinted articles, scheme by scheme."""
        sketched: dict[str, list[tuple[int, Submission, Sketch]]] = {}
        for sequence, submission in enumerate(submissions, self._sequence):
            if not isinstance(submission.content, SetAside):
                sketched.setdefault(submission.content.scheme, []).append((sequence, submission, submission.content))
        return {scheme: self._compare_scheme(entries_of(scheme, rows), horizons) for scheme, rows in sketched.items()}

    def _compare_scheme(self, batch: Entries, horizons: Sequence[int]) -> Comparison:
        index = self._indices.get(batch.scheme)
        candidates = find_candidates(
            batch,
            index.runs if index else (),
            Criterion(self._rules.radius, self._rules.threshold, self._similarity),
            np.array(horizons, np.int64)[batch.sequences - self._sequence],
            self._evicted_below,
            evictable=max(0, len(self) + len(horizons) - self._rules.max_entries),
        )
        return Comparison(batch, candidates)

    def _occupancy(self, horizons: Sequence[int]) -> Occupancy:
        """How full the index is before the batch; counted only where the batch may reach the limit."""
        limit = self._rules.max_entries
        if len(self) + len(horizons) <= limit:
            return roomy(limit, self._evicted_below, len(self))
        schemes = [[run.entries for run in index.runs] for index in self._indices.values()]
        before = self._clock.horizon(self._rules.window)
        after = horizons[-1] if horizons else before
        return census(limit, self._evicted_below, schemes, (before, after))


def _update(state: xxhash.xxh3_128, scheme: str, live: Entries) -> None:
    state.update(repr((scheme, live.fingerprints.shape)).encode())
    of_text = (live.fingerprints, live.signatures, live.digests, live.facts)
    for column in (*of_text, live.times, live.sequences, live.positions):
        state.update(column.tobytes())
    state.update(live.id_bytes.tobytes())
    state.update(live.id_ends.tobytes())
