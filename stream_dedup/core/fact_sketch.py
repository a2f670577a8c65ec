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
from functools import lru_cache
from itertools import chain
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
_KIND = 3
HELD = 1 << 15
"""Contexts, and as many values, whose hashes are held: they come again and again."""
_SHORT = 16
"""Characters of a value that is worth holding; contexts have seven at most."""
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
    return FactKind(context & _KIND)


def fact_sketch(facts: Iterable[Fact], words: int) -> bytes:
    """The sketch of the facts, in whatever order they come, of a text of so many words."""
    return sketch_of([slot(fact) for fact in facts], words)


def sketch_of(slots: Sequence[Slot], words: int) -> bytes:
    """The sketch of facts given as their slots."""
    figures = [one for one in slots if one[0] & _KIND != FactKind.NAME]
    names = [one for one in slots if one[0] & _KIND == FactKind.NAME]
    kept_figures = _smallest(figures, max(SLOTS - NAME_SLOTS, SLOTS - len(names)))
    kept_names = _smallest(names, SLOTS - len(kept_figures))
    flags = _FIGURES_CUT * (len(kept_figures) < len(figures)) | _NAMES_CUT * (len(kept_names) < len(names))
    head = min(words // WORDS_STEP, _MAX_STEPS) << 2 | flags
    kept = sorted(kept_figures + kept_names)
    return struct.pack(f"<B{len(kept) * 'HB'}", head, *chain.from_iterable(kept)).ljust(FACT_BYTES, b"\0")


def words_of(sketch: bytes) -> int:
    """About how many words the text has, rounded down; above 1,575 not how many."""
    return (sketch[0] >> 2) * WORDS_STEP


def slot(fact: Fact) -> Slot:
    """A fact as two hashes."""
    return slot_of(fact.kind, context_hash(fact.context), value_hash(fact.value))


def slot_of(kind: int, context: int, value: int) -> Slot:
    """A fact given by its kind and the hashes of its context and its value."""
    return context << _KIND_BITS | kind, value


@lru_cache(HELD)
def context_hash(context: str) -> int:
    """14 bits of a context, never zero: that is an unused slot."""
    return _hash(context) >> 64 - 16 + _KIND_BITS or 1


def value_hash(value: str) -> int:
    """8 bits of a value."""
    return _short_value_hash(value) if len(value) <= _SHORT else _hash(value) & 0xFF


@lru_cache(HELD)
def _short_value_hash(value: str) -> int:
    return _hash(value) & 0xFF


def _hash(string: str) -> int:
    return xxhash.xxh3_64_intdigest(string.encode("utf-8", "surrogatepass"))


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
