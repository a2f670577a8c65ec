"""The facts of a text, by which two bulletins from one template are told apart: its numbers, dates and names.

    facts("Payable April 30 to holders of record on March 31.")
        ->  payable _ to: april, 30    on _ : march, 31

A fact stands in a context, the ordinary words on both sides: so a replaced fact (the same context, another value) is
not taken for an added one (a context that the other text has not). Here are those of texts that are cut at spaces;
han_facts.py finds those of the others.
"""

import unicodedata

from stream_dedup.core.fact import Fact
from stream_dedup.core.numerals import NUMBER_WORDS, plain_number
from stream_dedup.core.verdict import FactKind

_MONTH_NAMES = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
_MONTHS = frozenset(_MONTH_NAMES.split())
_ENDS = frozenset(".!?")
_STEM = 3
"""Letters of a word in a context: typos and endings (Recrod for Record, cts for ct) leave them alone."""
_EDGES = "()[]{}<>\"'“”‘’«»„.,;:!?-–—…*$£€¥%"


def spaced_facts(raw: str) -> list[Fact]:
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


def _in_context(waiting: list[tuple[FactKind, str]], before: str, after: str) -> list[Fact]:
    """The facts that wait for the word after them; none waits any more."""
    context = f"{before}_{after}"
    facts = [Fact(kind, context, value) for kind, value in waiting]
    waiting.clear()
    return facts


def _figure(token: str, lower: str) -> tuple[FactKind, str] | None:
    """A number or a month, None for any other word."""
    if token[0].isdigit():
        return FactKind.NUMBER, plain_number(token)
    if lower in NUMBER_WORDS:
        return FactKind.NUMBER, NUMBER_WORDS[lower]
    return (FactKind.DATE, lower[:3]) if lower in _MONTHS and token[0].isupper() else None
