"""What the stages know of a broker: records in, one atomic commit of messages and an offset out.

Two transports stand behind these protocols, the real one (`client`) and an in-memory one (`memory`); one contract
suite holds both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]
"""Record headers in order. A key that is not UTF-8 carries its bytes as surrogate escapes (PEP 383)."""

BATCH_BYTES = 8_000_000
"""Bytes of records that a source hands out at once, unless the deployment says otherwise."""

Ends: TypeAlias = Mapping[tuple[str, int], int]
"""What a commit has written to: by topic and partition, the offset after the last message written there."""


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


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a partition's log holds: offsets from `start` up to, but without, `end` (read_committed)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Input:
    """The partition that a transactional id is bound to, and the group that commits its offsets."""

    group: str
    topic: str
    partition: int

    @property
    def transactional_id(self) -> str:
        """Bound to the partition, since aiokafka has no KIP-447: so a new owner fences the one before."""
        return f"{self.group}-{self.topic}-{self.partition}"

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Source(Protocol):
    """Reads one partition in order; only committed records."""

    async def fetch(self, max_records: int, wait: float) -> Sequence[Record]:
        """The next records: some as soon as there are any, none after `wait` seconds.

        All together have at most the transport's `batch_bytes`, unless one alone has more.

        Raises:
            OffsetGoneError: the log does not hold the position to read from.
        """
        ...

    @property
    def position(self) -> int:
        """The next offset to read; beyond commit markers and gaps once `fetch` has passed them."""
        ...

    @property
    def waiting(self) -> int:
        """Offsets between the position and the log's end, as of the last fetch; 0 before one."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Transactions(Protocol):
    """Writes in transactions under one transactional id, of which there is one owner at a time."""

    async def start(self) -> None:
        """Take the id: fence the owner before and end its open transaction.

        Raises:
            TransactionFailedError: the broker did not answer in time.
            BrokerRefusedError: it denies the right to.
        """
        ...

    async def commit(self, messages: Sequence[Message], next_offset: int, mark: str = "") -> Ends:
        """Write all messages and the input's offset, or none of them. After an error only `close` may follow.

        Args:
            messages: to write; none commits the offset alone.
            next_offset: the input's, after the last record that is part of this.
            mark: a text that is kept with the offset.

        Returns:
            Where the messages now stand.

        Raises:
            RecordTooLargeError: the broker refuses a message for its size; nothing was committed.
            TransactionFailedError: it is not known whether it committed.
            FencedError: another owner has the id.
            BrokerRefusedError: the broker denies a right to write.
        """
        ...

    async def close(self) -> None:
        """Let go of the id's connection, within a time limit; an open transaction is ended by the next `start`."""
        ...


class Broker(Protocol):
    """A place where logs stand."""

    async def source(self, topic: str, partition: int, offset: int) -> Source:
        """A reader of one partition from an offset on."""
        ...

    def transactions(self, of: Input) -> Transactions:
        """A writer for one input partition; not started yet."""
        ...

    async def bounds(self, topic: str, partition: int) -> Bounds:
        """Where a partition's log starts and ends now."""
        ...

    async def offset_at(self, topic: str, partition: int, time: int) -> int:
        """The offset of the first record with a timestamp of `time`, in ms, or later; the log's end without one."""
        ...

    async def committed(self, group: str, topic: str) -> dict[int, int]:
        """A group's committed offsets of a topic, by partition; partitions without one are left out."""
        ...

    async def marks(self, group: str, topic: str) -> dict[int, str]:
        """What is kept with a group's committed offsets, by partition; empty where a tool has set the offset."""
        ...

    async def topic_id(self, topic: str) -> str:
        """The id of a topic, which one made anew under the same name does not share.

        Raises:
            TopicMissingError: there is no such topic.
        """
        ...

    async def partitions(self, topic: str) -> int:
        """How many partitions a topic has.

        Raises:
            TopicMissingError: there is no such topic.
        """
        ...

    async def delete_before(self, topic: str, partition: int, offset: int) -> None:
        """Delete what stands below an offset (KIP-107)."""
        ...
