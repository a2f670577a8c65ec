"""Transactions on the real transport: whole record batches, every result checked, every call with a time limit."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    InvalidProducerEpoch,
    KafkaError,
    MessageSizeTooLargeError,
    ProducerFenced,
    RecordListTooLargeError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
)
from aiokafka.producer.message_accumulator import BatchBuilder

from stream_dedup.errors import (
    BrokerRefusedError,
    FencedError,
    RecordTooLargeError,
    StreamDedupError,
    TransactionFailedError,
)
from stream_dedup.kafka.connection import CLOSE_TIMEOUT, Connection, close_quietly
from stream_dedup.kafka.points import Point, Reached, pass_by
from stream_dedup.kafka.producer import cut_off, note_unanswered, started
from stream_dedup.kafka.transport import Ends, Input, Message

if TYPE_CHECKING:
    from aiokafka.structs import RecordMetadata

Offsets: TypeAlias = Mapping[Input, tuple[int, str]]
"""The next offset of each input, and the text that is kept with it."""

PRODUCE_BATCH_BYTES = 512 * 1024
"""A record batch closes at this size: half of Kafka's default `max.message.bytes`, so never refused for it."""


class KafkaTransactions:
    """Writes in transactions under one transactional id."""

    def __init__(self, connection: Connection, of: Input, reached: Reached = pass_by) -> None:
        """`reached` is called at each point that a transaction passes."""
        self._connection = connection
        self._of = of
        self._reached = reached
        self._producer: AIOKafkaProducer | None = None
        self._failed = False
        self._unanswered: list[str] = []

    async def start(self) -> None:
        """Take the id: InitProducerId fences the owner before and ends its open transaction."""
        limit = self._connection.call_timeout
        producer = AIOKafkaProducer(
            bootstrap_servers=self._connection.bootstrap_servers,
            client_id=self._connection.client_id,
            transactional_id=self._of.transactional_id,
            transaction_timeout_ms=int(self._connection.transaction_timeout * 1000),
            # Longer than our own limit: what comes later is answered to a producer that is gone.
            request_timeout_ms=int(limit * 2000),
            max_batch_size=PRODUCE_BATCH_BYTES,
            acks="all",
        )
        self._producer, self._failed = producer, False
        self._unanswered = []
        note_unanswered(producer, self._unanswered)
        with _translated(self._of):
            async with asyncio.timeout(limit):
                await started(producer)

    async def commit(self, messages: Sequence[Message], next_offset: int, mark: str = "") -> Ends:
        """Write all messages and the input's offset, or none of them."""
        return await self.commit_all(messages, {self._of: (next_offset, mark)})

    async def commit_all(self, messages: Sequence[Message], offsets: Offsets) -> Ends:
        """Write all messages and these offsets of any inputs, or none of them."""
        producer = self._producer
        if producer is None or self._failed:
            raise TransactionFailedError(f"{self._of.transactional_id} is not started, or was closed after an error")
        if self._unanswered:
            # Tried again by aiokafka, it may still reach the broker: an end of the transaction before would then end
            # this one half-way (KIP-890). A producer that starts anew has a new epoch, with which it does no harm.
            raise TransactionFailedError(
                f"{self._of.transactional_id} is taken anew: {', '.join(self._unanswered)} had no answer before"
            )
        self._failed = True  # until the commit is known to have succeeded
        with _translated(self._of):
            async with asyncio.timeout(self._connection.call_timeout):
                self._at(Point.BEFORE_BEGIN)
                await producer.begin_transaction()
                ends = await _write(producer, messages, offsets, self._at)
                self._at(Point.COMMITTING)
                await producer.commit_transaction()
                self._at(Point.COMMITTED)
        self._failed = False
        return ends

    def _at(self, point: Point) -> None:
        self._reached(point, self._of)

    async def close(self) -> None:
        """Let go of the id's connection."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await close_quietly(cut_off(producer) if self._failed else producer.stop())


@contextlib.contextmanager
def _translated(of: Input) -> Iterator[None]:
    """Raise a broker's error as one of ours."""
    try:
        yield
    except BaseException as error:
        ours = error_of(error, of.transactional_id)
        if ours is None:
            raise
        raise ours from error


