"""Articles in Parquet: a row each, its columns as the fields of a JSON object."""

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from stream_dedup.app.lines import STDIN
from stream_dedup.app.parquet import parquet_module
from stream_dedup.app.plain_text import plain
from stream_dedup.app.rows import Row, unreadable
from stream_dedup.core.sketch import SetAside

ROWS_AT_ONCE = 256
BUFFER = 1 << 20
"""Bytes of a column that are read at once: without it a whole row group is held."""


def parquet_rows(path: str, longest: int) -> Iterator[Row]:
    """The rows of a Parquet file; times become texts (RFC 3339), bytes base64.

    Raises:
        click.FileError: the file cannot be read.
        click.ClickException: pyarrow is not installed.
    """
    parquet = parquet_module()
    if path == STDIN:
        raise click.FileError("the standard input", "Parquet is read from its end, and so from files only")
    import pyarrow as pa  # noqa: PLC0415 - it is an extra

    try:
        size = Path(path).stat().st_size
        with parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
            number, rows = 0, file.metadata.num_rows
            for batch in file.iter_batches(batch_size=ROWS_AT_ONCE):
                for record in batch.to_pylist():
                    number += 1
                    yield Row(f"{path}:{number}", _value(record, longest), size * number // rows)
    except (OSError, pa.ArrowException) as error:
        raise click.FileError(plain(path, 200), getattr(error, "strerror", None) or str(error)) from error


def _value(record: object, longest: int) -> bytes | SetAside:
    try:
        value = msgspec.json.encode(record)
    except (TypeError, UnicodeEncodeError, msgspec.MsgspecError) as error:
        return unreadable(f"The row cannot be written as JSON: {error}.")
    return value if len(value) <= longest else unreadable(f"The row has more than the limit of {longest} bytes.")
