"""The facts of a text, by which two bulletins from one template are told apart: its numbers, dates and names.

    facts("Payable April 30 to holders of record on March 31.")
        ->  payable _ to: april, 30    on _ : march, 31

A fact stands in a context, the ordinary words on both sides: so a replaced fact (the same context, another value) is
not taken for an added one (a context that the other text has not).
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from stream_dedup.core.numerals import HAN_NUMERALS, MAX_NUMERAL, MONTHS, NUMBER_WORDS, han_number, plain_number
from stream_dedup.core.text import HAN, UNSPACED
from stream_dedup.core.verdict import FactKind


class Fact(NamedTuple):
    """One number, part of a date or word of a name; a plain tuple, since a text has dozens."""

    kind: FactKind
    context: str
    """The ordinary words before and after; of Han the two characters before and the one after."""
    value: str
    """In one notation: 3500 for 3,500 and for 三千五百; a name in lower case."""


def facts_of(raw: str, folded: str, *, unspaced: bool) -> Iterator[Fact]:
    """The facts of a text, in its order.

    Args:
        raw: the text as it came; where words are cut at spaces, a capital letter tells a name.
        folded: the text folded (see text.fold).
        unspaced: whether the text is mostly Han or of another script without spaces.
    """
    return _unspaced_facts(folded) if unspaced else _spaced_facts(raw)


# It begins with one class of characters, which is searched ten times quicker than a choice of several patterns.
_UNSPACED_FACT = re.compile(f"[0-9a-z{HAN_NUMERALS}]+(?:[.,:/'&-][0-9a-z]+[{HAN_NUMERALS}]*)*")
_NOT_LETTERS = re.compile(f"[^{HAN}{UNSPACED}]+")
_DATE_UNITS = frozenset("年月日号")
_NUMERAL_UNITS = _DATE_UNITS | frozenset("时点级")
"""What makes a number of a single numeral, which is mostly part of a word (一个, 三明)."""
_DATELINE = re.compile(r"(?:\d+年)?(?:\d+月)?\d+[日号](?=.{0,4}?(?:消息|电|讯|报道))")
"""The day of a report, which Chinese agencies and portals put before its first sentence."""
_HEAD = 80
"""Characters in which a dateline stands."""
_SIDE = 12
"""Characters on a side in which a context is looked for."""


def _unspaced_facts(folded: str) -> Iterator[Fact]:
    """Numbers between Han, and words in Latin letters, which are names there."""
    text = _DATELINE.sub("", folded[:_HEAD]) + folded[_HEAD:]
    waiting: list[tuple[FactKind, str]] = []
    before, end = "", 0
    for match in _UNSPACED_FACT.finditer(text):
        value = match[0]
        start = match.start()
        if value[0] in HAN_NUMERALS and len(value) == 1 and text[start + 1 : start + 2] not in _NUMERAL_UNITS:
            continue
        between = _NOT_LETTERS.sub("", text[max(end, start - _SIDE) : start])
        if between:
            after = _NOT_LETTERS.sub("", text[end : end + _SIDE])[:1] if waiting else ""
            yield from _in_context(waiting, before, after)
            before = between[-2:]
        waiting.append(_unspaced_value(value, text[match.end() : match.end() + 1]))
        end = match.end()
    yield from _in_context(waiting, before, _NOT_LETTERS.sub("", text[end : end + _SIDE])[:1])


def _unspaced_value(found: str, after: str) -> tuple[FactKind, str]:
    """The kind and the value of a number or a word in Latin letters that is followed by a character."""
    if any("a" <= character <= "z" for character in found):
        return FactKind.NAME, found
    kind = FactKind.DATE if after in _DATE_UNITS else FactKind.NUMBER
    return kind, plain_number(found) if found.isascii() else han_number(found[:MAX_NUMERAL])


def _in_context(waiting: list[tuple[FactKind, str]], before: str, after: str) -> Iterator[Fact]:
    """The facts that wait for the word after them; none waits any more."""
    context = f"{before}_{after}"
    for kind, value in waiting:
        yield Fact(kind, context, value)
    waiting.clear()


_ENDS = frozenset(".!?")
_EDGES = "()[]{}<>\"'“”‘’«»„.,;:!?-–—…*$£€¥%"


def _spaced_facts(raw: str) -> Iterator[Fact]:
    """Numbers, months, and words with a capital letter inside a sentence, between ordinary words."""
    plain = raw if raw.isascii() or unicodedata.is_normalized("NFKC", raw) else unicodedata.normalize("NFKC", raw)
    words = plain.split()
    tokens = [word.strip(_EDGES) for word in words]
    lower = [token.lower() for token in tokens]
    places = [
        place for place, token in enumerate(tokens) if not token.islower() or token in NUMBER_WORDS
    ]
    shouted = sum(token.isupper() and len(token) > 1 for token in tokens) * 2 > len(tokens)
    waiting: list[tuple[FactKind, str]] = []
    before, end = "", 0
    for place in places:
        token = tokens[place]
        if not token:
            continue
        named = not shouted and place > 0 and words[place - 1][-1] not in _ENDS
        found = _spaced_value(token, lower[place], named=named)
        if found is None:
            continue
        between = [word for word in lower[end:place] if word]
        if between:
            yield from _in_context(waiting, before, between[0])
            before = between[-1]
        waiting.append(found)
        end = place + 1
    yield from _in_context(waiting, before, next(filter(None, lower[end:]), ""))


def _spaced_value(token: str, lower: str, *, named: bool) -> tuple[FactKind, str] | None:
    """The kind and the value of a word or number; None for an ordinary word."""
    if token[0].isdigit():
        return FactKind.NUMBER, plain_number(token)
    if lower in NUMBER_WORDS:
        return FactKind.NUMBER, NUMBER_WORDS[lower]
    if lower in MONTHS and token[0].isupper():
        return FactKind.DATE, lower[:3]
    return (FactKind.NAME, lower) if named and token[0].isupper() else None
