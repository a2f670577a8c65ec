"""The real transport: aiokafka behind the transport's protocols, every call with a time limit.

aiokafka retries much of what fails without an end of its own (a transaction's offsets on a stopped producer are
awaited for ever, `start` can wait on ConcurrentTransactions for ever), so that each limit here is ours.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from typing import TypeVar

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.conn import CloseReason
from aiokafka.errors import (
    CorruptRecordException,
    GroupLoadInProgressError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NoError,
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
    for_code,
)
from aiokafka.structs import OffsetAndMetadata

from stream_dedup.errors import (
    BrokerRefusedError,
    BrokerUnreachableError,
    LogRefusedError,
    OffsetGoneError,
    TopicMissingError,
    TransactionFailedError,
)
from stream_dedup.kafka.connection import Connection, close_quietly, retried
from stream_dedup.kafka.points import Reached, pass_by
from stream_dedup.kafka.records import size_of
from stream_dedup.kafka.tolerant import TolerantConsumer
from stream_dedup.kafka.topic_ids import TopicIdRequest, topic_id_of
from stream_dedup.kafka.transactions import KafkaTransactions
from stream_dedup.kafka.transport import Bounds, Input, Record

T = TypeVar("T")

PULLED_RECORDS = 32
"""Records that the client decompresses at once: as many may be in memory on top of a batch's bytes."""


@contextlib.asynccontextmanager
async def connect(connection: Connection, reached: Reached = pass_by) -> AsyncIterator["KafkaBroker"]:
    """A connected broker, whose transactions call `reached` at each point that they pass.

    Raises:
        BrokerUnreachableError: nobody answers at the address.
    """
    admin = AIOKafkaAdminClient(
        bootstrap_servers=connection.bootstrap_servers,
        client_id=connection.client_id,
        request_timeout_ms=connection.request_timeout_ms,
    )
    probe = AIOKafkaConsumer(
        bootstrap_servers=connection.bootstrap_servers,
        client_id=connection.client_id,
        isolation_level="read_committed",
        request_timeout_ms=connection.request_timeout_ms,
    )
    try:
        with _unreachable(connection):
            async with asyncio.timeout(connection.call_timeout):
                await admin.start()
                await probe.start()
        yield KafkaBroker(connection, admin, probe, reached)
    finally:
        await asyncio.gather(close_quietly(probe.stop()), close_quietly(admin.close()))


@contextlib.contextmanager
def _unreachable(connection: Connection) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise _unreached(connection, f"no broker answers within {connection.call_timeout:g} s") from error
    except (KafkaConnectionError, OSError) as error:
        raise _unreached(connection, "no broker can be reached") from error


def _unreached(connection: Connection, what: str) -> BrokerUnreachableError:
    return BrokerUnreachableError(
        f"{what} at {connection.bootstrap_servers}: "
        "start one (`stream-dedup broker`), or name another with --bootstrap-servers"
    )


async def _answered(client: AIOKafkaAdminClient | AIOKafkaConsumer, call: Awaitable[T]) -> T:
    """A call's result. A client that lives on after a call without an answer connects and asks for leaders anew.

    aiokafka (0.14) closes a connection only when its own limit of a request passes first, which no limit around it may
    cut short, not even the one that aiokafka itself sets around asking for offsets: a connection that has fallen silent
    (its broker hangs, or a firewall has forgotten it) would be asked for ever. Closed for a timeout, it makes aiokafka
    fetch the metadata, too, without which a leader that hangs is asked long after another has taken its place: until
    `metadata_max_age_ms` have passed, five minutes.
    """
    try:
        return await call
    except (TimeoutError, KafkaTimeoutError, asyncio.CancelledError):
        for connection in list(client._client._conns.values()):  # noqa: SLF001 - there is no other way
            connection.close(reason=CloseReason.CONNECTION_TIMEOUT)
        raise


