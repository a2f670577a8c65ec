"""How far raw articles have come, by what stands in the internal topics."""

import pytest

from stream_dedup.core.delta import Delta
from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.changelog import ChangelogRecord, RawProgress, encode_record
from stream_dedup.kafka.memory import MemoryBroker
from stream_dedup.kafka.raw_progress import last_change, read_progress
from stream_dedup.kafka.records import HANDOVER, Handover, encode_handover
from stream_dedup.kafka.transport import Message
from stream_dedup.testing import Trial

FINGERPRINTED, CHANGELOG = "fingerprinted", "index"


def _broker() -> MemoryBroker:
    broker = MemoryBroker()
    for topic in (FINGERPRINTED, CHANGELOG):
        broker.create_topic(topic, 1)
    return broker


async def _hand_over(broker: MemoryBroker, partition: int, offset: int, topic_id: str = "raw") -> None:
    handover = Handover(
        position=f"a-b-{partition}-{offset}",
        raw_partition=partition,
        raw_topic_id=topic_id,
        raw_timestamp=0,
        time=0,
        time_unparsable=False,
        id="a",
        source=None,
        language=None,
        kind=None,
        reason=None,
        scheme=None,
        fingerprints=(),
        signature=b"",
        digest=b"",
        facts=b"",
    )
    await broker.publish(Message(FINGERPRINTED, 0, 0, None, b"", ((HANDOVER, encode_handover(handover)),)))


async def _decide(broker: MemoryBroker, end: int, raw: RawProgress) -> None:
    delta = Delta(0, end, end, (), (), 0, Trial().rules())
    await broker.publish(Message(CHANGELOG, 0, 0, None, encode_record(ChangelogRecord(delta, {}, "", raw))))


async def test_decided_and_waiting_articles_count_together() -> None:
    """The changelog's last record, and the records behind its position; those before it are in it already."""
    broker = _broker()
    for partition, offset in ((0, 4), (1, 6), (0, 7)):
        await _hand_over(broker, partition, offset)
    await _decide(broker, 1, RawProgress("raw", {0: 1}))
    await _decide(broker, 2, RawProgress("raw", {0: 5, 1: 7, 3: 2}))
    assert await read_progress(broker, FINGERPRINTED, CHANGELOG) == RawProgress("raw", {0: 8, 1: 7, 3: 2})


async def test_nothing_was_handed_over_at_a_first_start() -> None:
    """What aborted transactions leave in both logs is nothing."""
    broker = _broker()
    for topic in (FINGERPRINTED, CHANGELOG):
        broker.log(topic, 0).end = 5
    assert await read_progress(broker, FINGERPRINTED, CHANGELOG) is None


async def test_another_raw_topic_begins_anew() -> None:
    """Offsets of the topic before say nothing about one that was made anew."""
    broker = _broker()
    await _decide(broker, 0, RawProgress("before", {0: 5, 1: 7}))
    await _hand_over(broker, 0, 0, "raw")
    assert await read_progress(broker, FINGERPRINTED, CHANGELOG) == RawProgress("raw", {0: 1})


@pytest.mark.parametrize("markers", [0, 1, 7, 8, 9, 70, 700])
async def test_the_last_change_is_found_behind_any_number_of_markers(markers: int) -> None:
    """Aborted transactions take offsets at the log's end."""
    broker = _broker()
    for end in range(20):
        await _decide(broker, end, RawProgress("raw", {}))
    broker.log(CHANGELOG, 0).end += markers
    last = await last_change(broker, CHANGELOG)
    assert last is not None
    assert last.delta.end == 19


async def test_a_changelog_that_lost_everything_does_not_pass_for_a_first_start() -> None:
    """Articles were decided and trimmed: how far the raw topic was read is not known any more."""
    broker = _broker()
    await _hand_over(broker, 0, 0)
    await broker.delete_before(FINGERPRINTED, 0, 1)
    with pytest.raises(LogRefusedError, match="how far the raw topic was read is not known"):
        await read_progress(broker, FINGERPRINTED, CHANGELOG)
