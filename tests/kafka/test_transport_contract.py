"""The contract of the transport, held against the in-memory one and real Kafka alike."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest
import pytest_asyncio
from aiokafka import AIOKafkaProducer
from aiokafka.admin import NewTopic

from stream_dedup.errors import FencedError, LogRefusedError, RecordTooLargeError, TopicMissingError
from stream_dedup.kafka.client import connect
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.memory import MemoryBroker
from stream_dedup.kafka.transport import Bounds, Broker, Input, Message, Record, Source

pytestmark = pytest.mark.asyncio(loop_scope="session")

MAX_MESSAGE_BYTES = 2_000_000
BATCH_BYTES = 1_500_000
DEADLINE_FETCHES = 200


@dataclass(frozen=True, slots=True)
class Bench:
    """A broker under test, with a topic for input and one for output, two partitions each."""

    broker: Broker
    input: Input
    output: str

    def message(self, value: bytes, partition: int = 0) -> Message:
        """A message for the output topic."""
        return Message(self.output, partition, 1_000, None, value)


@pytest_asyncio.fixture(params=["memory", "kafka"], loop_scope="session")
async def bench(request: pytest.FixtureRequest, broker: str) -> AsyncIterator[Bench]:
    """One of the two transports with topics of its own."""
    name = uuid.uuid4().hex[:8]
    of = Input(f"group-{name}", f"in-{name}", 1)
    output = f"out-{name}"
    if request.param == "memory":
        memory = MemoryBroker(BATCH_BYTES)
        for topic in (of.topic, output):
            memory.create_topic(topic, 2, MAX_MESSAGE_BYTES)
        yield Bench(memory, of, output)
        return
    async with connect(Connection(broker, batch_bytes=BATCH_BYTES)) as kafka:
        configs = {"max.message.bytes": str(MAX_MESSAGE_BYTES), "message.timestamp.after.max.ms": str(2**63 - 1)}
        await kafka.admin.create_topics([NewTopic(topic, 2, 1, topic_configs=configs) for topic in (of.topic, output)])
        yield Bench(kafka, of, output)


async def _read(source: Source, end: int) -> list[Record]:
    """Everything up to the offset `end`."""
    records: list[Record] = []
    for _ in range(DEADLINE_FETCHES):
        if source.position >= end:
            break
        records += await source.fetch(1000, 0.2)
    assert source.position == end
    return records


async def _settled(bench: Bench) -> None:
    """Wait for the last transaction's markers: a commit is answered before they stand everywhere, a new owner waits."""
    owner = bench.broker.transactions(bench.input)
    await owner.start()
    await owner.close()


async def _all(bench: Bench, partition: int = 0) -> list[Record]:
    await _settled(bench)
    bounds = await bench.broker.bounds(bench.output, partition)
    source = await bench.broker.source(bench.output, partition, bounds.start)
    try:
        return await _read(source, bounds.end)
    finally:
        await source.close()


async def test_committed_messages_are_read_as_they_were_written(bench: Bench) -> None:
    """Key, value, headers and timestamp come back byte for byte, in order, nulls and empty ones included."""
    headers = (("a", b"\xff"), ("a", None), ("über", b""))
    messages = [
        Message(bench.output, 0, 0, None, None, headers),
        Message(bench.output, 0, 4_070_908_800_000, b"", b"", ()),
        Message(bench.output, 0, 7, b"\x00key", b"value", headers),
    ]
    transactions = bench.broker.transactions(bench.input)
    await transactions.start()
    await transactions.commit(messages, 1)
    await transactions.close()
    read = await _all(bench)
    assert [Message(r.topic, r.partition, r.timestamp, r.key, r.value, r.headers) for r in read] == messages
    assert [record.offset for record in read] == [0, 1, 2]


async def test_offsets_move_with_the_messages(bench: Bench) -> None:
    """The input's offset is the one of the last commit, for its own partition and group only."""
    transactions = bench.broker.transactions(bench.input)
    await transactions.start()
    assert await bench.broker.committed(bench.input.group, bench.input.topic) == {}
    await transactions.commit([bench.message(b"1")], 5)
    await transactions.commit([bench.message(b"2")], 9)
    await transactions.close()
    await _settled(bench)
    assert await bench.broker.committed(bench.input.group, bench.input.topic) == {bench.input.partition: 9}
    assert await bench.broker.committed("another", bench.input.topic) == {}


