"""What the stages know of a broker: records in, one atomic commit of messages and an offset out.

Two transports stand behind these protocols, the real one and an in-memory one; one contract suite holds both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]
"""Record headers in order. A key that is not UTF-8 carries its bytes as surrogate escapes (PEP 383)."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record as it was read."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    """ms since the epoch."""
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One record to be written."""

    topic: str
    partition: int
    timestamp: int
    """ms since the epoch."""
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class Source(Protocol):
    """Reads one partition in order; only committed records."""

    async def fetch(self, max_records: int, max_bytes: int, wait: float) -> Sequence[Record]:
        """The next records: at least one as soon as there is one, none after `wait` seconds."""
        ...

    def seek(self, offset: int) -> None:
        """Continue at this offset."""
        ...


class Transactions(Protocol):
    """Writes in transactions under one transactional id, of which there is one owner at a time."""

    async def start(self) -> None:
        """Take the id: fence the owner before and end its open transaction.

        Raises:
            TransactionFailedError: the broker did not answer in time.
        """
        ...

    async def committed(self) -> int | None:
        """The input's committed offset (the next one to read), None where nothing is committed."""
        ...

    async def commit(self, messages: Sequence[Message], next_offset: int) -> None:
        """Write all messages and the input's offset, or none of them.

        Raises:
            RecordTooLargeError: the broker refuses a message; nothing was committed and the id is still held.
            TransactionFailedError: it is not known whether it committed; the transport is of no use any more.
            FencedError: another owner has the id.
        """
        ...

    async def close(self) -> None:
        """End what is open, within a time limit."""
        ...
