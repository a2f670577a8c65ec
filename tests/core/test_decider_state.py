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

from stream_dedup.core.candidates import MAX_VERIFIED
from stream_dedup.core.decider import Decider
from stream_dedup.core.delta import Delta
from stream_dedup.core.rules import Rules
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

    max_verified = MAX_VERIFIED

    @initialize(rules=RULES)
    def start(self, rules: Rules) -> None:
        """Three deciders under the same rules, nothing kept."""
        self.decider = Decider(rules, equal_bytes)
        self.one_by_one = Decider(rules, equal_bytes)
        self.oracle = PlainDecider(rules, max_verified=self.max_verified)
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
        kept_before, truncated_before = len(self.oracle.ever_kept), self.oracle.truncated
        assert list(decision.judgements) == [self.oracle.judge(article) for article in submissions]
        assert decision.truncated == self.oracle.truncated - truncated_before
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

    @rule(rules=RULES)
    def change(self, rules: Rules) -> None:
        """Other rules hold at once: what is dead by its age stays dead; a lower limit evicts when the next is kept."""
        event = self.decider.change(rules)
        self.decider.apply(event)
        self.one_by_one.apply(event)
        self.oracle.change(rules)
        self.deltas.append(event)

    def _restored(self) -> Decider:
        # Under whatever settings a worker starts, what it restores is under the rules of the deltas.
        restored = Decider(replace(self.oracle.rules, radius=1, window=7), equal_bytes, position=self.deltas[0].start)
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
    with patch("stream_dedup.core.index.OPEN_ENTRIES", 3), patch("stream_dedup.core.candidates.QUERIES_AT_ONCE", 5):
        run_state_machine_as_test(
            DecidingMachine,
            settings=settings(
                max_examples=100, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )


class FloodedMachine(DecidingMachine):
    """The same where only the two nearest are verified, so that a few articles make a flood."""

    max_verified = 2


def test_a_flood_is_decided_as_the_oracle_does() -> None:
    """Which entries are verified depends on what stands in the index, not on batches, runs, evictions or restarts."""
    with (
        patch("stream_dedup.core.index.OPEN_ENTRIES", 3),
        patch("stream_dedup.core.candidates.QUERIES_AT_ONCE", 5),
        patch("stream_dedup.core.candidates.HITS_AT_ONCE", 4),
        patch("stream_dedup.core.candidates.MAX_VERIFIED", FloodedMachine.max_verified),
    ):
        run_state_machine_as_test(
            FloodedMachine,
            settings=settings(
                max_examples=100, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )


def test_what_leaves_within_a_batch_makes_room_for_those_behind() -> None:
    """Two of four near entries leave before the last article: the fourth is then one of the two that are verified."""
    rules = Rules(radius=3, threshold=0.5, window=None, max_entries=4, keep_revisions=False, vetoes=False)
    flood = [sketch(1, 0, 40), sketch(1, 1, 64), sketch(1, 2, 50), sketch(1, 3, 0)]
    flood = [replace(one, signature=bytes([number]) * 64) for number, one in enumerate(flood)]
    last = replace(sketch(1, 0, 1), signature=flood[3].signature)
    articles = [
        Submission(f"raw-0-{place}", f"raw-0-{place}", 0, content)
        for place, content in enumerate([*flood, sketch(2), sketch(3), last])
    ]
    with patch("stream_dedup.core.candidates.MAX_VERIFIED", 2):
        decider = Decider(rules, equal_bytes)
        decider.apply(decider.decide(articles[:4], 4).delta)
        judgements = decider.decide(articles[4:], 7).judgements
    oracle = PlainDecider(rules, max_verified=2)
    assert list(judgements) == [oracle.judge(article) for article in articles][4:]
    assert judgements[-1].kind is Kind.NEAR