class KafkaBroker:
    """A connected Kafka."""

    def __init__(
        self,
        connection: Connection,
        admin: AIOKafkaAdminClient,
        probe: AIOKafkaConsumer,
        reached: Reached = pass_by,
    ) -> None:
        self.connection = connection
        self.admin = admin
        self._probe = probe
        self._reached = reached

    async def source(self, topic: str, partition: int, offset: int) -> "KafkaSource":
        """A reader of one partition from an offset on."""
        consumer = TolerantConsumer(
            bootstrap_servers=self.connection.bootstrap_servers,
            client_id=self.connection.client_id,
            isolation_level="read_committed",
            auto_offset_reset="none",
            enable_auto_commit=False,
            request_timeout_ms=self.connection.request_timeout_ms,
            max_partition_fetch_bytes=self.connection.batch_bytes,
            fetch_max_bytes=self.connection.batch_bytes,
        )
        of = TopicPartition(topic, partition)
        try:
            async with asyncio.timeout(self.connection.call_timeout):
                await consumer.start()
            consumer.assign([of])
            consumer.seek(of, offset)
        except BaseException as error:
            await close_quietly(consumer.stop())
            if isinstance(error, KafkaError | TimeoutError | OSError):
                raise TransactionFailedError(f"{topic}-{partition} could not be read: {error!r}") from error
            raise
        return KafkaSource(consumer, of, offset, self.connection)

    def transactions(self, of: Input) -> KafkaTransactions:
        """A writer for one input partition; not started yet."""
        return KafkaTransactions(self.connection, of, self._reached)

    async def bounds(self, topic: str, partition: int) -> Bounds:
        """Where a partition's log starts and ends now."""
        of = TopicPartition(topic, partition)
        limit = self.connection.call_timeout
        start = await retried(lambda: _answered(self._probe, self._probe.beginning_offsets([of])), limit)
        end = await retried(lambda: _answered(self._probe, self._probe.end_offsets([of])), limit)
        return Bounds(start[of], end[of])

    async def offset_at(self, topic: str, partition: int, time: int) -> int:
        """The offset of the first record with this timestamp, in ms, or a later one; the log's end without one."""
        of = TopicPartition(topic, partition)
        limit = self.connection.call_timeout
        found = await retried(lambda: _answered(self._probe, self._probe.offsets_for_times({of: time})), limit)
        return (await self.bounds(topic, partition)).end if found[of] is None else int(found[of].offset)

    async def members(self, group: str) -> int:
        """How many members a group has."""
        (response,) = await retried(
            lambda: _answered(self.admin, self.admin.describe_consumer_groups([group])), self.connection.call_timeout
        )
        ((code, _group, _state, _type, _protocol, members, *_),) = response.groups
        if for_code(code) is not NoError:
            raise BrokerRefusedError(f"the broker does not tell who is in the group {group}: {for_code(code).__name__}")
        return len(members)

    async def committed(self, group: str, topic: str) -> dict[int, int]:
        """A group's committed offsets of a topic, by partition."""
        return {partition: at.offset for partition, at in (await self._committed(group, topic)).items()}

    async def marks(self, group: str, topic: str) -> dict[int, str]:
        """What is kept with a group's committed offsets, by partition: Kafka's offset metadata."""
        return {partition: at.metadata or "" for partition, at in (await self._committed(group, topic)).items()}

    async def _committed(self, group: str, topic: str) -> dict[int, OffsetAndMetadata]:
        asked = [TopicPartition(topic, partition) for partition in range(await self.partitions(topic))]

        async def offsets() -> dict[int, OffsetAndMetadata]:
            found = await _answered(self.admin, self.admin.list_consumer_group_offsets(group, partitions=asked))
            if len(found) < len(asked):
                # aiokafka (0.14) does not look at the response's own error, with which no partition is answered:
                # taken for "nothing committed", it would be a reason to begin anew.
                raise GroupLoadInProgressError(f"the coordinator of {group} does not tell its offsets yet")
            return {of.partition: at for of, at in found.items() if at.offset >= 0}

        return await retried(offsets, self.connection.call_timeout)

    async def partitions(self, topic: str) -> int:
        """How many partitions a topic has."""
        (description,) = await retried(
            lambda: _answered(self.admin, self.admin.describe_topics([topic])), self.connection.call_timeout
        )
        if description["error_code"] == UnknownTopicOrPartitionError.errno:
            raise self._missing(topic)
        return len(description["partitions"])

    async def topic_id(self, topic: str) -> str:
        """The id of a topic, as Kafka's tools write it."""
        client = self.admin._client  # noqa: SLF001 - aiokafka has no public way to send a request of one's own

        async def asked() -> str:
            response = await _answered(self.admin, client.send(client.get_random_node(), TopicIdRequest(topic)))
            code, found = topic_id_of(response)
            if code == UnknownTopicOrPartitionError.errno:
                raise self._missing(topic)
            if code:
                raise for_code(code)
            return found

        return await retried(asked, self.connection.call_timeout)

    def _missing(self, topic: str) -> TopicMissingError:
        return TopicMissingError(
            f"there is no topic {topic} at {self.connection.bootstrap_servers}: "
            "make it with `stream-dedup topics create`"
        )

    async def delete_before(self, topic: str, partition: int, offset: int) -> None:
        """Delete what stands below an offset (KIP-107)."""
        below = {TopicPartition(topic, partition): RecordsToDelete(offset)}
        await retried(lambda: _answered(self.admin, self.admin.delete_records(below)), self.connection.call_timeout)


