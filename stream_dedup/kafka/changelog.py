"""The changelog record: one encoded delta.

MessagePack after a version byte; arrays are their little-endian bytes, so that a restore reads them without copying
value by value.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from stream_dedup.core.delta import Delta, Entries
from stream_dedup.core.sketch import FACT_BYTES, SIGNATURE_BYTES
from stream_dedup.errors import LogRefusedError

VERSION = 2
"""Format of the record's value."""
LARGEST_ENTRY_BYTES = 704
"""One kept article at most: 22 values of eight bytes (the bands of `minhash`), signature, facts, digest and numbers are
352 bytes, an id (or the position for one) under 280."""
SMALL_STATE_BYTES = 1024
"""All else in a record at most: numbers, and the names of a few schemes."""


def largest_record(articles: int) -> int:
    """Bytes of the changelog record of so many articles at most, all of them kept."""
    return articles * LARGEST_ENTRY_BYTES + SMALL_STATE_BYTES


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


class _Delta(msgspec.Struct, frozen=True, array_like=True):
    start: int
    end: int
    sequence: int
    clock: tuple[int, ...]
    entries: tuple[_Entries, ...]
    evicted_below: int
    rules: int


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Delta)


def encode_delta(delta: Delta) -> bytes:
    """The value of the changelog record."""
    encoded = _Delta(
        start=delta.start,
        end=delta.end,
        sequence=delta.sequence,
        clock=delta.clock,
        entries=tuple(_encode_entries(entries) for entries in delta.entries),
        evicted_below=delta.evicted_below,
        rules=delta.rules,
    )
    return bytes((VERSION,)) + _encoder.encode(encoded)


def decode_delta(value: bytes | None, where: str) -> Delta:
    """The delta of a changelog record; `where` names the record in messages.

    Raises:
        LogRefusedError: the record is torn, foreign, or of another version of this project.
    """
    if not value or value[0] != VERSION:
        found = f"format {value[0]}" if value else "no value"
        raise LogRefusedError(
            f"{where} has {found}, this version reads format {VERSION}: run the version that wrote it; "
            "if anything else wrote to this topic, the index cannot be restored from it"
        )
    try:
        delta = _decoder.decode(memoryview(value)[1:])
        entries = tuple(_decode_entries(entries) for entries in delta.entries)
    except (msgspec.DecodeError, ValueError) as error:
        raise LogRefusedError(f"{where} is damaged ({error}): the index cannot be restored from it") from error
    return Delta(
        start=delta.start,
        end=delta.end,
        sequence=delta.sequence,
        clock=delta.clock,
        entries=entries,
        evicted_below=delta.evicted_below,
        rules=delta.rules,
    )


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
