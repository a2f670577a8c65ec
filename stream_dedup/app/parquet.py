"""pyarrow, which reads and writes Parquet and is installed by those who want it."""

from types import ModuleType

import click

MISSING = "Parquet needs pyarrow, which is not installed: pip install 'stream-dedup[parquet]'"


def parquet_module() -> ModuleType:
    """The module `pyarrow.parquet`.

    Raises:
        click.ClickException: it is not installed.
    """
    try:
        import pyarrow.parquet  # noqa: PLC0415 - it is an extra
    except ImportError as error:
        raise click.ClickException(MISSING) from error
    module: ModuleType = pyarrow.parquet
    return module
