"""The changelog record: one delta, and where each kind of article went.

MessagePack after a version byte; arrays are their little-endian bytes, so that a restore reads them without copying
value by value.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.delta import Delta, Entries
from stream_dedup.core.rules import Rules
from stream_dedup.core.sketch import FACT_BYTES, SIGNATURE_BYTES
from stream_dedup.core.verdict import Kind
from stream_dedup.errors import LogRefusedError, SettingsError
from stream_dedup.kafka.ways_out import WITHOUT_THE_INDEX

VERSION = 4
"""Format of the record's value."""
LARGEST_ENTRY_BYTES = 704
"""One kept article at most: 22 values of eight bytes (the bands of `minhash`), signature, facts, digest and numbers are
352 bytes, an id (or the position for one) under 280."""
MOST_RAW_PARTITIONS = 10_000
"""As many as the settings make."""
SMALL_STATE_BYTES = 4096 + 12 * MOST_RAW_PARTITIONS
"""All else in a record at most: numbers, the rules, the names of a few schemes and of eight topics (249 bytes each),
and the number and the offset of each raw partition (3 and 9 bytes of MessagePack at most)."""


def largest_record(articles: int) -> int:
    """Bytes of the changelog record of so many articles at most, all of them kept."""
    return articles * LARGEST_ENTRY_BYTES + SMALL_STATE_BYTES


@dataclass(frozen=True, slots=True)
class RawProgress:
    """How far the articles of the raw topic have come."""

    topic_id: str
    """Of the raw topic that was read last."""
    offsets: Mapping[int, int]
    """The offset after the last article, by raw partition; none where none has come."""


@dataclass(frozen=True, slots=True, eq=False)
class ChangelogRecord:
    """What one transaction changed, the settings that it was decided under, and how far its input has been read."""

    delta: Delta
    routes: Mapping[Kind, str]
    """The topic of each kind."""
    input_id: str
    """Id of the topic that the delta's positions are of."""
    raw: RawProgress
    """How far articles are decided."""


class _Entries(msgspec.Struct, frozen=True, array_like=True):
    scheme: str
    fingerprints_each: int
    fingerprints: bytes
    signatures: bytes
    digests: bytes
    facts: bytes
    times: bytes
    sequences: bytes
    positions: bytes
    id_bytes: bytes
    id_ends: bytes


class _Record(msgspec.Struct, frozen=True, array_like=True):
    start: int
    end: int
    sequence: int
    clock: tuple[int, ...]
    entries: tuple[_Entries, ...]
    evicted_below: int
    rules: Rules
    routes: dict[Kind, str]
    input_id: str
    raw_topic_id: str
    raw_offsets: dict[int, int]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Record)


def encode_record(record: ChangelogRecord) -> bytes:
    """The value of the changelog record."""
    delta = record.delta
    encoded = _Record(
        start=delta.start,
        end=delta.end,
        sequence=delta.sequence,
        clock=delta.clock,
        entries=tuple(_encode_entries(entries) for entries in delta.entries),
        evicted_below=delta.evicted_below,
        rules=delta.rules,
        routes=dict(record.routes),
        input_id=record.input_id,
        raw_topic_id=record.raw.topic_id,
        raw_offsets=dict(record.raw.offsets),
    )
    return bytes((VERSION,)) + _encoder.encode(encoded)


def decode_record(value: bytes | None, where: str) -> ChangelogRecord:
    """What a changelog record holds; `where` names the record in messages.

    Raises:
        LogRefusedError: the record is torn, foreign, or of another version of this project.
    """
    if not value or value[0] != VERSION:
        found = f"format {value[0]}" if value else "no value"
        raise LogRefusedError(
            f"{where} has {found}, this version reads format {VERSION}: run the version that wrote it; "
            f"if anything else wrote to this topic, the index cannot be restored from it: {WITHOUT_THE_INDEX}"
        )
    try:
        record = _decoder.decode(memoryview(value)[1:])
        entries = tuple(_decode_entries(entries) for entries in record.entries)
    except (msgspec.DecodeError, ValueError, SettingsError) as error:
        raise LogRefusedError(
            f"{where} is damaged ({error}): the index cannot be restored from it. To go on without: {WITHOUT_THE_INDEX}"
        ) from error
    delta = Delta(
        start=record.start,
        end=record.end,
        sequence=record.sequence,
        clock=record.clock,
        entries=entries,
        evicted_below=record.evicted_below,
        rules=record.rules,
    )
    return ChangelogRecord(delta, record.routes, record.input_id, RawProgress(record.raw_topic_id, record.raw_offsets))


def _encode_entries(entries: Entries) -> _Entries:
    return _Entries(
        scheme=entries.scheme,
        fingerprints_each=entries.fingerprints.shape[1],
        fingerprints=entries.fingerprints.astype("<u8").tobytes(),
        signatures=entries.signatures.tobytes(),
        digests=entries.digests.astype("<u8").tobytes(),
        facts=entries.facts.tobytes(),
        times=entries.times.astype("<i8").tobytes(),
        sequences=entries.sequences.astype("<i8").tobytes(),
        positions=entries.positions.astype("<u8").tobytes(),
        id_bytes=entries.id_bytes.tobytes(),
        id_ends=entries.id_ends.astype("<i8").tobytes(),
    )


def _decode_entries(entries: _Entries) -> Entries:
    count = len(entries.times) // 8
    decoded = Entries(
        scheme=entries.scheme,
        fingerprints=_unsigned(entries.fingerprints).reshape(count, entries.fingerprints_each),
        signatures=np.frombuffer(entries.signatures, np.uint8).reshape(count, SIGNATURE_BYTES),
        digests=_unsigned(entries.digests).reshape(count, 2),
        facts=np.frombuffer(entries.facts, np.uint8).reshape(count, FACT_BYTES),
        times=_signed(entries.times),
        sequences=_signed(entries.sequences).reshape(count),
        positions=_unsigned(entries.positions).reshape(count),
        id_bytes=np.frombuffer(entries.id_bytes, np.uint8),
        id_ends=_signed(entries.id_ends).reshape(count),
    )
    if count and not int(decoded.id_ends[-1]) == len(entries.id_bytes):
        raise ValueError(f"ids of {len(entries.id_bytes)} bytes, not {int(decoded.id_ends[-1])}")
    return decoded


def _unsigned(raw: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(raw, "<u8").astype(np.uint64, copy=False)


def _signed(raw: bytes) -> NDArray[np.int64]:
    return np.frombuffer(raw, "<i8").astype(np.int64, copy=False)
