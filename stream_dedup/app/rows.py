"""Articles in files of any format, one after the other, each as the bytes of a JSON object."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import click
import msgspec

from stream_dedup.app.formats import Format, format_of
from stream_dedup.app.lines import STDIN, read_lines
from stream_dedup.app.plain_text import plain
from stream_dedup.core.sketch import SetAside
from stream_dedup.core.verdict import Kind


@dataclass(frozen=True, slots=True)
class Row:
    """One article as it stands in a file."""

    position: str
    """FILE:LINE, FILE:ROW (Parquet, from 1), or the path of a text file."""
    value: bytes | SetAside
    """A JSON object, of JSON lines the line as it is; or why there is none."""
    read: int
    """Bytes that have been read so far, of all files, as they are stored."""


Reader: TypeAlias = Callable[[str, int], Iterator[Row]]
"""Reads one path; of a row longer than so many bytes no more is kept than tells that it is too long."""


def read_rows(paths: Sequence[str], form: Format | None, longest: int) -> Iterator[Row]:
    """The rows of all files, in their order.

    Args:
        paths: files, folders of text files, or `-` for the standard input.
        form: their format; None: what each path's ending tells.
        longest: bytes of a row from which on it is not read whole.

    Raises:
        click.FileError: a file cannot be read, or is damaged.
        click.ClickException: what reads the format is not installed.
    """
    before = 0
    for path in paths:
        reader = _reader_of(form or format_of(path))
        for row in reader(path, longest):
            yield replace(row, read=before + row.read)
        before += stored_bytes([path]) or 0


def stored_bytes(paths: Sequence[str]) -> int | None:
    """Bytes of all files together; None where the standard input is among them."""
    if STDIN in paths:
        return None
    files = [Path(file) for path in paths for file in (text_files(path) if Path(path).is_dir() else [path])]
    return sum(file.stat().st_size for file in files if file.exists())


def unreadable(reason: str) -> SetAside:
    """What stands for a row that cannot be read; the reason is one sentence."""
    return SetAside(Kind.UNREADABLE, reason)


def _reader_of(form: Format) -> Reader:
    # csv and pyarrow are for those who read such files.
    match form:
        case Format.CSV:
            from stream_dedup.app.csv_rows import csv_rows  # noqa: PLC0415

            return csv_rows
        case Format.PARQUET:
            from stream_dedup.app.parquet_rows import parquet_rows  # noqa: PLC0415

            return parquet_rows
        case Format.TEXT:
            return _texts
        case Format.LINES:
            return _text_lines
        case Format.JSONL:
            return _json_lines


def _json_lines(path: str, longest: int) -> Iterator[Row]:
    for line in read_lines(path, longest):
        yield Row(f"{path}:{line.number}", line.content, line.read)


def _text_lines(path: str, longest: int) -> Iterator[Row]:
    for line in read_lines(path, longest):
        yield Row(f"{path}:{line.number}", _as_json(line.content, {}, longest), line.read)


def _texts(path: str, longest: int) -> Iterator[Row]:
    folder = Path(path)
    read = 0
    for file in text_files(path) if folder.is_dir() else [path]:
        name = _printable(str(Path(file).relative_to(folder)) if folder.is_dir() else file)
        try:
            with open(file, "rb") as opened:  # noqa: PTH123 - as lines.py opens
                content = opened.read(longest + 1)
                read += os.fstat(opened.fileno()).st_size
        except OSError as error:
            yield Row(_printable(file), unreadable(f"The file cannot be read: {error.strerror}."), read)
            continue
        yield Row(_printable(file), _as_json(content, {"id": name}, longest), read)


def text_files(folder: str) -> list[str]:
    """The paths of all .txt files in a folder and those below it, sorted.

    Raises:
        click.FileError: a folder cannot be read, or there is none.
    """

    def refuse(error: OSError) -> None:
        raise click.FileError(plain(str(error.filename), 200), error.strerror) from error

    walk = os.walk(folder, onerror=refuse)
    found = (os.path.join(place, name) for place, _, names in walk for name in names)  # noqa: PTH118
    texts = sorted(path for path in found if path.lower().endswith(".txt"))
    if not texts:
        raise click.FileError(plain(folder, 200), "there is no .txt file in this folder or below it")
    return texts


def _as_json(content: bytes, fields: Mapping[str, str], longest: int) -> bytes | SetAside:
    if len(content) > longest:
        return unreadable(f"The text has more than the limit of {longest} bytes.")
    try:
        return msgspec.json.encode({**fields, "text": content.decode("utf-8-sig")})
    except UnicodeDecodeError as error:
        return unreadable(f"The text of {len(content)} bytes is not UTF-8 at byte {error.start}.")


def _printable(path: str) -> str:
    """A path as text; bytes that are no UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")
