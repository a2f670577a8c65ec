"""Consumers read records whose header keys are not UTF-8."""

import asyncio
import struct
from collections.abc import Sequence
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.consumer.fetcher import Fetcher
from aiokafka.record import memory_records
from aiokafka.record.default_records import DefaultRecordBatchBuilder, _DefaultRecordBatchPy
from aiokafka.record.util import calc_crc32c
from aiokafka.structs import TopicPartition

from stream_dedup.kafka import tolerant
from stream_dedup.kafka.tolerant import TolerantConsumer, TolerantRecords

PATIENCE = 60
"""Seconds after which a test gives up waiting."""
BAD = b"\xff\xfe\xc3("
"""A header key that is not UTF-8."""
PLACEHOLDER = "@@@@"
"""As long as it, and what aiokafka's producer can write."""


def spoilt(data: bytearray) -> bytearray:
    """A batch with the bad key for the placeholder, and the CRC made right."""
    changed = data.replace(PLACEHOLDER.encode(), BAD)
    changed[17:21] = struct.pack(">I", calc_crc32c(bytes(changed[21:])))
    return changed


async def send(producer: AIOKafkaProducer, topic: str, keys: Sequence[str]) -> None:
    """One batch: a record for each header key, whose value is the key."""
    batch = producer.create_batch()
    for key in keys:
        assert batch.append(key=None, value=key.encode(), timestamp=1, headers=[(key, b"x")]) is not None
    build = batch._build  # noqa: SLF001 (the client has no way to write what must be read here)
    batch._build = lambda: spoilt(build())  # noqa: SLF001
    await (await producer.send_batch(batch, topic, partition=0))


@pytest.fixture
async def topic(broker: str) -> str:
    """A topic of its own."""
    name = f"tolerant-{uuid4().hex}"
    admin = AIOKafkaAdminClient(bootstrap_servers=broker)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(name, 1, 1)])
    finally:
        await admin.close()
    return name


async def header_keys(consumer: AIOKafkaConsumer, topic: str, count: int, max_records: int | None) -> list[bytes]:
    """The header keys of a topic's first records, as bytes, read so many at once."""
    consumer.assign([TopicPartition(topic, 0)])
    await consumer.seek_to_beginning()
    found: list[bytes] = []
    async with asyncio.timeout(PATIENCE):
        while len(found) < count:
            for records in (await consumer.getmany(timeout_ms=100, max_records=max_records)).values():
                found += [record.headers[0][0].encode("utf-8", "surrogateescape") for record in records]
    return found


@pytest.mark.parametrize("max_records", [None, 1])
async def test_good_bad_good_all_come_in_order(broker: str, topic: str, max_records: int | None) -> None:
    """A bad header key neither stops the consumer nor loses what stands around it, in its batch and in others."""
    async with AIOKafkaProducer(bootstrap_servers=broker) as producer:
        await send(producer, topic, ["one", PLACEHOLDER, "three"])
        await send(producer, topic, ["four"])
        await send(producer, topic, [PLACEHOLDER])
    async with TolerantConsumer(bootstrap_servers=broker) as consumer:
        assert await header_keys(consumer, topic, 5, max_records) == [b"one", BAD, b"three", b"four", BAD]
        assert await consumer.position(TopicPartition(topic, 0)) == 5


async def test_the_record_is_bad_enough_for_aiokafkas_own_consumer(broker: str, topic: str) -> None:
    """The trouble is real: aiokafka's consumer raises, so this module can go when it no longer does."""
    async with AIOKafkaProducer(bootstrap_servers=broker) as producer:
        await send(producer, topic, ["one", PLACEHOLDER])
    async with AIOKafkaConsumer(bootstrap_servers=broker) as consumer:
        with pytest.raises(UnicodeDecodeError):
            await header_keys(consumer, topic, 2, None)


async def test_aborted_transactions_stay_unread(broker: str, topic: str) -> None:
    """With read_committed, records of aborted transactions do not come, bad header keys or not."""
    producer = AIOKafkaProducer(bootstrap_servers=broker, transactional_id=topic)
    async with producer:
        for keys, commit in ((["aborted", PLACEHOLDER], False), (["kept", PLACEHOLDER], True), ([PLACEHOLDER], False)):
            await producer.begin_transaction()
            await send(producer, topic, keys)
            await (producer.commit_transaction() if commit else producer.abort_transaction())
        await producer.begin_transaction()
        await send(producer, topic, ["last"])
        await producer.commit_transaction()
    async with TolerantConsumer(bootstrap_servers=broker, isolation_level="read_committed") as consumer:
        assert await header_keys(consumer, topic, 3, None) == [b"kept", BAD, b"last"]


def build(keys: Sequence[str]) -> bytes:
    """A batch's bytes, with bad keys for placeholders."""
    builder = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 2**20)
    for offset, key in enumerate(keys):
        builder.append(offset, 1, None, b"v", [(key, b"x")])
    return bytes(spoilt(builder.build()))


def drained(records: TolerantRecords) -> list[list[str]]:
    """Header keys by batch."""
    found = []
    while records.has_next():
        batch = records.next_batch()
        assert isinstance(batch, tolerant.TolerantBatch)
        assert batch.validate_crc()  # type: ignore[operator]  # aiokafka's own method
        found.append([record.headers[0][0] for record in batch])  # type: ignore[attr-defined]  # either parser's
    return found


def test_batches_are_told_apart_and_a_cut_one_is_left() -> None:
    """Every batch is parsed from its own bytes; what is cut at the end of a response waits for the next."""
    data = build(["a", PLACEHOLDER]) + build(["b"]) + build([PLACEHOLDER])
    bad = BAD.decode("utf-8", "surrogateescape")
    for cut in (b"", build(["c"])[:-1]):
        records = TolerantRecords(data + cut)
        assert records.size_in_bytes() == len(data + cut)
        assert drained(records) == [["a", bad], ["b"], [bad]]
        assert records.next_batch() is None


def test_aiokafka_without_its_c_extension_is_tolerated_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pure Python parser wraps the error in another one."""
    monkeypatch.setattr(tolerant, "MemoryRecords", memory_records._MemoryRecordsPy)  # noqa: SLF001 (chosen at import)
    monkeypatch.setattr(memory_records, "DefaultRecordBatch", _DefaultRecordBatchPy)
    monkeypatch.setattr(tolerant, "DefaultRecordBatch", _DefaultRecordBatchPy)
    assert drained(TolerantRecords(build(["a", PLACEHOLDER]))) == [["a", BAD.decode("utf-8", "surrogateescape")]]


def test_no_other_consumer_is_changed() -> None:
    """The classes of aiokafka stand as they were: only ours use our classes."""
    assert Fetcher._proc_fetch_request.__globals__["MemoryRecords"] is memory_records.MemoryRecords  # noqa: SLF001
    assert AIOKafkaConsumer.start.__globals__["Fetcher"] is Fetcher
    assert TolerantConsumer.start.__globals__["Fetcher"] is tolerant.TolerantFetcher


def test_another_aiokafka_is_noticed() -> None:
    """A method that does not use the name any more cannot be hooked in silence."""

    async def method() -> None:
        """Uses nothing."""

    with pytest.raises(ImportError, match="does not use MemoryRecords"):
        tolerant._bound(method, "MemoryRecords", TolerantRecords)  # noqa: SLF001 (run at import)
