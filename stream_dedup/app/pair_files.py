"""Tables of known pairs and of labels: lines of columns between tabs, the first line names them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from stream_dedup.app.lines import read_lines
from stream_dedup.app.plain_text import plain
from stream_dedup.core.scoring import Label, Pair

LONGEST_LINE = 10_000


def read_pairs(path: Path) -> dict[Pair, float]:
    """Pairs of ids with their exact Jaccard similarity: id1, id2, jaccard; further columns are left out.

    Raises:
        click.FileError: a line is something else.
    """
    pairs = {}
    for number, (left, right, similarity) in _rows(path, ("id1", "id2", "jaccard")):
        try:
            value = float(similarity)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise _wrong(path, number, f"{plain(similarity, 40)} is no Jaccard similarity from 0 to 1")
        pairs[frozenset((left, right))] = value
    return pairs


def read_labels(path: Path) -> dict[Pair, Label]:
    """Pairs of ids with their label: id1, id2, label, which is `different` or `grey`.

    Raises:
        click.FileError: a line is something else.
    """
    labels = {}
    for number, (left, right, label) in _rows(path, ("id1", "id2", "label")):
        if label not in list(Label):
            raise _wrong(path, number, f"{plain(label, 40)} is no label; known are {', '.join(Label)}")
        labels[frozenset((left, right))] = Label(label)
    return labels


def _rows(path: Path, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    for place, line in enumerate(read_lines(str(path), LONGEST_LINE)):
        columns = line.content.decode("utf-8", "replace").rstrip("\r").split("\t")
        if len(columns) < len(names):
            raise _wrong(
                path, line.number, f"it has {len(columns)} columns between tabs, {', '.join(names)} are needed"
            )
        if place > 0:
            yield line.number, columns[: len(names)]
        elif columns[: len(names)] != list(names):
            raise _wrong(path, line.number, f"the first line must name the columns {', '.join(names)}, between tabs")


def _wrong(path: Path, number: int, why: str) -> click.FileError:
    return click.FileError(plain(str(path), 200), f"line {number}: {why}")
