"""The in-memory transport: a broker for tests and trials, without a broker.

It keeps the promises that the stages build on (order, atomic commits, fencing, size limits) and nothing else.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from stream_dedup.errors import (
    FencedError,
    OffsetGoneError,
    RecordTooLargeError,
    TopicMissingError,
    TransactionFailedError,
)
from stream_dedup.kafka.records import size_of
from stream_dedup.kafka.transport import BATCH_BYTES, Bounds, Ends, Input, Message, Record

DEFAULT_MAX_MESSAGE_BYTES = 1_048_588
"""Kafka's default of `max.message.bytes`."""


@dataclass(slots=True)
class Log:
    """One partition: the records from `start` on, and the offset of the next one."""

    start: int = 0
    end: int = 0
    records: list[Record] = field(default_factory=list)

    def append(self, message: Message) -> None:
        """Write one record."""
        self.records.append(
            Record(
                message.topic,
                message.partition,
                self.end,
                message.timestamp,
                message.key,
                message.value,
                message.headers,
            )
        )
        self.end += 1


class MemoryBroker:
    """Topics in memory; every transaction, committed or not, leaves a marker that takes an offset, as Kafka's does."""

    def __init__(self, batch_bytes: int = BATCH_BYTES) -> None:
        """Start without topics; a source hands out so many bytes at once, or one record that is larger."""
        self.batch_bytes = batch_bytes
        self._made = 0
        self._topics: dict[str, list[Log]] = {}
        self._max_message_bytes: dict[str, int] = {}
        self._ids: dict[str, str] = {}
        self._offsets: dict[tuple[str, str, int], int] = {}
        self._marks: dict[tuple[str, str, int], str] = {}
        self._epochs: dict[str, int] = {}
        self._changed = asyncio.Condition()

    def create_topic(self, topic: str, partitions: int, max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES) -> None:
        """Make a topic; anew where there was one."""
        self._topics[topic] = [Log() for _ in range(partitions)]
        self._max_message_bytes[topic] = max_message_bytes
        self._made += 1
        self._ids[topic] = f"id-{self._made}"

    async def publish(self, message: Message) -> None:
        """Write one record outside any transaction."""
        self.log(message.topic, message.partition).append(message)
        async with self._changed:
            self._changed.notify_all()

    async def source(self, topic: str, partition: int, offset: int) -> "MemorySource":
        """A reader of one partition from an offset on."""
        return MemorySource(self, topic, partition, offset)

    def transactions(self, of: Input) -> "MemoryTransactions":
        """A writer for one input partition; not started yet."""
        return MemoryTransactions(self, of)

    async def bounds(self, topic: str, partition: int) -> Bounds:
        """Where a partition's log starts and ends now."""
        log = self.log(topic, partition)
        return Bounds(log.start, log.end)

    async def offset_at(self, topic: str, partition: int, time: int) -> int:
        """The offset of the first record with this timestamp or a later one."""
        log = self.log(topic, partition)
        return next((record.offset for record in log.records if record.timestamp >= time), log.end)

    async def committed(self, group: str, topic: str) -> dict[int, int]:
        """A group's committed offsets of a topic, by partition."""
        return {p: offset for (g, t, p), offset in self._offsets.items() if (g, t) == (group, topic)}

    async def marks(self, group: str, topic: str) -> dict[int, str]:
        """What is kept with a group's committed offsets, by partition."""
        return {p: mark for (g, t, p), mark in self._marks.items() if (g, t) == (group, topic)}

    def set_committed(self, of: Input, offset: int, mark: str = "") -> None:
        """Move an input's committed offset; without a mark, as an operator's tool does."""
        self._offsets[of.group, of.topic, of.partition] = offset
        self._marks[of.group, of.topic, of.partition] = mark

    def lose_committed(self, of: Input) -> None:
        """Forget an input's committed offset, as when it expires."""
        del self._offsets[of.group, of.topic, of.partition]
        del self._marks[of.group, of.topic, of.partition]

    async def topic_id(self, topic: str) -> str:
        """The id of a topic, another one each time that it is made."""
        self._logs(topic)
        return self._ids[topic]

    async def partitions(self, topic: str) -> int:
        """How many partitions a topic has."""
        return len(self._logs(topic))

    async def delete_before(self, topic: str, partition: int, offset: int) -> None:
        """Delete what stands below an offset."""
        log = self.log(topic, partition)
        log.start = max(log.start, min(offset, log.end))
        log.records = [record for record in log.records if record.offset >= log.start]

    def log(self, topic: str, partition: int) -> Log:
        """One partition's log."""
        return self._logs(topic)[partition]

    def _logs(self, topic: str) -> list[Log]:
        if topic not in self._topics:
            raise TopicMissingError(f"there is no topic {topic}")
        return self._topics[topic]

    async def wait_beyond(self, topic: str, partition: int, offset: int, wait: float) -> None:
        """Return when the log reaches beyond an offset, or after `wait` seconds."""
        log = self.log(topic, partition)
        if log.end > offset or wait <= 0:
            return
        async with self._changed:
            try:
                async with asyncio.timeout(wait):
                    await self._changed.wait_for(lambda: log.end > offset)
            except TimeoutError:
                return

    def take(self, transactional_id: str) -> int:
        """A new epoch of the id: whoever held it is fenced."""
        self._epochs[transactional_id] = self._epochs.get(transactional_id, -1) + 1
        return self._epochs[transactional_id]

    async def write(self, of: Input, epoch: int, messages: Sequence[Message], next_offset: int, mark: str) -> Ends:
        """One transaction."""
        if self._epochs[of.transactional_id] != epoch:
            raise FencedError(f"another owner has taken {of.transactional_id}")
        refused = next((one for one in messages if size_of(one) > self._max_message_bytes[one.topic]), None)
        if refused is None:
            for message in messages:
                self.log(message.topic, message.partition).append(message)
            self.set_committed(of, next_offset, mark)
        touched = {(message.topic, message.partition) for message in messages}
        ends = {(topic, partition): self.log(topic, partition).end for topic, partition in touched}
        for topic, partition in touched:
            self.log(topic, partition).end += 1
        async with self._changed:
            self._changed.notify_all()
        if refused is not None:
            limit = self._max_message_bytes[refused.topic]
            raise RecordTooLargeError(
                f"a message of {size_of(refused)} bytes is over {refused.topic}'s limit of {limit}"
            )
        return ends


