"""`dedup --groups`: originals with their duplicates, and the exact similarity of the articles of a group."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby, product
from pathlib import Path
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from stream_dedup.app.archive import BATCH, Outcome
from stream_dedup.app.formats import Format
from stream_dedup.app.in_processes import each_in_order
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


@dataclass(frozen=True, slots=True)
class _Group:
    """The articles of a group, the original first, and as JSON."""

    members: Sequence[VerdictLine]
    values: Sequence[bytes]


@contextmanager
def similar_groups(fields: Fields, longest: int, output: Path | None, processes: int) -> Iterator[Take]:
    """What takes all outcomes, and writes the groups of two and more at the end, in the order of their originals.

    As JSON lines a group is an object with its articles and pairs; in CSV and Parquet each pair is a row.

    Args:
        fields: where an article's parts stand.
        longest: limit of an article's bytes.
        output: what is written, None for the standard output.
        processes: how many compare.
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
            groups = (_read(sequences, lines, values) for sequences in _groups(originals, duplicates))
            compared = each_in_order(partial(compare_groups, fields, longest), _batches(groups), processes)
            with closing(compared):
                for batch, results in compared:
                    for group, pairs in zip(batch, results, strict=True):
                        for record in [_nested(group.members, pairs)] if nested else map(asdict, pairs):
                            write(record)


def _read(sequences: Sequence[int], lines: Spool, values: Spool) -> _Group:
    return _Group(
        members=[msgspec.json.decode(lines.value(sequence), type=VerdictLine) for sequence in sequences],
        values=[values.value(sequence) for sequence in sequences],
    )


def _batches(groups: Iterator[_Group]) -> Iterator[list[_Group]]:
    """Groups of some BATCH articles together: a large one is a batch of its own."""
    batch: list[_Group] = []
    for group in groups:
        batch.append(group)
        if sum(len(one.members) for one in batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _groups(originals: Sequence[int], duplicates: Sequence[int]) -> Iterator[list[int]]:
    """Sequences of each group's articles, the original first."""
    order = np.argsort(np.asarray(originals, dtype=np.int64), kind="stable")
    for original, places in groupby(order.tolist(), key=originals.__getitem__):
        yield [original, *(duplicates[place] for place in places)]


def compare_groups(fields: Fields, longest: int, groups: Sequence[_Group]) -> list[list[Pair]]:
    """The pairs of each group: each two of the first COMPARED articles, and the original with each further one."""
    memory = HashMemory(xxh3(0))
    compared = []
    for group in groups:
        articles = (parse_article(value, fields, longest) for value in group.values)
        sets = [shingles(article.text if isinstance(article, Article) else "", memory) for article in articles]
        compared.append(_pairs(group.members, sets))
    return compared


def _pairs(members: Sequence[VerdictLine], sets: Sequence[NDArray[np.uint64]]) -> list[Pair]:
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
