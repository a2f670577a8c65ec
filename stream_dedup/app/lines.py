"""Articles in files: a line each, as bytes."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BufferedReader
from typing import IO, cast

import click

from stream_dedup.app.plain_text import plain

STDIN = "-"
_GZIP_MAGIC = b"\x1f\x8b"
"""RFC 1952, 2.3.1; no JSON begins so."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank."""

    number: int
    """From 1."""
    content: bytes
    """Without the line feed; what exceeds the limit, but for one byte, is left out."""
    read: int
    """Bytes of the file that have been read so far, as it is stored."""


def read_lines(path: str, longest: int) -> Iterator[Line]:
    """The lines of a file or, for `-`, of the standard input, gzip or not; blank ones are left out.

    Args:
        path: of the file.
        longest: bytes of a line that are kept; of a longer one, one byte more, which tells it from one that fits.

    Raises:
        click.FileError: the file cannot be read, or is damaged.
    """
    with opened(path) as (stored, content):
        yield from _lines(stored, content, longest)


@contextmanager
def opened(path: str) -> Iterator[tuple[BufferedReader, IO[bytes]]]:
    """A file or, for `-`, the standard input: as it is stored, and its content (unpacked where it is gzip).

    Raises:
        click.FileError: the file cannot be read, or is damaged.
    """
    name = "the standard input" if path == STDIN else plain(path, 200)
    with ExitStack() as stack:
        try:
            stored = sys.stdin.buffer if path == STDIN else stack.enter_context(open(path, "rb"))  # noqa: PTH123
            stored = cast("BufferedReader", stored)
            packed = stored.peek(2)[:2] == _GZIP_MAGIC
            yield stored, cast("IO[bytes]", gzip.GzipFile(fileobj=stored)) if packed else stored
        except (OSError, EOFError, zlib.error) as error:
            raise click.FileError(name, getattr(error, "strerror", None) or str(error)) from error


def _lines(stored: BufferedReader, lines: IO[bytes], longest: int) -> Iterator[Line]:
    packed = lines is not stored
    number = read = 0
    while line := lines.readline(longest + 2):
        number += 1
        content = line.removesuffix(b"\n")
        read += len(line)
        if len(content) == len(line):
            content = content[: longest + 1]
            read += skip_rest(lines)
        if content.strip():
            yield Line(number, content, read=stored_position(stored) if packed else read)


def skip_rest(lines: IO[bytes]) -> int:
    """Read to the end of a line; how many bytes that were."""
    skipped = 0
    while part := lines.readline(1 << 16):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def stored_position(stored: BufferedReader) -> int:
    """Bytes that have been read so far, 0 of what has no position."""
    return stored.tell() if stored.seekable() else 0
