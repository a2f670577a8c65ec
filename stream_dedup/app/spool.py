"""Bytes that are needed once more at the end: on disk meanwhile, memory holds a place each."""

import tempfile
from array import array
from types import TracebackType
from typing import Self


class Spool:
    """Values in a temporary file that is gone with the process: all are appended, then read in any order."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed at this one's own exit
        self._ends = array("q", [0])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def append(self, value: bytes) -> None:
        """Add a value to the end, before any is read."""
        self._file.write(value)
        self._ends.append(self._ends[-1] + len(value))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def value(self, index: int) -> bytes:
        """The value that was appended as number `index`, from 0."""
        begin, end = self._ends[index], self._ends[index + 1]
        self._file.seek(begin)
        return self._file.read(end - begin)
