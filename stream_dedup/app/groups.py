"""`dedup --groups`: originals with their duplicates, and the exact similarity of the articles of a group."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import groupby, product
from pathlib import Path
from typing import TypeAlias

import msgspec
import numpy as np

from stream_dedup.app.archive import Outcome
from stream_dedup.app.formats import Format
from stream_dedup.app.spool import Spool
from stream_dedup.app.tables import columns_of, table, written_format
from stream_dedup.app.verdict_line import DECIMALS, VerdictLine
from stream_dedup.core.article import Article, Fields, parse_article
from stream_dedup.core.jaccard import jaccard, shingles
from stream_dedup.core.simhash import HashMemory, xxh3
from stream_dedup.core.verdict import Verdict

COMPARED = 100
"""Articles of a group that are compared each with each; those after them are compared with the original only."""
Take: TypeAlias = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two articles of one group: a row of the table."""

    group: int
    """Sequence of the original."""
    a: str
    b: str
    a_position: str
    b_position: str
    jaccard: float
    """Exact, over the shingles that signatures are made from."""


@contextmanager
def similar_groups(fields: Fields, longest: int, output: Path | None) -> Iterator[Take]:
    """What takes all outcomes, and writes the groups of two and more at the end, in the order of their originals.

    As JSON lines a group is an object with its articles and pairs; in CSV and Parquet each pair is a row.

    Args:
        fields: where an article's parts stand.
        longest: limit of an article's bytes.
        output: what is written, None for the standard output.
    """
    originals, duplicates = array("q"), array("q")
    with Spool() as lines, Spool() as values:

        def take(outcome: Outcome) -> None:
            lines.append(msgspec.json.encode(outcome.line))
            values.append(outcome.row.value if isinstance(outcome.row.value, bytes) else b"")
            if outcome.original is not None and outcome.line.verdict == Verdict.DUPLICATE:
                originals.append(outcome.original.sequence)
                duplicates.append(outcome.line.sequence)

        yield take
        nested = written_format(output) is Format.JSONL
        with table(output, {} if nested else columns_of(Pair)) as write:
            for group in _groups(originals, duplicates):
                members = [msgspec.json.decode(lines.value(sequence), type=VerdictLine) for sequence in group]
                pairs = _pairs(members, (parse_article(values.value(one), fields, longest) for one in group))
                if nested:
                    write(_nested(members, pairs))
                for pair in () if nested else pairs:
                    write(asdict(pair))


def _groups(originals: Sequence[int], duplicates: Sequence[int]) -> Iterator[list[int]]:
    """Sequences of each group's articles, the original first."""
    order = np.argsort(np.asarray(originals, dtype=np.int64), kind="stable")
    for original, places in groupby(order.tolist(), key=originals.__getitem__):
        yield [original, *(duplicates[place] for place in places)]


def _pairs(members: Sequence[VerdictLine], articles: Iterator[Article | object]) -> list[Pair]:
    """Each two of the first COMPARED articles, and the original with each further one."""
    memory = HashMemory(xxh3(0))
    sets = [shingles(article.text if isinstance(article, Article) else "", memory) for article in articles]
    places = ((a, b) for a, b in product(range(COMPARED), range(len(members))) if a < b and (b < COMPARED or a == 0))
    return [
        Pair(
            group=members[0].sequence,
            a=members[a].id,
            b=members[b].id,
            a_position=members[a].position,
            b_position=members[b].position,
            jaccard=round(jaccard(sets[a], sets[b]), DECIMALS),
        )
        for a, b in places
    ]


def _nested(members: Sequence[VerdictLine], pairs: Sequence[Pair]) -> dict[str, object]:
    original, *duplicates = members
    return {
        "group": original.sequence,
        "original": {"id": original.id, "position": original.position},
        "duplicates": [
            {
                "id": one.id,
                "position": one.position,
                "kind": one.kind,
                "distance": one.distance,
                "similarity": one.similarity,
            }
            for one in duplicates
        ],
        "pairs": [{"a": pair.a_position, "b": pair.b_position, "jaccard": pair.jaccard} for pair in pairs],
    }
