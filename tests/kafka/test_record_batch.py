"""Our parser of record batches against aiokafka's own."""

import struct
from dataclasses import astuple, dataclass

import pytest
from aiokafka import codec
from aiokafka.errors import CorruptRecordException, UnsupportedCodecError
from aiokafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from aiokafka.record.util import calc_crc32c
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.kafka.record_batch import HEADER, BatchRecord, parse_batch

ATTRIBUTES_AT = 21
"""Where the part of a batch begins that its CRC covers; the CRC stands before it."""
ENCODERS = {1: codec.gzip_encode, 2: codec.snappy_encode, 3: codec.lz4_encode, 4: codec.zstd_encode}


@dataclass(frozen=True, slots=True)
class Sent:
    """What a producer puts into one record."""

    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


nullable = st.none() | st.binary(max_size=300)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
sent = st.builds(Sent, st.integers(0, 2**42), nullable, nullable, st.lists(st.tuples(texts, nullable), max_size=4))


def batch(records: list[Sent], codec_id: int = 0) -> bytes:
    """A batch as aiokafka builds it."""
    builder = DefaultRecordBatchBuilder(2, codec_id, 1, 7, 1, 0, 2**30)
    for offset, record in enumerate(records):
        builder.append(offset, record.timestamp, record.key, record.value, record.headers)
    return bytes(builder.build())


def resealed(data: bytes) -> bytes:
    """The batch with its length and CRC made right."""
    length = struct.pack(">i", len(data) - 12)
    crc = struct.pack(">I", calc_crc32c(data[ATTRIBUTES_AT:]))
    return data[:8] + length + data[12:17] + crc + data[ATTRIBUTES_AT:]


def fields(record: object) -> tuple[object, ...]:
    """All that a record of either parser has."""
    names = ("offset", "timestamp", "timestamp_type", "key", "value", "headers", "checksum")
    found = [getattr(record, name) for name in names]
    return tuple(tuple(item) if isinstance(item, list) else item for item in found)


@given(
    st.lists(sent, min_size=1, max_size=30),
    st.sampled_from([0, *ENCODERS]),
    st.integers(0, 2**62),
    st.sampled_from([0, 0x08]),
)
def test_valid_batches_are_read_as_aiokafka_reads_them(
    records: list[Sent], codec_id: int, base_offset: int, time_kind: int
) -> None:
    """Every codec, null keys and values, headers, any sizes, both kinds of timestamps."""
    data = bytearray(batch(records, codec_id))
    struct.pack_into(">q", data, 0, base_offset)
    data[ATTRIBUTES_AT + 1] |= time_kind
    expected = [fields(record) for record in DefaultRecordBatch(bytes(data))]
    assert [fields(record) for record in parse_batch(bytes(data))] == expected


@given(st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=20), st.sampled_from([0, *ENCODERS]))
def test_header_keys_keep_their_bytes(keys: list[bytes], codec_id: int) -> None:
    """Whatever the bytes of a key are, its str gives them back."""
    data = batch([Sent(1, b"k", b"v", [(f"<{number:06}>", b"x")]) for number in range(len(keys))])
    for number, key in enumerate(keys):
        data = data.replace(f"<{number:06}>".encode(), key)
    if codec_id:
        head = bytearray(data[: HEADER.size])
        head[ATTRIBUTES_AT + 1] |= codec_id
        data = bytes(head) + ENCODERS[codec_id](data[HEADER.size :])
    records = parse_batch(resealed(data))
    assert [record.headers[0][0].encode("utf-8", "surrogateescape") for record in records] == keys
    assert {astuple(record)[3:5] for record in records} == {(b"k", b"v")}


@given(st.lists(sent, min_size=1, max_size=3), st.data())
def test_broken_batches_are_refused_and_nothing_else(records: list[Sent], data: st.DataObject) -> None:
    """Bytes changed at random are read or refused as corrupt; no other error, no endless loop."""
    broken = bytearray(batch(records))
    at = data.draw(st.integers(HEADER.size, len(broken) - 1))
    broken[at] = data.draw(st.integers(0, 255))
    try:
        found = parse_batch(bytes(broken[: data.draw(st.integers(HEADER.size, len(broken)))]))
    except CorruptRecordException:
        return
    assert len(found) == len(records)


def test_a_codec_that_nobody_knows_is_refused() -> None:
    """A fifth codec is named, not taken for data."""
    data = bytearray(batch([Sent(0, None, b"v", [])]))
    data[ATTRIBUTES_AT + 1] |= 5
    with pytest.raises(UnsupportedCodecError, match="codec 5"):
        parse_batch(bytes(data))


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        (b"\x10\x00\x00\x00\x01\x01\x02\x01\x01", "a header without a key"),
        (b"\x10\x00\x00\x00\x01\x01\x00", "a record of 8 bytes ends -2 bytes off"),
        (b"\x80", "no number"),
        (b"\x0c\x00\x00\x00\x01\x01\x00\x00", "after a batch's last record"),
    ],
)
def test_the_reason_is_told(records: bytes, reason: str) -> None:
    """A null header key, a record that does not add up, a number that does not end, bytes too many."""
    head = batch([Sent(0, None, None, [])])[: HEADER.size]
    with pytest.raises(CorruptRecordException, match=reason):
        parse_batch(head + records)


def test_a_record_without_anything() -> None:
    """The smallest record there is."""
    assert parse_batch(batch([Sent(5, None, None, [])])) == [BatchRecord(0, 5, 0, None, None, ())]
