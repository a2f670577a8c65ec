"""The sketch of a text's facts: a sample of them in FACT_BYTES, so that two texts sample the same contexts.

    head (1 byte) | slot | slot | ... of 3 bytes each: context (16 bits, little endian), value (8 bits)

Context and value are hashes, and the two lowest bits of a context are its kind. Slots ascend by context; unused ones at
the end are zero. A text with more facts than slots keeps those whose contexts have the smallest hashes (a bottom-k
sketch: Cohen and Kaplan, "Summarizing data using bottom-k sketches", PODC 2007), and a flag in the head says so: one
for numbers and dates, one for names. The rest of the head is the text's length.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import xxhash

from stream_dedup.core.fact import Fact
from stream_dedup.core.sketch import FACT_BYTES
from stream_dedup.core.verdict import FactKind

Slot: TypeAlias = tuple[int, int]
"""The hash of a context, with the kind in its two lowest bits, and the hash of a value."""
_SLOT = struct.Struct("<HB")
SLOTS = (FACT_BYTES - 1) // _SLOT.size
NAME_SLOTS = 5
"""A quarter of the slots is for names, the rest for numbers and dates; either takes what the other leaves."""
_KIND_BITS = 2
_FIGURES_CUT, _NAMES_CUT = 1, 2
WORDS_STEP = 25
"""In so many words the length is counted, up to 63 steps."""
_MAX_STEPS = 63
EVERY_CONTEXT = 1 << 16


@dataclass(frozen=True, slots=True)
class Sample:
    """Facts of some kinds out of a sketch."""

    slots: tuple[Slot, ...]
    """Ascending."""
    limit: int
    """Contexts below it are all here, those above are not; EVERY_CONTEXT where none was left out."""


def kind_of(context: int) -> FactKind:
    """The kind of the facts in a context of a slot."""
    return FactKind(context & (1 << _KIND_BITS) - 1)


def fact_sketch(facts: Iterable[Fact], words: int) -> bytes:
    """The sketch of the facts, in whatever order they come, of a text of so many words."""
    figures: list[Slot] = []
    names: list[Slot] = []
    for fact in facts:
        (names if fact.kind is FactKind.NAME else figures).append(_slot(fact))
    kept_figures = _smallest(figures, max(SLOTS - NAME_SLOTS, SLOTS - len(names)))
    kept_names = _smallest(names, SLOTS - len(kept_figures))
    flags = _FIGURES_CUT * (len(kept_figures) < len(figures)) | _NAMES_CUT * (len(kept_names) < len(names))
    head = min(words // WORDS_STEP, _MAX_STEPS) << 2 | flags
    packed = b"".join(_SLOT.pack(*slot) for slot in sorted(kept_figures + kept_names))
    return (bytes((head,)) + packed).ljust(FACT_BYTES, b"\0")


def words_of(sketch: bytes) -> int:
    """About how many words the text has, rounded down; above 1,575 not how many."""
    return (sketch[0] >> 2) * WORDS_STEP


def _slot(fact: Fact) -> Slot:
    context = xxhash.xxh3_64_intdigest(fact.context.encode("utf-8", "surrogatepass")) >> 64 - 16 + _KIND_BITS
    value = xxhash.xxh3_64_intdigest(fact.value.encode("utf-8", "surrogatepass"))
    # No context is zero: that is an unused slot.
    return (context or 1) << _KIND_BITS | fact.kind, value & 0xFF


def _smallest(slots: list[Slot], room: int) -> list[Slot]:
    """So many slots with the smallest contexts, and of the last context all its facts or none."""
    slots.sort()
    if len(slots) <= room:
        return slots
    whole = [slot for slot in slots[:room] if slot[0] < slots[room][0]]
    return whole or slots[:room]


def samples_of(sketch: bytes) -> tuple[Sample, Sample]:
    """The numbers and dates, and the names, that a sketch holds."""
    flags, slots = sketch[0], [slot for slot in _SLOT.iter_unpack(sketch[1:]) if slot[0]]
    figures = [slot for slot in slots if kind_of(slot[0]) is not FactKind.NAME]
    names = [slot for slot in slots if kind_of(slot[0]) is FactKind.NAME]
    return _sample(figures, cut=bool(flags & _FIGURES_CUT)), _sample(names, cut=bool(flags & _NAMES_CUT))


def _sample(slots: Sequence[Slot], *, cut: bool) -> Sample:
    return Sample(tuple(slots), slots[-1][0] + 1 if cut and slots else EVERY_CONTEXT)