def record_of(consumed: ConsumerRecord) -> Record:
    """What aiokafka's consumer gave, as the stages know it."""
    return Record(
        consumed.topic,
        consumed.partition,
        consumed.offset,
        consumed.timestamp,
        consumed.key,
        consumed.value,
        tuple(consumed.headers),
    )


class KafkaSource:
    """Reads one partition in order, outside any group: a rebalance cannot disturb it."""

    def __init__(self, consumer: AIOKafkaConsumer, of: TopicPartition, offset: int, connection: Connection) -> None:
        """Read from an offset on; the connection's limits are those of a batch's bytes and of a broker's silence."""
        self._consumer = consumer
        self._of = of
        self._position = offset
        self._connection = connection
        self._remainder: deque[Record] = deque()
        self._answer: int | None = None
        self._answered = asyncio.get_running_loop().time()

    @property
    def position(self) -> int:
        """The next offset to read."""
        return self._position

    @property
    def waiting(self) -> int:
        """Offsets between the position and the log's end, as of the last fetch; 0 before one."""
        end = self._consumer.last_stable_offset(self._of)
        return 0 if end is None else max(0, end - self._position)

    async def fetch(self, max_records: int, wait: float) -> Sequence[Record]:
        """The next records: some as soon as there are any, none after `wait` seconds."""
        records: list[Record] = []
        size = 0
        while len(records) < max_records:
            if not self._remainder:
                await self._pull(max_records - len(records), 0 if records else wait)
            if not self._remainder:
                break
            size += size_of(self._remainder[0])
            if records and size > self._connection.batch_bytes:
                break
            records.append(self._remainder.popleft())
        if self._remainder:
            self._position = self._remainder[0].offset
        return records

    async def _pull(self, most: int, wait: float) -> None:
        """Let the client decompress a few records more, if there are any within `wait` seconds."""
        try:
            found = await self._consumer.getmany(
                self._of, max_records=min(most, PULLED_RECORDS), timeout_ms=int(wait * 1000)
            )
            self._position = await self._consumer.position(self._of)
        except OffsetOutOfRangeError as error:
            raise OffsetGoneError(
                f"{self._of.topic}-{self._of.partition} does not hold offset {self._position}"
            ) from error
        except CorruptRecordException as error:
            raise LogRefusedError(
                f"{self._of.topic}-{self._of.partition} is damaged at or after offset {self._position}: {error}"
            ) from error
        except KafkaError as error:
            raise TransactionFailedError(
                f"{self._of.topic}-{self._of.partition} could not be read: {error!r}"
            ) from error
        self._check_answers(found=bool(found))
        self._remainder.extend(map(record_of, found.get(self._of, ())))

    def _check_answers(self, *, found: bool) -> None:
        """A broker that is gone gives no records either: that must not look like having nothing to do.

        It answers a fetch within half a second though there is nothing to read (aiokafka's `fetch_max_wait_ms`).
        """
        now, answer = asyncio.get_running_loop().time(), self._consumer.last_poll_timestamp(self._of)
        if found or answer != self._answer:
            self._answer, self._answered = answer, now
        elif now - self._answered > self._connection.call_timeout:
            raise TransactionFailedError(
                f"{self._of.topic}-{self._of.partition} could not be read: no answer for {now - self._answered:.0f} s"
            )

    async def close(self) -> None:
        """Let go of connections."""
        await close_quietly(self._consumer.stop())
