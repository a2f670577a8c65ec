"""Results as a table: JSON lines, CSV or Parquet by the file's ending; a file is there whole or not at all."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import BinaryIO, TypeAlias, get_args, get_type_hints

import click

from stream_dedup.app.formats import WRITTEN, Format, format_of
from stream_dedup.app.plain_text import plain


class Column(Enum):
    """What a column holds; None may stand in any."""

    TEXT = "string"
    INTEGER = "int64"
    REAL = "float64"
    TRUTH = "bool_"


_COLUMNS = {str: Column.TEXT, int: Column.INTEGER, float: Column.REAL, bool: Column.TRUTH}
Record: TypeAlias = Mapping[str, object]
"""One row by the names of the columns."""
Write: TypeAlias = Callable[[Record], None]


def columns_of(record: type[object]) -> Mapping[str, Column]:
    """The columns of a data class whose fields are texts, numbers or truths, each of them or None."""
    return {name: _COLUMNS[(get_args(kind) or (kind,))[0]] for name, kind in get_type_hints(record).items()}


def written_format(path: Path | None) -> Format:
    """The format of an output; None is the standard output, and takes JSON lines.

    Raises:
        click.UsageError: nothing is written in the format that the ending tells.
    """
    form = Format.JSONL if path is None else format_of(str(path))
    if form not in WRITTEN:
        raise click.UsageError(
            f"--output {plain(str(path), 200)}: choose a file that ends in .jsonl, .csv or .parquet."
        )
    return form


@contextmanager
def table(path: Path | None, columns: Mapping[str, Column]) -> Iterator[Write]:
    """What takes rows with these columns, in their order.

    Raises:
        click.FileError: the file cannot be written.
        click.ClickException: pyarrow is needed and not installed.
    """
    form = written_format(path)
    if path is None:
        yield lambda record: click.echo(json.dumps(record))
        return
    with whole_file(path) as file:
        match form:
            case Format.PARQUET:
                from stream_dedup.app.parquet_table import parquet_table  # noqa: PLC0415 - pyarrow is an extra

                with parquet_table(file, columns) as write:
                    yield write
            case Format.CSV:
                yield _csv(file, columns)
            case _:
                yield _lines(file)


def _lines(file: BinaryIO) -> Write:
    def write(record: Record) -> None:
        file.write(json.dumps(record).encode() + b"\n")

    return write


def _csv(file: BinaryIO, columns: Mapping[str, Column]) -> Write:
    writer = csv.writer(_Encoder(file))
    writer.writerow(columns)
    return lambda record: writer.writerow([_cell(record.get(name)) for name in columns])


class _Encoder:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._file.write(text.encode("utf-8", "replace"))


def _cell(value: object) -> object:
    """A text as it is, nothing for None, and JSON of anything else."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that takes its name when all is written, and is not there after an error.

    Raises:
        click.FileError: it cannot be written.
    """
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(path)
    except OSError as error:
        raise click.FileError(plain(str(path), 200), error.strerror or str(error)) from error
    finally:
        unfinished.unlink(missing_ok=True)
