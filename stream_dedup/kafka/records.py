"""How an article looks on each topic: what is added on the way, what is taken away, and nothing else.

`articles.raw` -> `stream-dedup.fingerprinted`: key, value and headers as they came, plus one header (`HANDOVER`)
with everything the decide stage needs to know. From there to the outputs: that header and any `dedup-*` header that
came in are left out, the evidence is added.
"""

from dataclasses import replace

import msgspec
from aiokafka.partitioner import murmur2

from stream_dedup.core.sketch import SetAside, Sketch
from stream_dedup.core.verdict import Judgement, Kind
from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.transport import Headers, Message, Record

HANDOVER = "dedup-handover"
"""The header from the fingerprint stage to the decide stage; on the internal topic only."""
HANDOVER_VERSION = 3
EVIDENCE_PREFIX = "dedup-"
MAX_REASON_LENGTH = 500
"""Characters of a reason; a header is a sentence, not a place for what came in."""


class Handover(msgspec.Struct, frozen=True, array_like=True):
    """What the fingerprint stage found out about one article, as MessagePack after the version byte."""

    position: str
    """Raw topic-partition-offset."""
    raw_partition: int
    raw_topic_id: str
    raw_timestamp: int
    """The raw record's timestamp, ms since the epoch."""
    time: int
    """Event time, ms since the epoch, never further in the future than the allowed skew."""
    time_unparsable: bool
    id: str
    source: str | None
    language: str | None
    kind: Kind | None
    """Why the article is not compared; None where it is."""
    reason: str | None
    scheme: str | None
    fingerprints: tuple[int, ...]
    signature: bytes
    digest: bytes
    facts: bytes

    @property
    def raw_offset(self) -> int:
        """The raw record's offset."""
        return int(self.position.rpartition("-")[2])

    @property
    def raw_position(self) -> str:
        """The position with the raw topic's id: in a topic made anew other articles stand at the same offsets."""
        return f"{self.raw_topic_id} {self.raw_partition} {self.raw_offset}"

    @property
    def content(self) -> Sketch | SetAside:
        """What the decider takes."""
        if self.kind is not None:
            return SetAside(self.kind, self.reason)
        return Sketch(self.scheme or "", self.fingerprints, self.signature, self.digest, self.facts)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Handover)


def encode_handover(handover: Handover) -> bytes:
    """The header's value."""
    return bytes((HANDOVER_VERSION,)) + _encoder.encode(handover)


def decode_handover(record: Record) -> Handover:
    """What the fingerprint stage handed over with a record.

    Raises:
        LogRefusedError: the record is not of this project, or of another version of it.
    """
    name, value = record.headers[-1] if record.headers else ("", None)
    where = f"{record.topic}-{record.partition} offset {record.offset}"
    if name != HANDOVER or not value:
        raise LogRefusedError(
            f"{where} was not written by the fingerprint stage: only stream-dedup may write to {record.topic}"
        )
    if value[0] != HANDOVER_VERSION:
        raise LogRefusedError(
            f"{where} has format {value[0]}, this version reads {HANDOVER_VERSION}: run the version that wrote it"
        )
    try:
        return _decoder.decode(memoryview(value)[1:])
    except msgspec.DecodeError as error:
        raise LogRefusedError(f"{where} is damaged ({error}): nothing can be decided from it") from error


def clean_headers(headers: Headers) -> Headers:
    """The headers without those that would pose as evidence."""
    return tuple(header for header in headers if not header[0].startswith(EVIDENCE_PREFIX))


def has_unreadable_key(headers: Headers) -> bool:
    """Whether a header's key is not UTF-8."""
    return any(not key.isascii() and _escaped(key) != key for key, _ in headers)


def escape_keys(headers: Headers) -> Headers:
    r"""The headers, keys that are not UTF-8 written out (`\xff`): most clients stand still before such keys."""
    return tuple((key if key.isascii() else _escaped(key), value) for key, value in headers)


def _escaped(key: str) -> str:
    return key.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def evidence(judgement: Judgement, handover: Handover) -> Headers:
    """The headers that tell what was decided and why."""
    headers: list[tuple[str, bytes | None]] = [
        ("dedup-verdict", judgement.verdict.value.encode()),
        ("dedup-kind", judgement.kind.value.encode()),
        ("dedup-sequence", b"%d" % judgement.sequence),
        ("dedup-position", handover.position.encode()),
    ]
    if handover.scheme is not None:
        fingerprints = ",".join(f"{fingerprint:016x}" for fingerprint in handover.fingerprints)
        headers += [("dedup-scheme", handover.scheme.encode()), ("dedup-fingerprint", fingerprints.encode())]
    if (original := judgement.original) is not None:
        headers += [
            ("dedup-original-id", original.id.encode("utf-8", "replace")),
            ("dedup-original-sequence", b"%d" % original.sequence),
            ("dedup-original-time", b"%d" % original.time),
            ("dedup-distance", b"%d" % original.distance),
            ("dedup-similarity", b"%.3f" % original.similarity),
        ]
    if (veto := judgement.veto) is not None:
        headers += [
            ("dedup-veto", str(veto).encode()),
            ("dedup-veto-original-id", veto.original_id.encode("utf-8", "replace")),
        ]
    if judgement.reason is not None:
        headers.append(("dedup-reason", judgement.reason[:MAX_REASON_LENGTH].encode("utf-8", "replace")))
    return tuple(headers)


def partition_for(key: bytes | None, raw_partition: int, partitions: int) -> int:
    """The output partition: where Kafka's default partitioner puts the key; key-less by the raw partition."""
    if key is None:
        return raw_partition % partitions
    return int((murmur2(key) & 0x7FFFFFFF) % partitions)


def cut(record: Record, keep: int) -> tuple[Record, str]:
    """A record without what goes beyond `keep` bytes of value, then key, then headers; and the reason to give."""
    value = None if record.value is None else record.value[:keep]
    left = keep - len(value or b"")
    key = None if record.key is None else record.key[:left]
    left -= len(key or b"")
    headers = []
    for name, content in record.headers:
        left -= _header_size(name, content)
        if left < 0:
            break
        headers.append((name, content))
    shorter = replace(record, key=key, value=value, headers=tuple(headers))
    reason = f"the broker refuses a record of {size_of(record)} bytes; the first {size_of(shorter)} bytes are kept"
    return shorter, reason


def size_of(record: Record | Message) -> int:
    """Bytes of a record's key, value and headers."""
    headers = sum(_header_size(name, value) for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers


def _header_size(name: str, value: bytes | None) -> int:
    return len(name.encode("utf-8", "surrogateescape")) + len(value or b"")
