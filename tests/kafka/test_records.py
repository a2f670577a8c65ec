"""How an article looks on each topic."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.sketch import SetAside, Sketch
from stream_dedup.core.verdict import FactKind, Judgement, Kind, Original, Replaced, Verdict, Veto
from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.records import (
    HANDOVER,
    HANDOVER_VERSION,
    Handover,
    clean_headers,
    cut,
    decode_handover,
    encode_handover,
    escape_keys,
    evidence,
    has_unreadable_key,
    partition_for,
    size_of,
)
from stream_dedup.kafka.transport import Headers, Record


def _handover(**changes: object) -> Handover:
    whole = Handover(
        position="articles.raw-2-17",
        raw_partition=2,
        raw_topic_id="SJPLxoQdTZm1YDnzpTUpQw",
        raw_timestamp=5,
        time=6,
        time_unparsable=False,
        id="a",
        source="wire",
        language=None,
        kind=None,
        reason=None,
        scheme="s",
        fingerprints=(1, 2**64 - 1),
        signature=b"\x00" * 64,
        digest=b"\xff" * 16,
        facts=b"\x01" * 64,
    )
    return msgspec.structs.replace(whole, **changes)


def _record(*headers: tuple[str, bytes | None], value: bytes | None = b"v", key: bytes | None = None) -> Record:
    return Record("stream-dedup.fingerprinted", 0, 40, 1, key, value, headers)


def test_a_handover_comes_back_as_it_was() -> None:
    """What the fingerprint stage found out reaches the decide stage unchanged, largest fingerprint included."""
    handover = _handover()
    assert decode_handover(_record(("own", b"x"), (HANDOVER, encode_handover(handover)))) == handover


def test_what_is_not_compared_says_why() -> None:
    """The decider gets a sketch, or the kind and reason for which there is none."""
    assert _handover().content == Sketch("s", (1, 2**64 - 1), b"\x00" * 64, b"\xff" * 16, b"\x01" * 64)
    assert _handover(kind=Kind.UNREADABLE, reason="no text").content == SetAside(Kind.UNREADABLE, "no text")


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        pytest.param((), "not written by the fingerprint stage", id="no header"),
        pytest.param((("other", b"x"),), "not written by the fingerprint stage", id="another header"),
        pytest.param(((HANDOVER, None),), "not written by the fingerprint stage", id="null"),
        pytest.param(((HANDOVER, b"\x09rest"),), "format 9", id="another version"),
        pytest.param(((HANDOVER, bytes((HANDOVER_VERSION,)) + b"torn"),), "damaged", id="torn"),
    ],
)
def test_a_foreign_record_is_refused(headers: Headers, says: str) -> None:
    """Records of others on the internal topic stop the stage with the place, rather than being decided by guess."""
    with pytest.raises(LogRefusedError, match=f"stream-dedup.fingerprinted-0 offset 40.*{says}"):
        decode_handover(_record(*headers))


def test_headers_that_pose_as_evidence_are_removed() -> None:
    """Incoming `dedup-*` headers go; all others stay in order, repeated ones too."""
    headers = (("a", b"1"), ("dedup-verdict", b"unique"), ("a", None), ("dedup-", b""), ("x-dedup-kind", b"y"))
    assert clean_headers(headers) == (("a", b"1"), ("a", None), ("x-dedup-kind", b"y"))


def test_keys_that_are_not_utf8_are_written_out() -> None:
    """Such a key is noticed and escaped; readable ones, of any script, stay as they are."""
    bad = b"\xffk\xc3".decode("utf-8", "surrogateescape")
    assert has_unreadable_key((("ok", b""), (bad, b"")))
    assert not has_unreadable_key((("ok", b""), ("标题", b"")))
    assert escape_keys((("标题", b"1"), (bad, b"2"))) == (("标题", b"1"), ("\\xffk\\xc3", b"2"))


@pytest.mark.parametrize(
    ("judgement", "handover", "expected"),
    [
        pytest.param(
            Judgement(7, Kind.NEAR, Verdict.DUPLICATE, Original("原", 3, 1_000, 2, 0.98765)),
            _handover(),
            {
                "dedup-verdict": "duplicate",
                "dedup-kind": "near",
                "dedup-sequence": "7",
                "dedup-position": "articles.raw-2-17",
                "dedup-scheme": "s",
                "dedup-fingerprint": "0000000000000001,ffffffffffffffff",
                "dedup-original-id": "原",
                "dedup-original-sequence": "3",
                "dedup-original-time": "1000",
                "dedup-distance": "2",
                "dedup-similarity": "0.988",
            },
            id="duplicate",
        ),
        pytest.param(
            Judgement(
                7,
                Kind.NEW,
                Verdict.UNIQUE,
                veto=Veto("原", (Replaced(FactKind.NUMBER, 2, 5), Replaced(FactKind.DATE, 1, 1))),
            ),
            _handover(scheme=None),
            {
                "dedup-verdict": "unique",
                "dedup-kind": "new",
                "dedup-sequence": "7",
                "dedup-position": "articles.raw-2-17",
                "dedup-veto": "2 of 5 numbers, 1 of 1 dates replaced",
                "dedup-veto-original-id": "原",
            },
            id="kept by a veto",
        ),
        pytest.param(
            Judgement(0, Kind.UNREADABLE, Verdict.REJECTED, reason="no text " + "x" * 1_000),
            _handover(kind=Kind.UNREADABLE, scheme=None),
            {
                "dedup-verdict": "rejected",
                "dedup-kind": "unreadable",
                "dedup-sequence": "0",
                "dedup-position": "articles.raw-2-17",
                "dedup-reason": ("no text " + "x" * 1_000)[:500],
            },
            id="rejected, the reason bounded",
        ),
    ],
)
def test_evidence(judgement: Judgement, handover: Handover, expected: dict[str, str]) -> None:
    """The headers of each verdict, exactly these."""
    assert {key: (value or b"").decode() for key, value in evidence(judgement, handover)} == expected


@pytest.mark.parametrize(
    ("key", "hashed"),
    [
        # Values of Kafka's own test of Utils.murmur2 (clients/src/test, UtilsTest.testMurmur2).
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_keyed_records_go_where_kafka_puts_the_key(key: bytes, hashed: int) -> None:
    """The default partitioner's murmur2, without its sign, modulo the partitions."""
    for partitions in (1, 3, 12):
        assert partition_for(key, 5, partitions) == (hashed & 0x7FFFFFFF) % partitions


