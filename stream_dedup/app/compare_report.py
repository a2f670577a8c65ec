"""`compare` for people and for programs."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from stream_dedup.app.compare import Named, ProfileVerdict, Report
from stream_dedup.app.console import console
from stream_dedup.app.plain_text import plain
from stream_dedup.app.verdict_line import DECIMALS
from stream_dedup.core.block_table import BLOCK_BITS, BLOCKS
from stream_dedup.core.comparison import FingerprintPair, TextComparison, WeighedWord
from stream_dedup.core.sentences import SentenceChanges
from stream_dedup.core.verdict import Verdict

WORDS_SHOWN = 24
WORD_SHOWN = 30
"""Characters of a word, of which a long one may be a whole line without spaces."""
SENTENCES_SHOWN = 12
SENTENCE_SHOWN = 200
NAME_SHOWN = 60
REASON_SHOWN = 200
DIFFERS = "bold red"
_VERDICTS = {Verdict.UNIQUE.value: "green", Verdict.DUPLICATE.value: "yellow"}
_BITS = BLOCKS * BLOCK_BITS


def print_report(report: Report) -> None:
    """Show a comparison to people: colours on a terminal, plain text in a pipe."""
    out = console()
    for part in _parts(report):
        out.print(part)


def _parts(report: Report) -> Iterator[RenderableType]:
    first = report.verdicts[0].comparison
    yield Text.assemble(("A ", "bold"), _named(report.left, first.word_counts[0]))
    yield Text.assemble(("B ", "bold"), _named(report.right, first.word_counts[1]))
    yield Text(f"Jaccard similarity {first.jaccard:.3f} exact, {first.estimated:.3f} estimated from the signatures")
    yield _verdicts(report.verdicts)
    shown = set()
    for verdict in report.verdicts:
        if verdict.bits_count and verdict.comparison.scheme not in shown:
            shown.add(verdict.comparison.scheme)
            yield _fingerprints(verdict.comparison)
    yield _words(first)
    yield _sentences(report.changes)


def _named(one: Named, words: int) -> str:
    return f"{plain(one.name, NAME_SHOWN)}: {len(one.text):,} characters, {words:,} words"


def _verdicts(verdicts: Sequence[ProfileVerdict]) -> Table:
    table = Table("profile", "B after A", "why", box=SIMPLE_HEAD)
    for one in verdicts:
        verdict = Text(f"{one.line.verdict}, {one.line.kind}", _VERDICTS.get(one.line.verdict, ""))
        table.add_row(one.profile, verdict, plain(one.why, REASON_SHOWN))
    return table


def _fingerprints(comparison: TextComparison) -> Padding:
    """Bits in blocks, the highest first; below them ^ marks a bit that differs, and = a block that is shared."""
    lines = []
    for number, pair in enumerate(comparison.fingerprints, 1):
        shared = f"{len(pair.shared_blocks)} of {BLOCKS} blocks shared"
        lines.append(Text(f"fingerprint {number}: {pair.distance} of {_BITS} bits differ, {shared}"))
        lines += [_bits(name, value, pair) for name, value in (("A", pair.left), ("B", pair.right))]
        lines.append(Text("  " + _in_blocks(_marks(pair)).rstrip(), DIFFERS))
    return Padding(Group(Text(f"{comparison.scheme}", "bold"), *lines), (0, 0, 1, 0))


def _marks(pair: FingerprintPair) -> str:
    """One character a bit, the highest first."""
    return "".join(
        "^" if (pair.left ^ pair.right) >> bit & 1 else "=" if bit // BLOCK_BITS in pair.shared_blocks else " "
        for bit in reversed(range(_BITS))
    )


def _bits(name: str, value: int, pair: FingerprintPair) -> Text:
    line = Text(f"{name} ")
    for place, bit in enumerate(reversed(range(_BITS))):
        gap = " " if place and place % BLOCK_BITS == 0 else ""
        line.append(gap)
        line.append(str(value >> bit & 1), DIFFERS if (pair.left ^ pair.right) >> bit & 1 else "")
    return line.append(f"  {value:016x}")


def _in_blocks(bits: str) -> str:
    return " ".join(bits[begin : begin + BLOCK_BITS] for begin in range(0, _BITS, BLOCK_BITS))


def _words(comparison: TextComparison) -> Table:
    """The heaviest words by where they stand; a word in both with both weights where they differ."""
    both = [word for word in comparison.words if word.left and word.right]
    ours = [word for word in comparison.words if not word.right]
    theirs = [word for word in comparison.words if not word.left]
    table = Table("words", "", box=SIMPLE_HEAD, show_header=False)
    for title, words in (("in both", both), ("only in A", ours), ("only in B", theirs)):
        table.add_row(f"{title} ({len(words):,})", _heaviest(words))
    return table


def _heaviest(words: Sequence[WeighedWord]) -> str:
    shown = "  ".join(f"{plain(one.word, WORD_SHOWN)} {_weight(one)}" for one in words[:WORDS_SHOWN])
    return shown + (" …" if len(words) > WORDS_SHOWN else "") if words else "none"


def _weight(one: WeighedWord) -> str:
    weights = [f"{weight:g}" for weight in (one.left, one.right) if weight]
    return "/".join(dict.fromkeys(weights))


def _sentences(changes: SentenceChanges) -> Group:
    lines = [Text(f"{changes.kept:,} sentences in both")]
    for sign, style, sentences in (("-", "red", changes.removed), ("+", "green", changes.added)):
        lines += [Text(f"{sign} {plain(one, SENTENCE_SHOWN)}", style) for one in sentences[:SENTENCES_SHOWN]]
        if len(sentences) > SENTENCES_SHOWN:
            lines.append(Text(f"{sign} and {len(sentences) - SENTENCES_SHOWN:,} more", style))
    if changes.not_compared:
        lines.append(Text(f"{changes.not_compared:,} sentences far behind were not compared"))
    return Group(*lines)


def print_json(report: Report) -> None:
    """Everything as one JSON object in ASCII."""
    first = report.verdicts[0].comparison
    record = {
        "a": report.left.name,
        "b": report.right.name,
        "word_counts": list(first.word_counts),
        "jaccard": round(first.jaccard, DECIMALS),
        "estimated": round(first.estimated, DECIMALS),
        "profiles": [_profile(verdict) for verdict in report.verdicts],
        "sentences": asdict(report.changes),
    }
    click.echo(json.dumps(record, indent=2))


def _profile(verdict: ProfileVerdict) -> dict[str, object]:
    comparison = verdict.comparison
    return {
        "profile": verdict.profile,
        "scheme": comparison.scheme,
        "verdict": asdict(verdict.line),
        "why": verdict.why,
        "distance": comparison.distance if verdict.bits_count else None,
        "fingerprints": [
            {
                "a": f"{pair.left:016x}",
                "b": f"{pair.right:016x}",
                "distance": pair.distance if verdict.bits_count else None,
                "differing": f"{pair.left ^ pair.right:016x}",
                "shared_blocks": list(pair.shared_blocks),
            }
            for pair in comparison.fingerprints
        ],
        "words": [asdict(word) for word in comparison.words],
    }