async def test_a_mark_is_kept_with_the_offset(bench: Bench) -> None:
    """Until the next commit, and also where there is nothing else to write."""
    of = bench.input
    for offset, mark in ((5, "raw-id fingerprinted-id"), (6, "")):
        transactions = bench.broker.transactions(of)
        await transactions.start()
        await transactions.commit([], offset, mark)
        await transactions.close()
        await _settled(bench)
        assert await bench.broker.committed(of.group, of.topic) == {of.partition: offset}
        assert await bench.broker.marks(of.group, of.topic) == {of.partition: mark}


async def test_topics_have_ids_of_their_own(bench: Bench) -> None:
    """Each its own, the same each time it is asked for; a topic that is not there has none."""
    ids = [await bench.broker.topic_id(topic) for topic in (bench.input.topic, bench.output, bench.output)]
    assert ids[0] != ids[1] == ids[2]
    with pytest.raises(TopicMissingError):
        await bench.broker.topic_id("no-such-topic")


async def test_large_commits_keep_their_order_in_each_partition(bench: Bench) -> None:
    """A commit of several megabytes over two partitions is whole, and each partition in the order given."""
    values = [b"%06d" % number + b"x" * 40_000 for number in range(120)]
    transactions = bench.broker.transactions(bench.input)
    await transactions.start()
    await transactions.commit([bench.message(value, number % 2) for number, value in enumerate(values)], 1)
    await transactions.close()
    for partition in (0, 1):
        assert [record.value for record in await _all(bench, partition)] == values[partition::2]


async def test_a_commit_tells_where_its_messages_stand(bench: Bench) -> None:
    """For each partition the offset after the last message, whatever markers and however many record batches."""
    transactions = bench.broker.transactions(bench.input)
    await transactions.start()
    first = await transactions.commit([bench.message(b"a"), bench.message(b"b", 1), bench.message(b"c")], 1)
    second = await transactions.commit([bench.message(b"x" * 300_000) for _ in range(5)], 2)
    await transactions.close()
    assert first == {(bench.output, 0): 2, (bench.output, 1): 1}
    assert second == {(bench.output, 0): (await _all(bench))[-1].offset + 1}


async def test_a_refused_message_takes_the_whole_commit_with_it(bench: Bench) -> None:
    """When one message is too large nothing of it is visible but the offsets that it took; then all goes on."""
    transactions = bench.broker.transactions(bench.input)
    await transactions.start()
    with pytest.raises(RecordTooLargeError):
        await transactions.commit(
            [bench.message(b"before"), bench.message(b"x" * (MAX_MESSAGE_BYTES + 1)), bench.message(b"other", 1)], 3
        )
    await transactions.close()
    await _settled(bench)
    assert await bench.broker.committed(bench.input.group, bench.input.topic) == {}
    assert (await bench.broker.bounds(bench.output, 1)).end > 0
    again = bench.broker.transactions(bench.input)
    await again.start()
    await again.commit([bench.message(b"after")], 3)
    await again.close()
    assert [record.value for record in await _all(bench, 0)] == [b"after"]
    assert await _all(bench, 1) == []


async def test_nothing_is_visible_of_a_transaction_that_is_open(broker: str) -> None:
    """The log ends before it: whoever reads up to the end neither waits for it nor takes any of it."""
    topic = f"open-{uuid.uuid4().hex[:8]}"
    async with (
        connect(Connection(broker)) as kafka,
        AIOKafkaProducer(bootstrap_servers=broker, transactional_id=topic) as producer,
    ):
        await kafka.admin.create_topics([NewTopic(topic, 1, 1)])
        await producer.begin_transaction()
        await producer.send_and_wait(topic, b"open", partition=0)
        assert await kafka.bounds(topic, 0) == Bounds(0, 0)
        source = await kafka.source(topic, 0, 0)
        assert await source.fetch(1, 0.5) == []
        await source.close()
        await producer.abort_transaction()


async def test_a_new_owner_fences_the_one_before(bench: Bench) -> None:
    """Once another has taken the id, the owner before can write nothing and move no offset."""
    first, second = bench.broker.transactions(bench.input), bench.broker.transactions(bench.input)
    await first.start()
    await first.commit([bench.message(b"first")], 1)
    await second.start()
    with pytest.raises(FencedError):
        await first.commit([bench.message(b"zombie")], 2)
    await second.commit([bench.message(b"second")], 3)
    await first.close()
    await second.close()
    assert [record.value for record in await _all(bench)] == [b"first", b"second"]
    assert (await bench.broker.committed(bench.input.group, bench.input.topic))[bench.input.partition] == 3