def test_records_without_a_key_go_by_their_raw_partition() -> None:
    """So that articles of one raw partition stay in order; an empty key is a key."""
    assert [partition_for(None, raw, 3) for raw in range(5)] == [0, 1, 2, 0, 1]
    assert partition_for(b"", 4, 3) == partition_for(b"", 5, 3)


@given(
    st.integers(0, 60),
    st.none() | st.binary(max_size=20),
    st.none() | st.binary(max_size=20),
    st.lists(st.tuples(st.text(max_size=4, alphabet="a题\udcff"), st.none() | st.binary(max_size=9)), max_size=3),
)
def test_a_cut_record_fits(
    keep: int, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]]
) -> None:
    """A record cut to n bytes has at most n, is a beginning of the whole, and the reason tells both sizes."""
    whole = _record(*headers, key=key, value=value)
    shorter, reason = cut(whole, keep)
    assert size_of(shorter) <= keep
    assert (whole.value or b"").startswith(shorter.value or b"")
    assert (whole.key or b"").startswith(shorter.key or b"")
    assert whole.headers[: len(shorter.headers)] == shorter.headers
    assert f" {size_of(whole)} bytes" in reason
    assert f" {size_of(shorter)} bytes" in reason


def test_sizes_are_in_bytes() -> None:
    """A header's key counts as it is written: in UTF-8, and an unreadable one by the bytes that it has."""
    assert size_of(_record(("标题", b"12"), ("\udcff", None), value=b"345", key=b"6")) == 6 + 2 + 1 + 3 + 1
