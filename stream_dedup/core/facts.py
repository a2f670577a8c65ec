"""The facts of a text, by which two bulletins from one template are told apart: its numbers, dates and names.

    facts("Payable April 30 to holders of record on March 31.")
        ->  payable _ to: april, 30    on _ : march, 31

A fact stands in a context, the ordinary words on both sides: so a replaced fact (the same context, another value) is
not taken for an added one (a context that the other text has not).
"""

import re
import unicodedata

from stream_dedup.core.fact import Fact
from stream_dedup.core.han_names import han_names
from stream_dedup.core.numerals import HAN_NUMERALS, MAX_NUMERAL, NUMBER_WORDS, han_number, plain_number
from stream_dedup.core.text import HAN, UNSPACED
from stream_dedup.core.verdict import FactKind


def facts_of(raw: str, folded: str, *, unspaced: bool) -> list[Fact]:
    """The facts of a text.

    Args:
        raw: the text as it came; where words are cut at spaces, a capital letter tells a name.
        folded: the text folded (see text.fold).
        unspaced: whether the text is mostly Han or of another script without spaces.
    """
    return _unspaced_facts(folded) + han_names(folded) if unspaced else _spaced_facts(raw)


_UNITS = "年月日号时点级"
# One class of characters stands first: such a pattern is searched several times quicker than a choice. One numeral
# alone is mostly part of a word (一个, 三明), and a number only before a unit of time or strength.
_UNSPACED_FACT = re.compile(
    f"[0-9a-z{HAN_NUMERALS}]"
    f"(?:[0-9a-z{HAN_NUMERALS}]+(?:[.,:/'&-][0-9a-z]+[{HAN_NUMERALS}]*)*"
    f"|(?<=[0-9a-z])(?:[.,:/'&-][0-9a-z]+[{HAN_NUMERALS}]*)*"
    f"|(?=[{_UNITS}]))"
)
_LATIN = re.compile("[a-z]")
_NOT_LETTERS = re.compile(f"[^{HAN}{UNSPACED}]+")
_DATE_UNITS = frozenset("年月日号")
_DATELINE = re.compile(r"\d+(?:年\d+月\d+|月\d+)?[日号](?=.{0,4}?(?:消息|电|讯|报道))")
"""The day of a report, which Chinese agencies and portals put before its first sentence."""
_HEAD = 80
"""Characters in which a dateline stands."""
_SIDE = 12
"""Characters on a side in which a context is looked for."""


def _unspaced_facts(folded: str) -> list[Fact]:
    """Numbers between Han, and words in Latin letters, which are names there."""
    text = _DATELINE.sub("", folded[:_HEAD]) + folded[_HEAD:]
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
    return _NOT_LETTERS.sub("", text[max(after, place - _SIDE) : place])[-2:]


def _letter_after(text: str, place: int) -> str:
    """The first letter from a place on, white space and punctuation aside."""
    nearest = text[place : place + 1]
    return nearest if nearest.isalpha() else _NOT_LETTERS.sub("", text[place : place + _SIDE])[:1]


def _unspaced_value(found: str, after: str) -> tuple[FactKind, str]:
    """The kind and the value of a number or a word in Latin letters that is followed by a character."""
    if _LATIN.search(found):
        return FactKind.NAME, found
    kind = FactKind.DATE if after in _DATE_UNITS else FactKind.NUMBER
    return kind, plain_number(found) if found.isascii() else han_number(found[:MAX_NUMERAL])


def _in_context(waiting: list[tuple[FactKind, str]], before: str, after: str) -> list[Fact]:
    """The facts that wait for the word after them; none waits any more."""
    context = f"{before}_{after}"
    facts = [Fact(kind, context, value) for kind, value in waiting]
    waiting.clear()
    return facts


_MONTH_NAMES = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
_MONTHS = frozenset(_MONTH_NAMES.split())
_ENDS = frozenset(".!?")
_STEM = 3
"""Letters of a word in a context: typos and endings (Recrod for Record, cts for ct) leave them alone."""
_EDGES = "()[]{}<>\"'“”‘’«»„.,;:!?-–—…*$£€¥%"


def _spaced_facts(raw: str) -> list[Fact]:
    """Numbers, months, and words with a capital letter inside a sentence, between ordinary words."""
    plain = raw if raw.isascii() or unicodedata.is_normalized("NFKC", raw) else unicodedata.normalize("NFKC", raw)
    words = plain.split()
    tokens = [word.strip(_EDGES) for word in words]
    if "" in tokens:
        words = [word for word, token in zip(words, tokens, strict=True) if token]
        tokens = [token for token in tokens if token]
    lower = [token.lower() for token in tokens]
    places = [place for place, token in enumerate(tokens) if not token.islower() or token in NUMBER_WORDS]
    figures = {place: figure for place in places if (figure := _figure(tokens[place], lower[place]))}
    shouted = sum(len(tokens[place]) > 1 and tokens[place].isupper() for place in places) * 2 > len(tokens)
    found: list[Fact] = []
    waiting: list[tuple[FactKind, str]] = []
    before, end = "", 0
    for place in places:
        fact = figures.get(place)
        if fact is None:
            # What begins a sentence, or stands before a number as its label (Record April 10), is an ordinary word.
            named = place > 0 and words[place - 1][-1] not in _ENDS and place + 1 not in figures
            if shouted or not named or not tokens[place][0].isupper():
                continue
            fact = FactKind.NAME, lower[place]
        if place > end:
            if waiting:
                found += _in_context(waiting, before, lower[end][:_STEM])
            before = lower[place - 1][:_STEM]
        waiting.append(fact)
        end = place + 1
    found += _in_context(waiting, before, lower[end][:_STEM] if end < len(lower) else "")
    return found


def _figure(token: str, lower: str) -> tuple[FactKind, str] | None:
    """A number or a month, None for any other word."""
    if token[0].isdigit():
        return FactKind.NUMBER, plain_number(token)
    if lower in NUMBER_WORDS:
        return FactKind.NUMBER, NUMBER_WORDS[lower]
    return (FactKind.DATE, lower[:3]) if lower in _MONTHS and token[0].isupper() else None
