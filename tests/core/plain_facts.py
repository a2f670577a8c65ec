"""The facts of one text by patterns: slow, and plain to see; what is quick must equal it."""

import re

from stream_dedup.core.fact import Fact
from stream_dedup.core.facts import spaced_facts
from stream_dedup.core.han_figures import SIDE, without_dateline
from stream_dedup.core.han_table import CUES, DATE_UNITS, LONGEST, PLACES, UNITS
from stream_dedup.core.numerals import HAN_NUMERALS, figure
from stream_dedup.core.text import HAN, RUN, UNSPACED
from stream_dedup.core.verdict import FactKind

_UNSPACED_FACT = re.compile(
    f"[0-9a-z{HAN_NUMERALS}]"
    f"(?:[0-9a-z{HAN_NUMERALS}]+(?:[.,:/'&-][0-9a-z]+[{HAN_NUMERALS}]*)*"
    f"|(?<=[0-9a-z])(?:[.,:/'&-][0-9a-z]+[{HAN_NUMERALS}]*)*"
    f"|(?=[{UNITS}]))"
)
_LATIN = re.compile("[a-z]")
_NOT_LETTERS = re.compile(f"[^{HAN}{UNSPACED}]+")
_LAST = re.compile(f"[{''.join(sorted({*PLACES, *(cue[-1] for cue in CUES)}))}]")
_NAME = re.compile(f"[{HAN}]*$")


def facts_of(raw: str, folded: str, *, unspaced: bool) -> list[Fact]:
    """The facts of a text.

    Args:
        raw: the text as it came; where words are cut at spaces, a capital letter tells a name.
        folded: the text folded (see text.fold).
        unspaced: whether the text is mostly Han or of another script without spaces.
    """
    return unspaced_facts(folded) + han_names(folded) if unspaced else spaced_facts(raw)


def unspaced_facts(folded: str) -> list[Fact]:
    """Numbers between Han, and words in Latin letters, which are names there."""
    text = without_dateline(folded)
    found: list[Fact] = []
    waiting: list[tuple[FactKind, str]] = []
    before, end = "", 0
    for match in _UNSPACED_FACT.finditer(text):
        between = _letters_before(text, end, match.start())
        if between:
            if waiting:
                found += _in_context(waiting, before, _letter_after(text, end))
            before = between
        end = match.end()
        waiting.append(_unspaced_value(match[0], text[end : end + 1]))
    found += _in_context(waiting, before, _letter_after(text, end))
    return found


def _letters_before(text: str, after: int, place: int) -> str:
    """The last two letters before a place, of those that stand after another; white space and punctuation aside."""
    nearest = text[max(after, place - 2) : place]
    if len(nearest) > 1 and nearest.isalpha():
        return nearest
    return _NOT_LETTERS.sub("", text[max(after, place - SIDE) : place])[-2:]


def _letter_after(text: str, place: int) -> str:
    """The first letter from a place on, white space and punctuation aside."""
    nearest = text[place : place + 1]
    return nearest if nearest.isalpha() else _NOT_LETTERS.sub("", text[place : place + SIDE])[:1]


def _unspaced_value(found: str, after: str) -> tuple[FactKind, str]:
    """The kind and the value of a number or a word in Latin letters that is followed by a character."""
    if _LATIN.search(found):
        return FactKind.NAME, found
    kind = FactKind.DATE if after in {*DATE_UNITS} else FactKind.NUMBER
    return kind, figure(found)


def _in_context(waiting: list[tuple[FactKind, str]], before: str, after: str) -> list[Fact]:
    """The facts that wait for the word after them; none waits any more."""
    context = f"{before}_{after}"
    facts = [Fact(kind, context, value) for kind, value in waiting]
    waiting.clear()
    return facts


def han_names(folded: str) -> list[Fact]:
    """Names before cues, each with its last characters; the context is the cue and the letter right after it."""
    found = []
    for match in _LAST.finditer(folded):
        end = match.end()
        if folded[end - 2 : end] in CUES:
            start = end - 2
        elif match[0] in PLACES:
            start = end - 1
        else:
            continue
        name = folded[max(0, start - LONGEST) : start]
        if not name.isalpha():
            name = _NAME.search(name)[0]  # type: ignore[index]  # it finds the empty string at least
        if len(name) > 1:
            after = folded[end : end + 1] if RUN.match(folded, end) else ""
            found.append(Fact(FactKind.NAME, folded[start:end] + after, name))
    return found
