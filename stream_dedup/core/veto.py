"""The veto: whether two near texts are bulletins of one template, by the facts that were replaced.

A fact of one text is compared with those of the other in the same context:

    equal      the other text has the same value there
    replaced   it has another value there
    moved      it has nothing there, but the same value elsewhere: the words around it were edited
    alone      it has neither: added, cut, or replaced as well as a name beside it

A template has little but equal and replaced facts; an edited article has facts that moved and are alone as well. So
those are counted, for less, among what the replaced ones are a share of.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from stream_dedup.core.fact_sketch import EVERY_CONTEXT, Sample, Slot, kind_of, samples_of, words_of
from stream_dedup.core.verdict import FactKind, Replaced

FIGURES_APART = 1 / 8
"""Share of replaced ones among numbers and dates above which texts are apart. Measured on Reuters news of 1987: a
corrected report has one in nine or fewer, a bulletin of another day or company one in seven or more."""
SAMPLED_APART = 1 / 5
"""As FIGURES_APART, where a text has more facts than its sketch: two among a dozen may be two among thirty."""
WORDS_EACH = 100
"""Words of text for which at least one fact is replaced: bulletins are short or full of facts, and a digit mistyped in
a long article with few of them is no other event."""
MOST_NEEDED = 6
"""So many are enough for any length: the sketch of a text full of facts holds only some sixteen numbers and dates."""
NAMES_APART = 1 / 5
"""Share of replaced names among all facts: agencies rewrite names too (Reuters Inc, then Reuters Holdings Plc)."""
ELSEWHERE_APART = 1 / 5
"""As FIGURES_APART, where facts that are alone on both sides count as half replaced."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """How many facts of two samples are what, by kind."""

    equal: Counter[FactKind]
    replaced: Counter[FactKind]
    moved: int
    alone: tuple[Counter[FactKind], Counter[FactKind]]
    """On the one side and on the other."""

    @property
    def settled(self) -> int:
        """Facts in contexts that both texts have."""
        return self.equal.total() + self.replaced.total()

    @property
    def share(self) -> float:
        """Replaced ones among all; a fact that moved or is alone is half a one."""
        return self.replaced.total() / max(1, self.settled + self.moved + self.lonely / 2)

    @property
    def share_elsewhere(self) -> float:
        """As `share`, with what was replaced about."""
        return self.replaced_about / max(1, self.settled + self.moved + self.lonely / 2)

    @property
    def replaced_about(self) -> float:
        """Replaced ones, and for two that are alone on either side half a one."""
        return self.replaced.total() + min(one.total() for one in self.alone) / 2

    @property
    def lonely(self) -> int:
        """Facts that are alone, on either side."""
        return sum(one.total() for one in self.alone)

    def evidence(self) -> Iterable[Replaced]:
        """What was replaced, by kind; where there is nothing in the same context, what is alone on both sides."""
        ours, theirs = self.alone
        for kind, count in sorted((self.replaced or ours & theirs).items()):
            yield Replaced(kind, count, count + self.equal[kind])


def no_veto(_left: bytes, _right: bytes) -> tuple[Replaced, ...]:
    """Nothing keeps two articles apart."""
    return ()


def replaced_facts(left: bytes, right: bytes) -> tuple[Replaced, ...]:
    """What was replaced between two sketches of facts, by kind, if it keeps their articles apart; else nothing.

    It is symmetric, and equal sketches are never apart.
    """
    if left == right:
        return ()
    (left_figures, left_names), (right_figures, right_names) = samples_of(left), samples_of(right)
    figures, names = _compare(left_figures, right_figures), _compare(left_names, right_names)
    names_share = names.replaced.total() / max(1, figures.settled + names.settled + names.lonely / 2)
    whole = min(left_figures.limit, right_figures.limit) == EVERY_CONTEXT
    needed = min(MOST_NEEDED, max(words_of(left), words_of(right)) / WORDS_EACH)
    if figures.replaced_about + names.replaced.total() < needed:
        return ()
    apart = (
        figures.share > (FIGURES_APART if whole else SAMPLED_APART)
        or figures.share_elsewhere > ELSEWHERE_APART
        or names_share > NAMES_APART
    )
    return tuple(chain(figures.evidence(), names.evidence())) if apart else ()


def _compare(left: Sample, right: Sample) -> _Compared:
    """Compare the facts in the contexts that both samples cover."""
    limit = min(left.limit, right.limit)
    ours = Counter(slot for slot in left.slots if slot[0] < limit)
    theirs = Counter(slot for slot in right.slots if slot[0] < limit)
    equal = _kinds(ours & theirs)
    ours, theirs = ours - theirs, theirs - ours
    common = _contexts(ours) & _contexts(theirs)
    replaced = Counter[FactKind]()
    for context, count in common.items():
        kind = kind_of(context)
        # The words of one name stand in one context: together they are one fact.
        replaced[kind] += 1 if kind is FactKind.NAME else count
    our_values, their_values = _values(ours, common), _values(theirs, common)
    return _Compared(
        equal=equal,
        replaced=replaced,
        moved=(our_values & their_values).total(),
        alone=(_kinds(our_values - their_values), _kinds(their_values - our_values)),
    )


def _contexts(slots: Counter[Slot]) -> Counter[int]:
    contexts = Counter[int]()
    for (context, _), count in slots.items():
        contexts[context] += count
    return contexts


def _values(slots: Counter[Slot], common: Counter[int]) -> Counter[Slot]:
    """The values, each with its kind for a context, that stand in a context which the other text has not."""
    values = Counter[Slot]()
    for (context, value), count in slots.items():
        if context not in common:
            values[kind_of(context), value] += count
    return values


def _kinds(slots: Counter[Slot]) -> Counter[FactKind]:
    kinds = Counter[FactKind]()
    for (context, _), count in slots.items():
        kinds[kind_of(context)] += count
    return kinds
