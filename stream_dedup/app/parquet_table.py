"""Writes Parquet: rows with given columns, or chosen rows of other Parquet files with their own types."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import BinaryIO

import click
import numpy as np

from stream_dedup.app.parquet import parquet_module
from stream_dedup.app.parquet_rows import BUFFER
from stream_dedup.app.plain_text import plain
from stream_dedup.app.tables import Column, Record, Write

ROWS_AT_ONCE = 1000


@contextmanager
def parquet_table(file: BinaryIO, columns: Mapping[str, Column]) -> Iterator[Write]:
    """What takes rows with these columns.

    Raises:
        click.ClickException: pyarrow is not installed.
    """
    parquet = parquet_module()
    import pyarrow as pa  # noqa: PLC0415 - it is an extra

    schema = pa.schema([(name, getattr(pa, column.value)()) for name, column in columns.items()])
    waiting: list[Record] = []
    with parquet.ParquetWriter(file, schema) as writer:

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(waiting, schema=schema))
            waiting.clear()

        def write(record: Record) -> None:
            waiting.append(record)
            if len(waiting) == ROWS_AT_ONCE:
                flush()

        yield write
        flush()


def copy_rows(paths: Sequence[str], chosen: Sequence[int], file: BinaryIO) -> None:
    """Copy chosen rows of Parquet files, with all their columns and types.

    Args:
        paths: the files; all must have the columns and types of the first.
        chosen: numbers of rows, ascending, counted from 0 through all files.
        file: what is written.

    Raises:
        click.ClickException: the files differ in their columns, or pyarrow is not installed.
    """
    parquet = parquet_module()
    numbers = np.asarray(chosen, dtype=np.int64)
    with parquet.ParquetFile(paths[0]) as first:
        schema = first.schema_arrow
    begin = 0
    with parquet.ParquetWriter(file, schema) as writer:
        for path in paths:
            with parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as source:
                if not source.schema_arrow.equals(schema):
                    raise click.ClickException(
                        f"{plain(path, 200)} has other columns than {plain(paths[0], 200)}: "
                        "write to a .jsonl file, or dedup them one by one"
                    )
                for batch in source.iter_batches(batch_size=ROWS_AT_ONCE):
                    first_row, last_row = np.searchsorted(numbers, (begin, begin + len(batch)))
                    writer.write_batch(batch.take(numbers[first_row:last_row] - begin))
                    begin += len(batch)
