"""`dedup --keep`: the unique articles only, each with all that it came with."""

import json
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias, cast

import click

from stream_dedup.app.archive import Outcome
from stream_dedup.app.formats import Format, format_of
from stream_dedup.app.spool import Spool
from stream_dedup.app.tables import Column, Record, table, whole_file, written_format
from stream_dedup.core.article import BYTE_ORDER_MARK, decode_json
from stream_dedup.core.verdict import Verdict

Take: TypeAlias = Callable[[Outcome], None]
_INT64 = range(-(2**63), 2**63)


@contextmanager
def kept_articles(paths: Sequence[str], form: Format | None, output: Path | None) -> Iterator[Take]:
    """What takes all outcomes and writes the unique ones.

    JSON lines are written as they stood. From Parquet to Parquet rows keep their types; else a file's columns are all
    the fields of its articles, with JSON where a field is nested.

    Args:
        paths: what is read.
        form: its format, None for what the endings tell.
        output: what is written, None for the standard output.
    """
    written = written_format(output)
    if output is None:
        yield _unique(_write_stdout)
    elif written is Format.JSONL:
        with whole_file(output) as file:
            yield _unique(lambda value: file.write(value + b"\n"))
    elif written is Format.PARQUET and {form or format_of(path) for path in paths} == {Format.PARQUET}:
        with _chosen_rows(paths, output) as take:
            yield take
    else:
        with Spool() as spool:
            yield _unique(spool.append)
            _write_table(spool, output)


def _unique(write: Callable[[bytes], object]) -> Take:
    def take(outcome: Outcome) -> None:
        if outcome.line.verdict == Verdict.UNIQUE and isinstance(outcome.row.value, bytes):
            write(outcome.row.value)

    return take


def _write_stdout(value: bytes) -> None:
    """A line as it was; on a terminal in ASCII, so that nothing in it moves the cursor."""
    if sys.stdout.isatty():
        value = json.dumps(_decoded(value)).encode()
    click.echo(value)


@contextmanager
def _chosen_rows(paths: Sequence[str], output: Path) -> Iterator[Take]:
    from stream_dedup.app.parquet_table import copy_rows  # noqa: PLC0415 - pyarrow is an extra

    chosen = array("q")

    def take(outcome: Outcome) -> None:
        if outcome.line.verdict == Verdict.UNIQUE:
            chosen.append(outcome.line.sequence)

    yield take
    with whole_file(output) as file:
        copy_rows(paths, chosen, file)


def _write_table(spool: Spool, output: Path) -> None:
    found: dict[str, Column | None] = {}
    for index in range(len(spool)):
        for name, value in _decoded(spool.value(index)).items():
            found[name] = _joined(found.get(name), _column_of(value))
    columns = {name: column or Column.TEXT for name, column in found.items()} or {"text": Column.TEXT}
    with table(output, columns) as write:
        for index in range(len(spool)):
            write(_fitted(_decoded(spool.value(index)), columns))


def _decoded(value: bytes) -> Record:
    """The fields of an article that was read already."""
    return cast("Record", decode_json(value.removeprefix(BYTE_ORDER_MARK)))


def _column_of(value: object) -> Column | None:
    """The column that holds a value; None where any does."""
    match value:
        case None:
            return None
        case bool():
            return Column.TRUTH
        case int() if value in _INT64:
            return Column.INTEGER
        case float():
            return Column.REAL
        case _:
            return Column.TEXT


def _joined(left: Column | None, right: Column | None) -> Column | None:
    if left is None or left is right:
        return right
    if right is None:
        return left
    return Column.REAL if {left, right} == {Column.INTEGER, Column.REAL} else Column.TEXT


def _fitted(record: Record, columns: Mapping[str, Column]) -> Record:
    """The record with everything as text that stands in a column of texts."""
    return {
        name: json.dumps(value, ensure_ascii=False)
        if columns[name] is Column.TEXT and not isinstance(value, str | None)
        else value
        for name, value in record.items()
    }
