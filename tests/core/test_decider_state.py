"""The decider against the plain oracle: any articles, any batch boundaries, restarts and thrown-away batches."""

from dataclasses import replace
from unittest.mock import patch

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from stream_dedup.core.decider import Decider, Rules
from stream_dedup.core.delta import Delta
from stream_dedup.core.sketch import SetAside, Sketch, Submission
from stream_dedup.core.verdict import Kind
from tests.core.handmade import SCHEMES, equal_bytes, sketch
from tests.core.plain_decider import PlainDecider

RULES = st.builds(
    Rules,
    radius=st.sampled_from([0, 2, 3, 3, 7]),
    threshold=st.sampled_from([0.0, 0.5]),
    window=st.sampled_from([None, 1, 15, 40]),
    max_entries=st.sampled_from([1, 2, 3, 8, 1000]),
    keep_revisions=st.booleans(),
    vetoes=st.booleans(),
)
ALIKE = st.builds(
    sketch,
    topic=st.integers(0, 1),
    flipped=st.sampled_from([0, 0, 1, 3, 4]),
    edited=st.sampled_from([0, 10, 40]),
    scheme=st.sampled_from(sorted(SCHEMES)),
    fact=st.sampled_from(["", "", "1", "2"]),
)
CONTENTS = st.one_of(
    ALIKE,
    ALIKE,
    ALIKE.map(lambda one: replace(one, digest=bytes(16))),
    st.builds(sketch, topic=st.integers(0, 40)),
    st.sampled_from(
        [
            SetAside(Kind.UNFINGERPRINTABLE),
            SetAside(Kind.TOMBSTONE),
            SetAside(Kind.UNREADABLE, "The value is not JSON."),
        ]
    ),
)
"""Articles alike in all degrees, some with the same digest however alike they are, unlike ones, and those set aside."""
ARTICLES = st.tuples(CONTENTS, st.integers(-30, 10), st.sampled_from(["a", "b", None]))
BATCHES = st.lists(ARTICLES, max_size=14)


class DecidingMachine(RuleBasedStateMachine):
    """Feeds the decider batches, a second one single articles, and the oracle the same; all must agree."""

    @initialize(rules=RULES)
    def start(self, rules: Rules) -> None:
        """Three deciders under the same rules, nothing kept."""
        self.deciding_rules = rules
        self.decider = Decider(rules, equal_bytes)
        self.one_by_one = Decider(rules, equal_bytes)
        self.oracle = PlainDecider(rules)
        self.deltas: list[Delta] = []
        self.submitted: list[Submission] = []
        self.now = 1000

    def _submissions(self, articles: list[tuple[Sketch | SetAside, int, str | None]]) -> list[Submission]:
        first = len(self.submitted)
        return [
            Submission(f"raw-0-{first + i}", name or f"raw-0-{first + i}", self.now + lag, content)
            for i, (content, lag, name) in enumerate(articles)
        ]

    def _submit(self, submissions: list[Submission]) -> None:
        decision = self.decider.decide(submissions, self.decider.position + len(submissions))
        kept_before = len(self.oracle.ever_kept)
        assert list(decision.judgements) == [self.oracle.judge(article) for article in submissions]
        assert _sequences(decision.delta) == self.oracle.ever_kept[kept_before:]
        self.decider.apply(decision.delta)
        self.deltas.append(decision.delta)
        for article in submissions:
            self.one_by_one.apply(self.one_by_one.decide([article], self.one_by_one.position + 1).delta)
        self.submitted += submissions

    @rule(articles=BATCHES, passing=st.sampled_from([0, 1, 5, 30]))
    def submit(self, articles: list[tuple[Sketch | SetAside, int, str | None]], passing: int) -> None:
        """Verdicts, evidence and order are the oracle's."""
        self.now += passing
        self._submit(self._submissions(articles))

    @precondition(lambda self: self.submitted)
    @rule(picks=st.lists(st.integers(0, 10**6), min_size=1, max_size=6))
    def replay(self, picks: list[int]) -> None:
        """Articles that come again from the same position are judged as the oracle says."""
        self._submit([self.submitted[-1 - pick % len(self.submitted)] for pick in picks])

    @rule(articles=BATCHES)
    def throw_away(self, articles: list[tuple[Sketch | SetAside, int, str | None]]) -> None:
        """Deciding, even twice, changes nothing, and gives the same both times."""
        before = self.decider.digest()
        submissions = self._submissions(articles)
        twice = [self.decider.decide(submissions, self.decider.position + len(submissions)) for _ in range(2)]
        assert twice[0].judgements == twice[1].judgements
        assert self.decider.digest() == before

    @precondition(lambda self: self.deltas)
    @rule()
    def trim(self) -> None:
        """Let go of the first deltas while all their entries have left; the last one stays."""
        standing = {entry.sequence for entry in self.oracle.kept}
        while len(self.deltas) > 1 and standing.isdisjoint(_sequences(self.deltas[0])):
            self.deltas.pop(0)

    @precondition(lambda self: self.deltas)
    @rule()
    def restart(self) -> None:
        """Applying all deltas that are still there to a fresh decider gives the same state; it goes on from there."""
        before = self.decider.digest()
        self.decider = self._restored()
        assert self.decider.digest() == before

    @precondition(lambda self: self.deltas)
    @rule(max_entries=st.sampled_from([1, 2, 5, 1000]))
    def restart_with_another_limit(self, max_entries: int) -> None:
        """A lower limit takes effect as soon as the next article is kept; a higher one makes room."""
        self.deciding_rules = replace(self.deciding_rules, max_entries=max_entries)
        self.oracle.rules = self.deciding_rules
        self.decider, self.one_by_one = self._restored(), self._restored()

    def _restored(self) -> Decider:
        restored = Decider(self.deciding_rules, equal_bytes, position=self.deltas[0].start)
        for delta in self.deltas:
            restored.apply(delta)
        return restored

    @invariant()
    def batches_do_not_matter(self) -> None:
        """The state is the same whether articles came in batches or one by one."""
        if self.submitted:
            assert self.decider.digest() == self.one_by_one.digest()


def _sequences(delta: Delta) -> list[int]:
    return sorted(sequence for entries in delta.entries for sequence in entries.sequences.tolist())


def test_any_history_is_decided_as_the_oracle_does() -> None:
    """Whatever comes in whatever batches, with restarts in between, the verdicts are those of the plain rules."""
    with patch("stream_dedup.core.index.OPEN_ENTRIES", 3), patch("stream_dedup.core.candidates.ROWS_AT_ONCE", 5):
        run_state_machine_as_test(
            DecidingMachine,
            settings=settings(
                max_examples=100, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )
