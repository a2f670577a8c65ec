"""The kinds, one history each, and what holds of applying."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from stream_dedup.core.decider import Decider
from stream_dedup.core.delta import Delta
from stream_dedup.core.rules import Rules
from stream_dedup.core.sketch import SetAside, Sketch, Submission
from stream_dedup.core.verdict import Kind
from stream_dedup.errors import DeltaRefusedError
from tests.core.handmade import equal_bytes, sketch

RULES = Rules(radius=3, threshold=0.55, window=100, max_entries=1000, keep_revisions=False, vetoes=True)
UNFINGERPRINTABLE = SetAside(Kind.UNFINGERPRINTABLE)
TOMBSTONE = SetAside(Kind.TOMBSTONE)
UNREADABLE = SetAside(Kind.UNREADABLE, "The value is empty: 0 bytes, and all of them white space.")
CLOCK = [(UNFINGERPRINTABLE, 1000)] * 5
"""Five articles after which the clock stands at 1000 and the horizon at 900."""


@dataclass(frozen=True)
class History:
    """Articles in order, and what each is."""

    says: str
    articles: list[tuple[Sketch | SetAside, int]]
    """Content and event time; the place in the list is the sequence and, if nothing else is said, position and id."""
    kinds: str
    """Kinds in order; a duplicate's original after a colon."""
    rules: Rules = RULES
    names: tuple[str | None, ...] = ()
    """Ids, where they are not the positions."""
    positions: tuple[int, ...] = ()
    """Positions, where they are not the sequences."""


HISTORIES = [
    History("unlike articles are new", [(sketch(1), 0), (sketch(2), 0)], "new new"),
    History("the same text is exact", [(sketch(1), 0), (sketch(1), 0), (sketch(1), 0)], "new exact:0 exact:0"),
    History("within radius and threshold is near", [(sketch(1), 0), (sketch(1, 3, 20), 0)], "new near:0"),
    History("beyond the radius is new", [(sketch(1), 0), (sketch(1, 4, 20), 0)], "new new"),
    History("below the threshold is new", [(sketch(1), 0), (sketch(1, 0, 29), 0)], "new new"),
    History(
        "at the threshold is near", [(sketch(1), 0), (sketch(1, 0, 32), 0)], "new near:0", replace(RULES, threshold=0.5)
    ),
    History("only kept ones are originals", [(sketch(1), 0), (sketch(1, 3), 0), (sketch(1, 6), 0)], "new near:0 new"),
    History(
        "replaced facts keep near ones apart",
        [(sketch(1, fact="5"), 0), (sketch(1, 2, fact="6"), 0), (sketch(1, 1, fact="6"), 0)],
        "new new near:1",
    ),
    History(
        "without vetoes they do not",
        [(sketch(1, fact="5"), 0), (sketch(1, 2, fact="6"), 0)],
        "new near:0",
        replace(RULES, vetoes=False),
    ),
    History("facts of one side alone are no veto", [(sketch(1, fact="5"), 0), (sketch(1, 2), 0)], "new near:0"),
    History(
        "vetoes do not apply to a revision",
        [(sketch(1, fact="5"), 0), (sketch(1, 2, fact="6"), 0)],
        "new revision:0",
        names=("a", "a"),
    ),
    History(
        "vetoes do not apply to the same text",
        [(sketch(1), 0), (replace(sketch(1, fact="6"), digest=sketch(1).digest), 0)],
        "new exact:0",
    ),
    History("the nearest wins", [(sketch(1), 0), (sketch(1, 4), 0), (sketch(1, 3), 0)], "new new near:1"),
    History(
        "at one distance the most similar wins",
        [(sketch(1, 1, 32), 0), (sketch(1, 1), 0), (sketch(1, 2, 10), 0)],
        "new new near:1",
    ),
    History(
        "at one distance and similarity the first wins",
        [(sketch(1), 0), (sketch(1, 6), 0), (sketch(1, 3), 0)],
        "new new near:0",
    ),
    History(
        "exact wins over nearer",
        [(sketch(1, 0, 10), 0), (sketch(1, 4), 0), (replace(sketch(1, 1), digest=sketch(1, 4).digest), 0)],
        "new new exact:1",
    ),
    History(
        "an exact one needs neither radius nor threshold",
        [(sketch(1), 0), (replace(sketch(1), fingerprints=(0,), signature=bytes(64)), 0)],
        "new exact:0",
    ),
    History("any fingerprint may be near", [(sketch(1, 2, 0, "two"), 0), (sketch(1, 4, 0, "two"), 0)], "new near:0"),
    History("schemes do not meet", [(sketch(1), 0), (replace(sketch(1), scheme="other"), 0)], "new new"),
    History("same id and near is a revision", [(sketch(1), 0), (sketch(1, 2), 0)], "new revision:0", names=("a", "a")),
    History("same id and same text is exact", [(sketch(1), 0), (sketch(1), 0)], "new exact:0", names=("a", "a")),
    History("same id and nothing near is new", [(sketch(1), 0), (sketch(2), 0)], "new new", names=("a", "a")),
    History(
        "a revision is no original",
        [(sketch(1), 0), (sketch(1, 3), 0), (sketch(1, 6), 0)],
        "new revision:0 new",
        names=("a", "a", "a"),
    ),
    History(
        "unless revisions are kept",
        [(sketch(1), 0), (sketch(1, 3), 0), (sketch(1, 6), 0)],
        "new revision:0 revision:1",
        replace(RULES, keep_revisions=True),
        names=("a", "a", "a"),
    ),
    History(
        "a late revision is not kept",
        [*CLOCK, (sketch(1), 1000), (sketch(1, 3), 900), (sketch(1, 6), 1000)],
        f"{'unfingerprintable ' * 5}new revision:5 new",
        replace(RULES, keep_revisions=True),
        names=("", "", "", "", "", "a", "a", "a"),
    ),
    History(
        "set aside is told as it is", [(TOMBSTONE, 0), (UNREADABLE, 0), (sketch(1), 0)], "tombstone unreadable new"
    ),
    History("short texts are never duplicates", [(UNFINGERPRINTABLE, 0)] * 2, "unfingerprintable unfingerprintable"),
    History("late is not kept", [*CLOCK, (sketch(1), 900), (sketch(1), 900)], f"{'unfingerprintable ' * 5}late late"),
    History(
        "a ms younger is kept", [*CLOCK, (sketch(1), 901), (sketch(1), 900)], f"{'unfingerprintable ' * 5}new exact:5"
    ),
    History(
        "expired is no original", [(sketch(1), 900), *CLOCK, (sketch(1), 1000)], f"new {'unfingerprintable ' * 5}new"
    ),
    History(
        "an article's own time expires others first",
        [*[(UNFINGERPRINTABLE, 1000)] * 4, (sketch(1), 900), (sketch(1), 1000)],
        f"{'unfingerprintable ' * 4}new new",
    ),
    History(
        "tombstones and unreadable ones do not move the clock",
        [(sketch(1), 0), *[(TOMBSTONE, 1000)] * 5, *[(UNREADABLE, 1000)] * 5, (sketch(1), 0)],
        f"new {'tombstone ' * 5}{'unreadable ' * 5}exact:0",
    ),
    History(
        "without a window nothing expires",
        [(sketch(1), -(2**50)), *CLOCK, (sketch(1), -(2**60))],
        f"new {'unfingerprintable ' * 5}exact:0",
        replace(RULES, window=None),
    ),
    History("a replay is not its own duplicate", [(sketch(1), 0)] * 2, "new new", positions=(0, 0)),
    History("nor kept twice", [(sketch(1), 0)] * 3, "new new exact:0", positions=(0, 0, 1)),
    History("a replayed duplicate is one again", [(sketch(1), 0)] * 3, "new exact:0 exact:0", positions=(0, 1, 1)),
    History(
        "a replay after expiry is kept again",
        [(sketch(1), 900), *CLOCK, (sketch(1), 1000), (sketch(1), 1000)],
        f"new {'unfingerprintable ' * 5}new exact:6",
        positions=(0, 1, 2, 3, 4, 5, 0, 7),
    ),
    History(
        "the limit evicts the oldest",
        [(sketch(1), 0), (sketch(2), 0), (sketch(1), 0), (sketch(3), 0), (sketch(1), 0), (sketch(2), 0)],
        "new new exact:0 new new new",
        replace(RULES, max_entries=2),
    ),
    History(
        "expired ones do not count against the limit",
        [(sketch(1), 1000), (sketch(2), 900), *CLOCK, (sketch(3), 1000), (sketch(1), 1000)],
        f"new new {'unfingerprintable ' * 5}new exact:0",
        replace(RULES, max_entries=2),
    ),
    History(
        "the limit holds for all schemes together",
        [(sketch(1), 0), (sketch(1, 0, 0, "two"), 0), (sketch(2), 0), (sketch(1, 0, 0, "two"), 0), (sketch(1), 0)],
        "new new new exact:1 new",
        replace(RULES, max_entries=2),
    ),
]


def submissions_of(history: History) -> list[Submission]:
    """The articles as the decider takes them."""
    found = []
    for place, (content, time) in enumerate(history.articles):
        position = f"raw-0-{history.positions[place] if history.positions else place}"
        name = history.names[place] if history.names else None
        found.append(Submission(position, name or position, time, content))
    return found


def decided(rules: Rules, batches: list[list[Submission]]) -> tuple[Decider, list[str], list[Delta]]:
    """The decider after the batches, kinds with originals, and the deltas."""
    decider = Decider(rules, equal_bytes)
    told, deltas = [], []
    for batch in batches:
        decision = decider.decide(batch, decider.position + len(batch))
        decider.apply(decision.delta)
        deltas.append(decision.delta)
        told += [
            f"{one.kind}:{one.original.sequence}" if one.original else str(one.kind) for one in decision.judgements
        ]
    return decider, told, deltas


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.says)
def test_each_kind_is_decided_by_its_rule(history: History) -> None:
    """Fed whole, one by one, and in threes, and replayed from the deltas, it is the same story and the same state."""
    submissions = submissions_of(history)
    whole, told, _ = decided(history.rules, [submissions])
    assert told == history.kinds.split()
    for size in (1, 3):
        batches = [submissions[first : first + size] for first in range(0, len(submissions), size)]
        split, told_split, deltas = decided(history.rules, batches)
        assert told_split == told
        assert split.digest() == whole.digest()
        restored = Decider(history.rules, equal_bytes)
        for delta in deltas:
            restored.apply(delta)
        assert restored.digest() == whole.digest()


@pytest.mark.parametrize(
    ("content", "kind"), [(sketch(2), Kind.LATE), (sketch(1, 3), Kind.REVISION)], ids=["late", "late revision"]
)
def test_what_is_older_than_the_window_is_not_kept(content: Sketch, kind: Kind) -> None:
    """Unique or not, it could never be an original, and takes no room from those that can."""
    clock = [Submission(f"raw-1-{place}", "", time, UNFINGERPRINTABLE) for place, (_, time) in enumerate(CLOCK)]
    batch = [*clock, Submission("raw-0-0", "a", 1000, sketch(1)), Submission("raw-0-1", "a", 900, content)]
    decision = Decider(replace(RULES, keep_revisions=True), equal_bytes).decide(batch, len(batch))
    assert (decision.judgements[-1].kind, decision.judgements[-1].verdict) == (kind, "unique")
    assert [entries.sequences.tolist() for entries in decision.delta.entries] == [[5]]


def test_judgements_carry_sequence_verdict_and_evidence() -> None:
    """Of an original: id, sequence, time, distance and similarity; of a rejected one: the reason."""
    submissions = [
        Submission("raw-0-0", "a", 7, sketch(1)),
        Submission("raw-0-1", "b", 8, sketch(1, 2, 16)),
        Submission("raw-0-2", "c", 9, UNREADABLE),
    ]
    first, near, rejected = Decider(RULES, equal_bytes).decide(submissions, 3).judgements
    assert (first.sequence, first.verdict, first.original) == (0, "unique", None)
    assert near.original is not None
    assert (near.sequence, near.verdict, near.original.id) == (1, "duplicate", "a")
    assert (near.original.sequence, near.original.time) == (0, 7)
    assert (near.original.distance, near.original.similarity) == (2, 0.75)
    assert (rejected.sequence, rejected.verdict, rejected.reason) == (2, "rejected", UNREADABLE.reason)


def test_a_kept_revision_is_unique_and_names_its_original() -> None:
    """Routed to unique, it still carries the evidence."""
    batch = [Submission(f"raw-0-{flipped}", "a", 0, sketch(1, flipped)) for flipped in (0, 2)]
    revision = Decider(replace(RULES, keep_revisions=True), equal_bytes).decide(batch, 2).judgements[1]
    assert (revision.kind, revision.verdict) == ("revision", "unique")
    assert revision.original is not None
    assert revision.original.distance == 2


@pytest.mark.parametrize("start", [0, 4, 6, 100])
def test_a_delta_that_does_not_start_where_the_state_stands_is_refused(start: int) -> None:
    """Twice, missing or foreign: it changes nothing, and the message has both offsets."""
    decider, _, deltas = decided(RULES, [submissions_of(HISTORIES[0]), []])
    decider.apply(replace(deltas[1], start=2, end=5))
    before = decider.digest()
    with pytest.raises(DeltaRefusedError, match=f"from offset {start} to 7 .* stands at offset 5"):
        decider.apply(replace(deltas[0], start=start, end=7))
    assert decider.digest() == before


def test_an_empty_batch_only_moves_the_position() -> None:
    """Offsets without articles, such as commit markers, are passed over."""
    decider, _, _ = decided(RULES, [submissions_of(HISTORIES[0])])
    decision = decider.decide([], 9)
    assert decision.judgements == ()
    decider.apply(decision.delta)
    assert (decider.position, decider.sequence, len(decider)) == (9, 2, 2)


def test_a_restore_may_start_anywhere() -> None:
    """The first delta that a trimmed changelog still has carries the whole small state."""
    clocked = submissions_of(HISTORIES[0]) + [
        Submission(f"raw-1-{time}", "", time, UNFINGERPRINTABLE) for time in range(9)
    ]
    decider, _, deltas = decided(replace(RULES, window=1), [clocked, submissions_of(HISTORIES[1])])
    restored = Decider(replace(RULES, window=1), equal_bytes, position=deltas[1].start)
    restored.apply(deltas[1])
    assert restored.digest() == decider.digest()
    assert (restored.position, restored.sequence, restored.clock) == (decider.position, 14, decider.clock)


def test_a_large_batch_of_one_text_keeps_one() -> None:
    """Half a million pairs within a batch are no half a million comparisons article by article."""
    batch = [Submission(f"raw-0-{place}", "", 0, sketch(1)) for place in range(1000)]
    decider, told, deltas = decided(RULES, [batch])
    assert told == ["new", *["exact:0"] * 999]
    assert [len(entries) for entries in deltas[0].entries] == [len(decider)] == [1]


def test_every_part_of_the_state_is_in_its_digest() -> None:
    """A digest that left something out would call different states equal."""
    decider, _, deltas = decided(RULES, [[Submission("raw-0-0", "a", 5, sketch(1))]])
    kept = deltas[0].entries[0]
    others = [
        replace(deltas[0], end=2),
        replace(deltas[0], sequence=2),
        replace(deltas[0], clock=(6,)),
        replace(deltas[0], entries=()),
        replace(deltas[0], evicted_below=-1),
        replace(deltas[0], entries=(replace(kept, scheme="other"),)),
        replace(deltas[0], entries=(replace(kept, fingerprints=kept.fingerprints + np.uint64(1)),)),
        replace(deltas[0], entries=(replace(kept, signatures=kept.signatures ^ np.uint8(1)),)),
        replace(deltas[0], entries=(replace(kept, digests=kept.digests + np.uint64(1)),)),
        replace(deltas[0], entries=(replace(kept, facts=kept.facts + np.uint8(1)),)),
        replace(deltas[0], entries=(replace(kept, times=kept.times + 1),)),
        replace(deltas[0], entries=(replace(kept, sequences=kept.sequences + 1),)),
        replace(deltas[0], entries=(replace(kept, positions=kept.positions + np.uint64(1)),)),
        replace(deltas[0], entries=(replace(kept, id_bytes=kept.id_bytes + np.uint8(1)),)),
    ]
    digests = {decider.digest()}
    for other in others:
        changed = Decider(RULES, equal_bytes)
        changed.apply(other)
        digests.add(changed.digest())
    assert len(digests) == len(others) + 1
