"""The real transport: where no Kafka answers, where aiokafka's answers need a second look, and what it reads."""

import asyncio
import socket
import uuid
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from unittest.mock import patch

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaTimeoutError
from aiokafka.structs import OffsetAndMetadata

from stream_dedup.errors import BrokerUnreachableError, TransactionFailedError
from stream_dedup.kafka import client
from stream_dedup.kafka.client import KafkaBroker, KafkaSource, connect
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.topics import wait_until_known
from stream_dedup.kafka.transport import Bounds


class _Connecting(AIOKafkaConsumer):  # type: ignore[misc]  # aiokafka has no types
    """A consumer that never gets through, and remembers whether it was stopped."""

    begun = asyncio.Event()
    stopped = False

    async def start(self) -> None:
        """Wait for ever."""
        self.begun.set()
        await asyncio.Event().wait()

    async def stop(self) -> None:
        """Remember."""
        type(self).stopped = True
        await super().stop()


async def test_a_reader_that_is_cut_off_while_it_connects_is_closed() -> None:
    """A worker that stops in the middle of a restore leaves no connection behind."""
    connection = Connection("127.0.0.1:1")
    admin, probe = AIOKafkaAdminClient(), AIOKafkaConsumer()
    broker = KafkaBroker(connection, admin, probe)
    with patch.object(client, "TolerantConsumer", _Connecting):
        opening = asyncio.create_task(broker.source("index", 0, 0))
        await _Connecting.begun.wait()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
    assert _Connecting.stopped
    await probe.stop()
    await admin.close()


@pytest.mark.parametrize(
    ("listening", "told"),
    [
        pytest.param(False, "no broker can be reached at", id="refused"),
        pytest.param(True, "no broker answers within 0.5 s at", id="silent"),
    ],
)
async def test_the_error_says_what_was_tried(told: str, *, listening: bool) -> None:
    """A time is only named where it was waited for."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        if not listening:
            server.close()
        with pytest.raises(BrokerUnreachableError, match=f"^{told} {address}: start one"):
            async with connect(Connection(address, call_timeout=0.5)):
                pass


class LoadingCoordinator:
    """An admin client whose group coordinator is loading its offsets when it is first asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def describe_topics(self, topics: Sequence[str]) -> list[dict[str, object]]:
        """Topics of two partitions."""
        return [{"error_code": 0, "topic": topic, "partitions": [{}, {}]} for topic in topics]

    async def list_consumer_group_offsets(
        self, _group: str, partitions: Sequence[TopicPartition] | None = None
    ) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """Nothing at first, as aiokafka gives for a response that is an error; then -1 where nothing is committed."""
        self.asked += 1
        if self.asked == 1:
            return {}
        return {of: OffsetAndMetadata(7 if of.partition == 0 else -1, "") for of in partitions or ()}


async def test_a_coordinator_that_is_loading_has_not_lost_the_offsets() -> None:
    """After a broker's restart its offsets are unknown for a moment: it is asked again, and nothing begins anew."""
    admin = LoadingCoordinator()
    broker = KafkaBroker(Connection("localhost:1"), admin, None)
    assert await broker.committed("group", "topic") == {0: 7}
    assert admin.asked == 2


class SilentConsumer(AIOKafkaConsumer):  # type: ignore[misc]  # aiokafka has no types
    """A consumer whose broker answers nothing to the first question for offsets."""

    asked = 0

    async def beginning_offsets(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        """No answer, then what there is."""
        self.asked += 1
        if self.asked == 1:
            raise KafkaTimeoutError
        return dict(await super().beginning_offsets(partitions))

    def tell_of_metadata(self, renewed: Callable[[object], None]) -> None:
        """Call this whenever the leaders of partitions have been fetched."""
        self._client.cluster.add_listener(renewed)


@pytest.mark.asyncio(loop_scope="session")
async def test_after_silence_leaders_are_looked_up_anew(broker: str) -> None:
    """Silence may mean that the leader hangs: another may have taken its place, which only new metadata tells."""
    topic, renewed = f"silent-{uuid.uuid4().hex[:8]}", asyncio.Event()
    async with (
        connect(Connection(broker)) as other,
        SilentConsumer(bootstrap_servers=broker) as probe,
        asyncio.timeout(60),
    ):
        await other.admin.create_topics([NewTopic(topic, 1, 1)])
        await wait_until_known(other, topic)
        assert await probe.end_offsets([TopicPartition(topic, 0)])
        probe.tell_of_metadata(lambda _cluster: renewed.set())
        assert await KafkaBroker(Connection(broker), other.admin, probe).bounds(topic, 0) == Bounds(0, 0)
        assert probe.asked == 2
        await renewed.wait()


class EmptyConsumer:
    """A consumer that finds nothing; its broker answers at these times."""

    def __init__(self, *, answers: bool) -> None:
        self._times = count() if answers else None

    async def getmany(
        self, *_of: TopicPartition, timeout_ms: int, max_records: int
    ) -> dict[TopicPartition, list[object]]:
        """Nothing."""
        assert max_records
        await asyncio.sleep(timeout_ms / 1000)
        return {}

    async def position(self, _of: TopicPartition) -> int:
        """Where it has always been."""
        return 0

    def last_poll_timestamp(self, _of: TopicPartition) -> int | None:
        """When the broker last answered."""
        return None if self._times is None else next(self._times)


async def _fetch_until_it_fails(source: KafkaSource) -> None:
    async with asyncio.timeout(60):
        while True:
            await source.fetch(10, 0.01)


async def test_silence_of_the_broker_is_no_end_of_the_input() -> None:
    """Finding nothing is progress only where the broker says so: else a worker without a broker would look healthy."""
    silent = KafkaSource(
        EmptyConsumer(answers=False), TopicPartition("topic", 0), 0, Connection("localhost:1", call_timeout=0.05)
    )
    with pytest.raises(TransactionFailedError, match="no answer"):
        await _fetch_until_it_fails(silent)
    idle = KafkaSource(
        EmptyConsumer(answers=True), TopicPartition("topic", 0), 0, Connection("localhost:1", call_timeout=0.05)
    )
    for _ in range(20):
        assert await idle.fetch(10, 0.01) == []


@pytest.mark.asyncio(loop_scope="session")
async def test_what_compresses_well_is_handed_out_in_bounded_batches(broker: str) -> None:
    """Ten megabytes that came as some kilobytes are handed out a few at a time, each once and in order."""
    topic, batch_bytes = f"compressed-{uuid.uuid4().hex[:8]}", 3_000_000
    values = [b"%d" % number + bytes(1_000_000) for number in range(10)]
    async with connect(Connection(broker, batch_bytes=batch_bytes)) as kafka:
        await kafka.admin.create_topics([NewTopic(topic, 1, 1)])
        await wait_until_known(kafka, topic)
        producer = AIOKafkaProducer(
            bootstrap_servers=broker, compression_type="gzip", max_batch_size=2**25, max_request_size=2**25
        )
        await producer.start()
        await asyncio.gather(*[await producer.send(topic, value) for value in values])
        await producer.stop()
        source = await kafka.source(topic, 0, 0)
        read: list[bytes | None] = []
        async with asyncio.timeout(60):
            while len(read) < len(values):
                found = await source.fetch(1000, 0.2)
                assert sum(len(record.value or b"") for record in found) <= batch_bytes
                read += [record.value for record in found]
                assert source.position == len(read)
        await source.close()
    assert read == values
