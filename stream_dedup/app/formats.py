"""The formats that articles are read from and results are written to, told by a file's ending."""

import os
from enum import StrEnum
from pathlib import Path


class Format(StrEnum):
    """How articles stand in a file or folder."""

    JSONL = "jsonl"
    """One JSON object a line."""
    CSV = "csv"
    """A line of column names, then one article a row."""
    PARQUET = "parquet"
    TEXT = "text"
    """A folder of .txt files, or one such file: one article a file, named by its path in the folder."""
    LINES = "lines"
    """One text a line, named by FILE:LINE."""


_ENDINGS = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".json": Format.JSONL,
    ".csv": Format.CSV,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".txt": Format.LINES,
}
WRITTEN = (Format.JSONL, Format.CSV, Format.PARQUET)
"""What results are written as."""


def format_of(path: str) -> Format:
    """The format that a path's ending tells (.gz apart): JSON lines where it tells none, TEXT for a folder."""
    if os.path.isdir(path):  # noqa: PTH112 - "-" and other names are texts here
        return Format.TEXT
    return _ENDINGS.get(Path(path.lower().removesuffix(".gz")).suffix, Format.JSONL)