class MemorySource:
    """Reads one partition in order."""

    def __init__(self, broker: MemoryBroker, topic: str, partition: int, offset: int) -> None:
        self._broker = broker
        self._topic = topic
        self._partition = partition
        self._position = offset

    @property
    def position(self) -> int:
        """The next offset to read."""
        return self._position

    @property
    def waiting(self) -> int:
        """Offsets between the position and the log's end."""
        return self._broker.log(self._topic, self._partition).end - self._position

    async def fetch(self, max_records: int, wait: float) -> Sequence[Record]:
        """The next records: some as soon as there are any, none after `wait` seconds."""
        await self._broker.wait_beyond(self._topic, self._partition, self._position, wait)
        log = self._broker.log(self._topic, self._partition)
        if not log.start <= self._position <= log.end:
            raise OffsetGoneError(
                f"{self._topic}-{self._partition} holds offsets {log.start} to {log.end}, not {self._position}"
            )
        records: list[Record] = []
        size = 0
        for record in (record for record in log.records if record.offset >= self._position):
            size += size_of(record)
            if len(records) == max_records or (records and size > self._broker.batch_bytes):
                self._position = record.offset
                return records
            records.append(record)
        self._position = log.end
        return records

    async def close(self) -> None:
        """Nothing to let go of."""


class MemoryTransactions:
    """Writes in transactions under one transactional id."""

    def __init__(self, broker: MemoryBroker, of: Input) -> None:
        self._broker = broker
        self._of = of
        self._epoch: int | None = None

    async def start(self) -> None:
        """Take the id."""
        self._epoch = self._broker.take(self._of.transactional_id)

    async def commit(self, messages: Sequence[Message], next_offset: int, mark: str = "") -> Ends:
        """Write all messages and the input's offset, or none of them."""
        if self._epoch is None:
            raise TransactionFailedError(f"{self._of.transactional_id} is not started, or was closed after an error")
        try:
            return await self._broker.write(self._of, self._epoch, messages, next_offset, mark)
        except BaseException:
            self._epoch = None
            raise

    async def close(self) -> None:
        """Let go of the id."""
        self._epoch = None