async def test_a_reader_passes_commit_markers(bench: Bench) -> None:
    """Markers take offsets: the position reaches the log's end, and nothing is waiting there."""
    transactions = bench.broker.transactions(bench.input)
    await transactions.start()
    for number in range(3):
        await transactions.commit([bench.message(b"%d" % number)], number + 1)
    await transactions.close()
    await _settled(bench)
    bounds = await bench.broker.bounds(bench.output, 0)
    assert bounds == Bounds(0, 6)
    source = await bench.broker.source(bench.output, 0, 2)
    assert [record.value for record in await _read(source, 6)] == [b"1", b"2"]
    assert source.waiting == 0
    assert await source.fetch(10, 0.05) == []
    await source.close()


async def test_a_reader_takes_no_more_than_asked(bench: Bench) -> None:
    """`max_records` bounds a fetch, and the next fetch goes on behind it."""
    transactions = bench.broker.transactions(bench.input)
    await transactions.start()
    await transactions.commit([bench.message(b"%d" % number) for number in range(5)], 1)
    await transactions.close()
    await _settled(bench)
    source = await bench.broker.source(bench.output, 0, 0)
    sizes = []
    for _ in range(DEADLINE_FETCHES):
        if source.position >= 6:
            break
        if found := await source.fetch(2, 0.2):
            sizes.append(len(found))
    await source.close()
    assert sizes == [2, 2, 1]


async def test_a_reader_takes_no_more_bytes_than_allowed(bench: Bench) -> None:
    """A fetch is bounded in bytes, one record may be larger, and the position is that of the first left behind."""
    values = [b"%d" % number + bytes(size) for number, size in enumerate([400_000] * 5 + [1_900_000] + [400_000] * 2)]
    transactions = bench.broker.transactions(bench.input)
    await transactions.start()
    await transactions.commit([bench.message(value) for value in values], 1)
    await transactions.close()
    await _settled(bench)
    source = await bench.broker.source(bench.output, 0, 0)
    read: list[bytes | None] = []
    for _ in range(DEADLINE_FETCHES):
        if source.position > len(values):
            break
        found = await source.fetch(1000, 0.2)
        read += [record.value for record in found]
        assert len(found) <= 1 or sum(len(record.value or b"") for record in found) <= BATCH_BYTES
        assert source.position in (len(read), len(values) + 1)
    await source.close()
    assert read == values


Misplaced = Callable[[Bench], Awaitable[int]]


async def _below(bench: Bench) -> int:
    await bench.broker.delete_before(bench.output, 0, 3)
    return 1


async def _beyond(bench: Bench) -> int:
    return (await bench.broker.bounds(bench.output, 0)).end + 5


@pytest.mark.parametrize("misplaced", [_below, _beyond])
async def test_a_position_that_the_log_does_not_hold_is_refused(bench: Bench, misplaced: Misplaced) -> None:
    """Reading below the log's start or beyond its end is an error, never a silent jump."""
    transactions = bench.broker.transactions(bench.input)
    await transactions.start()
    await transactions.commit([bench.message(b"%d" % number) for number in range(5)], 1)
    await transactions.close()
    await _settled(bench)
    source = await bench.broker.source(bench.output, 0, await misplaced(bench))
    with pytest.raises(LogRefusedError, match=bench.output):
        await _read(source, end=1_000)
    await source.close()


async def test_deleting_moves_the_start(bench: Bench) -> None:
    """What stands below the offset is gone, what stands above is not."""
    transactions = bench.broker.transactions(bench.input)
    await transactions.start()
    await transactions.commit([bench.message(b"%d" % number) for number in range(5)], 1)
    await transactions.close()
    await _settled(bench)
    await bench.broker.delete_before(bench.output, 0, 3)
    assert await bench.broker.bounds(bench.output, 0) == Bounds(3, 6)
    assert [record.value for record in await _all(bench)] == [b"3", b"4"]


async def test_a_place_is_found_by_its_time(bench: Bench) -> None:
    """The first record with the timestamp or a later one (commit markers have that of now); else the end."""
    transactions = bench.broker.transactions(bench.input)
    await transactions.start()
    await transactions.commit([Message(bench.output, 0, stamp, None, b"", ()) for stamp in (10, 20, 30)], 1)
    await transactions.close()
    await _settled(bench)
    end = (await bench.broker.bounds(bench.output, 0)).end
    found = [await bench.broker.offset_at(bench.output, 0, time) for time in (0, 10, 11, 30, 4_070_908_800_000)]
    assert found == [0, 0, 1, 2, end]


async def test_topics_know_their_partitions(bench: Bench) -> None:
    """The number of partitions of a topic; a missing one is an error with its name."""
    assert await bench.broker.partitions(bench.output) == 2
    with pytest.raises(TopicMissingError, match="no-such-topic"):
        await bench.broker.partitions("no-such-topic")
