"""The changelog record."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.delta import Delta, Entries
from stream_dedup.core.recipes import PROFILES
from stream_dedup.core.rules import Rules
from stream_dedup.core.scheme import profile
from stream_dedup.core.sketch import FACT_BYTES
from stream_dedup.core.verdict import Kind
from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.changelog import (
    MOST_RAW_PARTITIONS,
    VERSION,
    ChangelogRecord,
    RawProgress,
    decode_record,
    encode_record,
    largest_record,
)
from tests.core.test_decider_state import RULES


def _entries(seed: int, rows: int, fingerprints: int) -> Entries:
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 40, rows)
    return Entries(
        scheme=f"scheme-{seed}",
        fingerprints=random.integers(0, 2**64, (rows, fingerprints), np.uint64),
        signatures=random.integers(0, 256, (rows, 64), np.uint8),
        digests=random.integers(0, 2**64, (rows, 2), np.uint64),
        facts=random.integers(0, 256, (rows, 64), np.uint8),
        times=random.integers(-(2**60), 2**60, rows),
        sequences=np.sort(random.integers(0, 2**60, rows)),
        positions=random.integers(0, 2**64, rows, np.uint64),
        id_bytes=random.integers(0, 256, int(lengths.sum()), np.uint8),
        id_ends=np.cumsum(lengths, dtype=np.int64),
    )


@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 20), st.integers(1, 5)), max_size=3),
    st.lists(st.integers(-(2**62), 2**62), max_size=5),
    RULES,
    st.dictionaries(st.sampled_from(Kind), st.text(max_size=5)),
    st.dictionaries(st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1), max_size=5),
)
def test_a_record_comes_back_as_it_was(
    shapes: list[tuple[int, int, int]],
    clock: list[int],
    rules: Rules,
    routes: dict[Kind, str],
    offsets: dict[int, int],
) -> None:
    """Every number and array of a delta, for any number of schemes, rows and fingerprints, and all that is small."""
    delta = Delta(3, 9, 12, tuple(clock), tuple(_entries(*shape) for shape in shapes), 4, rules)
    raw = RawProgress("raw's", offsets)
    record = decode_record(encode_record(ChangelogRecord(delta, routes, "input's", raw)), "here")
    back = record.delta
    assert (record.routes, record.input_id, record.raw) == (routes, "input's", raw)
    for name in ("start", "end", "sequence", "clock", "evicted_below", "rules"):
        assert getattr(back, name) == getattr(delta, name)
    assert len(back.entries) == len(delta.entries)
    for ours, theirs in zip(delta.entries, back.entries, strict=True):
        for name in Entries.__slots__:
            assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name


def _encoded(entries: Entries) -> bytes:
    rules = Rules(3, 0.5, None, 1, keep_revisions=False, vetoes=False)
    return encode_record(ChangelogRecord(Delta(0, 1, 1, (), (entries,), 0, rules), {}, "", RawProgress("", {})))


def _torn(keep: int) -> bytes:
    return _encoded(_entries(1, 3, 1))[:keep]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        pytest.param(None, "no value", id="null"),
        pytest.param(b"", "no value", id="empty"),
        pytest.param(bytes((VERSION + 1,)) + b"x", f"format {VERSION + 1}", id="another version"),
        pytest.param(_torn(40), "damaged", id="torn"),
        pytest.param(bytes((VERSION,)) + b"\xc1", "damaged", id="no MessagePack"),
    ],
)
def test_what_is_no_delta_is_refused(value: bytes | None, says: str) -> None:
    """A torn or foreign record is named with its place; the index is never restored around it."""
    with pytest.raises(LogRefusedError, match=f"index-0 offset 5.*{says}"):
        decode_record(value, "index-0 offset 5")


def test_arrays_that_do_not_fit_each_other_are_refused() -> None:
    """A record whose arrays disagree about the number of entries is damaged, whatever its form says."""
    whole = _entries(1, 3, 1)
    ids = Entries(**{name: getattr(whole, name) for name in Entries.__slots__} | {"id_bytes": whole.id_bytes[:-1]})
    with pytest.raises(LogRefusedError, match="damaged"):
        decode_record(_encoded(ids), "here")


@pytest.mark.parametrize("articles", [0, 1, 1000])
def test_a_record_is_no_larger_than_foretold(articles: int) -> None:
    """As many values as any scheme has and the longest ids: the position, where a topic's name is as long as may be."""
    position = f"{'t' * 249}-{10**5}-{2**62}".encode()
    random = np.random.default_rng(1)
    widest = max(profile(name).scheme.fingerprint([""]).fingerprints.shape[1] for name in PROFILES)
    numbers = np.full(articles, 2**62)
    entries = Entries(
        scheme="s" * 100,
        fingerprints=random.integers(0, 2**64, (articles, widest), np.uint64),
        signatures=random.integers(0, 256, (articles, 64), np.uint8),
        digests=random.integers(0, 2**64, (articles, 2), np.uint64),
        facts=random.integers(0, 256, (articles, FACT_BYTES), np.uint8),
        times=numbers,
        sequences=numbers,
        positions=numbers.astype(np.uint64),
        id_bytes=np.frombuffer(position * articles, np.uint8),
        id_ends=np.arange(1, articles + 1) * len(position),
    )
    rules = Rules(7, 1 / 3, 2**62, 2**62, keep_revisions=False, vetoes=False)
    delta = Delta(2**62, 2**62, 2**62, (2**62,) * 5, (entries,), 2**62, rules)
    raw = RawProgress("i" * 22, dict.fromkeys(range(MOST_RAW_PARTITIONS), 2**62))
    record = ChangelogRecord(delta, dict.fromkeys(Kind, "t" * 249), "i" * 22, raw)
    assert articles * 600 < len(encode_record(record)) <= largest_record(articles)
