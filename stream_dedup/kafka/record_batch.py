"""Parser of record batches, format 2 (KIP-98), whose header keys may be any bytes.

    batch  = header of 61 bytes, records (compressed as a whole)
    record = length, attributes (1 byte), timestamp delta, offset delta, key, value, number of headers, headers
    header = key, value

Lengths, deltas and numbers are zigzag varints; key and value are a length and so many bytes, -1 for null.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from aiokafka.codec import gzip_decode, lz4_decode, snappy_decode, zstd_decode
from aiokafka.errors import CorruptRecordException, UnsupportedCodecError

from stream_dedup.kafka.transport import Headers

HEADER = struct.Struct(">q i i b I h i q q q h i i")
"""Base offset, length, leader epoch, magic, CRC, attributes, last offset delta, base timestamp, maximal timestamp,
producer id, producer epoch, base sequence, number of records."""
CODEC_MASK = 0x07
LOG_APPEND_TIME_MASK = 0x08
MAX_VARINT_BYTES = 10
"""Seven bits a byte, 64 bits at most."""
CODECS: dict[int, Callable[[bytes], bytes]] = {
    0: bytes,
    1: gzip_decode,
    2: snappy_decode,
    3: lz4_decode,
    4: zstd_decode,
}


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """One record, with the attributes of aiokafka's own."""

    offset: int
    timestamp: int
    timestamp_type: int
    """0: the producer's time, 1: the broker's."""
    key: bytes | None
    value: bytes | None
    headers: Headers
    """A key that is not UTF-8 carries its bytes as surrogate escapes (PEP 383)."""
    checksum: None = None
    """The format has none for single records."""


def parse_batch(data: bytes) -> list[BatchRecord]:
    """All records of one batch, whose CRC was checked before.

    Raises:
        CorruptRecordException: the bytes are no batch.
        UnsupportedCodecError: the batch is compressed in an unknown way.
    """
    base_offset, *_, attributes, _, base_time, max_time, _, _, _, count = HEADER.unpack_from(data)
    appended = bool(attributes & LOG_APPEND_TIME_MASK)
    decode = CODECS.get(attributes & CODEC_MASK)
    if decode is None:
        raise UnsupportedCodecError(f"unknown compression codec {attributes & CODEC_MASK}")
    reader = _Reader(decode(data[HEADER.size :]))
    records = []
    for _ in range(count):
        time_delta, offset_delta, key, value, headers = reader.record()
        timestamp = max_time if appended else base_time + time_delta
        records.append(BatchRecord(base_offset + offset_delta, timestamp, int(appended), key, value, headers))
    reader.expect_end()
    return records


class _Reader:
    """Reads from a position that goes forward."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def record(self) -> tuple[int, int, bytes | None, bytes | None, Headers]:
        """Time delta, offset delta, key, value, headers."""
        length = self._varint()
        end = self._position + length
        self._position += 1  # attributes: no bit of them is in use
        time_delta, offset_delta, key, value = self._varint(), self._varint(), self._bytes(), self._bytes()
        headers = tuple((self._header_key(), self._bytes()) for _ in range(self._varint()))
        if self._position != end:
            raise CorruptRecordException(f"a record of {length} bytes ends {self._position - end} bytes off")
        return time_delta, offset_delta, key, value, headers

    def expect_end(self) -> None:
        """Nothing may be left."""
        if self._position != len(self._data):
            raise CorruptRecordException(f"{len(self._data) - self._position} bytes after a batch's last record")

    def _header_key(self) -> str:
        key = self._bytes()
        if key is None:
            raise CorruptRecordException("a header without a key")
        return key.decode("utf-8", "surrogateescape")

    def _bytes(self) -> bytes | None:
        length = self._varint()
        if length < 0:
            return None
        start, self._position = self._position, self._position + length
        return self._data[start : self._position]

    def _varint(self) -> int:
        # Own code since aiokafka's own in C does not stop at the end of the buffer.
        zigzag = shift = 0
        for byte in self._data[self._position : self._position + MAX_VARINT_BYTES]:
            self._position += 1
            zigzag |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return (zigzag >> 1) ^ -(zigzag & 1)
        raise CorruptRecordException(f"no number ends at byte {self._position} of a batch's records")
