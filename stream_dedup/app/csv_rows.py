"""Articles in CSV (RFC 4180): a line of column names, then one article a row."""

import csv
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING

import click
import msgspec

from stream_dedup.app.lines import opened, skip_rest, stored_position
from stream_dedup.app.plain_text import plain
from stream_dedup.app.rows import Row, unreadable
from stream_dedup.core.sketch import SetAside

if TYPE_CHECKING:
    from _csv import Reader

BYTE_ORDER_MARK = "\ufeff"


def csv_rows(path: str, longest: int) -> Iterator[Row]:
    """The rows of a CSV file as JSON objects of texts, by the names in its first line; gzip or not.

    Raises:
        click.FileError: the file cannot be read, or has no usable line of column names.
    """
    # Without a limit a quotation mark that is never closed takes in the rest of the file.
    csv.field_size_limit(longest + 1)
    with opened(path) as (stored, content):
        reader = csv.reader(_lines(content, longest))
        names = _names(path, reader)
        while True:
            first = reader.line_num + 1
            value = _next_value(reader, names, longest)
            if value is None:
                return
            yield Row(f"{path}:{first}", value, stored_position(stored))


def _lines(content: IO[bytes], longest: int) -> Iterator[str]:
    """Lines, cut where they are longer than any article; bytes that are no UTF-8 become lone surrogates."""
    mark = BYTE_ORDER_MARK
    while line := content.readline(longest + 2):
        if not line.endswith(b"\n"):
            skip_rest(content)
        yield line.decode("utf-8", "surrogateescape").removeprefix(mark)
        mark = ""


def _next_value(reader: "Reader", names: Sequence[str], longest: int) -> bytes | SetAside | None:
    """The next row that is not blank, None at the end."""
    first = reader.line_num + 1
    try:
        cells = next((row for row in reader if row), None)
    except csv.Error as error:
        return unreadable(f"Lines {first} to {reader.line_num} are no row of CSV: {error}.")
    return None if cells is None else _value(names, cells, longest)


def _names(path: str, reader: "Reader") -> Sequence[str]:
    try:
        names = next(reader, [])
    except csv.Error as error:
        raise click.FileError(plain(path, 200), f"its first line is no row of CSV: {error}") from error
    if not names or len(set(names)) < len(names) or not all(name.isprintable() for name in names):
        shown = plain(", ".join(names), 200)
        raise click.FileError(
            plain(path, 200), f"its first line must name the columns, each by another name; it says: {shown}"
        )
    return names


def _value(names: Sequence[str], cells: Sequence[str], longest: int) -> bytes | SetAside:
    if len(cells) != len(names):
        return unreadable(f"The row has {len(cells)} columns, the first line names {len(names)}.")
    try:
        value = msgspec.json.encode(dict(zip(names, cells, strict=True)))
    except UnicodeEncodeError:
        return unreadable("The row is not UTF-8.")
    return value if len(value) <= longest else unreadable(f"The row has more than the limit of {longest} bytes.")