async def _write(
    producer: AIOKafkaProducer,
    messages: Sequence[Message],
    offsets: Offsets,
    reached: Callable[[Point], None],
) -> Ends:
    """All that comes before the commit. When it fails the transaction is ended at once where that is still possible.

    An open transaction holds back every read_committed reader until the next owner or the broker's timeout ends it.
    """
    try:
        ends = await _send_all(producer, messages, reached)
        reached(Point.AFTER_SENDS)
        for group, of_group in groupby(sorted(offsets, key=attrgetter("group")), key=attrgetter("group")):
            committed = {TopicPartition(of.topic, of.partition): offsets[of] for of in of_group}
            await producer.send_offsets_to_transaction(committed, group)
        reached(Point.AFTER_OFFSETS)
    except BaseException:
        # aiokafka asserts its state: one that cannot be aborted any more (fenced, fatal) raises AssertionError.
        with contextlib.suppress(KafkaError, TimeoutError, OSError, AssertionError):
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await producer.abort_transaction()
        raise
    return ends


def error_of(error: BaseException, transactional_id: str) -> StreamDedupError | None:
    """What an error under a transactional id means here; None where it is none of a broker's."""
    match error:
        case MessageSizeTooLargeError() | RecordListTooLargeError():
            return RecordTooLargeError(f"the broker refuses a message of {transactional_id} for its size")
        case ProducerFenced() | InvalidProducerEpoch():
            return FencedError(f"another owner has taken {transactional_id}")
        case (
            TopicAuthorizationFailedError()
            | GroupAuthorizationFailedError()
            | ClusterAuthorizationFailedError()
            | TransactionalIdAuthorizationFailed()
        ):
            return BrokerRefusedError(
                f"the broker denies a right that {transactional_id} needs: {error!r}. Allow Write to the topics and to "
                "the transactional id, and Read to the group (kafka-acls --add)"
            )
        case KafkaError() | TimeoutError() | OSError():
            return TransactionFailedError(f"a transaction of {transactional_id} did not commit: {error!r}")
    return None


async def _send_all(producer: AIOKafkaProducer, messages: Sequence[Message], reached: Callable[[Point], None]) -> Ends:
    """Send whole record batches and check each one's own result.

    A transaction commits even when a batch of it failed (only that batch's future tells), and a batch without
    records "succeeds" with None: so every result is looked at.
    """
    by_partition = attrgetter("topic", "partition")
    groups = groupby(sorted(messages, key=by_partition), key=by_partition)
    parts = {part: list(group) for part, group in groups}
    sends = [_send_partition(producer, topic, partition, part, reached) for (topic, partition), part in parts.items()]
    return dict(zip(parts, await asyncio.gather(*sends), strict=True))


async def _send_partition(
    producer: AIOKafkaProducer,
    topic: str,
    partition: int,
    messages: Sequence[Message],
    reached: Callable[[Point], None],
) -> int:
    """The offset after the last of the messages."""
    deliveries = []
    builder = producer.create_batch()
    for message in messages:
        if not _append(builder, message):
            deliveries.append((builder.record_count(), await _send(producer, builder, topic, partition)))
            builder = producer.create_batch()
            if not _append(builder, message):
                raise TransactionFailedError(f"an empty record batch for {topic}-{partition} took no message")
    deliveries.append((builder.record_count(), await _send(producer, builder, topic, partition)))
    for _, delivery in deliveries:
        # Waited for, not awaited: a cancellation would cancel futures that aiokafka still counts on.
        await asyncio.wait([delivery])
        reached(Point.BETWEEN_SENDS)
    written = end = 0
    for count, delivery in deliveries:
        sent = delivery.result()
        if sent is None or sent.offset < 0:
            raise TransactionFailedError(
                f"a record batch for {topic}-{partition} was sent empty, or nobody knows where"
            )
        written += count
        end = sent.offset + count
    if written != len(messages):
        raise TransactionFailedError(f"{written} of {len(messages)} messages were taken by the producer")
    return end


def _append(builder: BatchBuilder, message: Message) -> bool:
    """Whether the builder still had room."""
    appended = builder.append(
        timestamp=message.timestamp, key=message.key, value=message.value, headers=list(message.headers)
    )
    return appended is not None


async def _send(
    producer: AIOKafkaProducer, builder: BatchBuilder, topic: str, partition: int
) -> "asyncio.Future[RecordMetadata | None]":
    """Hand a record batch over; what it came to will be known later, None for one without records.

    A transaction fails with the first error, also while others are handed over: the rest count as seen.
    """
    builder.close()
    future: asyncio.Future[RecordMetadata | None] = await producer.send_batch(builder, topic, partition=partition)
    future.add_done_callback(_see)
    return future


def _see(delivery: "asyncio.Future[RecordMetadata | None]") -> None:
    """Ask how it ended: asyncio prints the traceback of a future that nobody asks."""
    if not delivery.cancelled():
        delivery.exception()
