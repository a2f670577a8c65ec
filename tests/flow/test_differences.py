"""What the end-to-end tests notice: the judge is judged here, without a broker."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from stream_dedup.core.decider import Decider
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.verdict import Kind as ArticleKind
from stream_dedup.core.verdict import Verdict
from stream_dedup.kafka.memory import MemoryBroker
from stream_dedup.kafka.statistics_record import Counted, summarise
from stream_dedup.kafka.transport import Message, Record
from stream_dedup.testing import Trial
from tests.flow.differences import Kind
from tests.flow.outputs import content_differences, count_differences
from tests.flow.state import index_differences, statistics_differences

RAW = [Record("raw", 0, offset, 0, None, b"%d" % offset) for offset in range(3)]
OUTPUTS = [
    Record("out", 0, n, 0, None, b"%d" % n, (("dedup-position", b"raw-0-%d" % n), ("dedup-sequence", b"%d" % n)))
    for n in range(3)
]


@pytest.mark.parametrize(
    ("outputs", "kinds"),
    [
        pytest.param(OUTPUTS, [], id="exactly once"),
        pytest.param(OUTPUTS[:2], [Kind.LOST], id="the last one lost"),
        pytest.param([*OUTPUTS, OUTPUTS[2]], [Kind.EXTRA, Kind.DIFFERENT], id="one twice"),
        pytest.param(
            [*OUTPUTS, replace(OUTPUTS[2], headers=(("dedup-position", b"raw-0-9"), ("dedup-sequence", b"3")))],
            [Kind.EXTRA],
            id="one that nobody published",
        ),
        pytest.param([OUTPUTS[1], OUTPUTS[0], OUTPUTS[2]], [Kind.DIFFERENT], id="another order"),
    ],
)
def test_each_raw_record_once_and_in_order(outputs: list[Record], kinds: list[Kind]) -> None:
    """What is extra counts as what is lost does."""
    assert [difference.kind for difference in count_differences(RAW, outputs)] == kinds


@pytest.mark.parametrize("changed", ["topic", "partition", "timestamp", "key", "value", "headers"])
def test_all_that_a_reader_gets_is_compared(changed: str) -> None:
    """Topic, partition, timestamp, key, value and headers."""
    record = OUTPUTS[0]
    message = Message(record.topic, record.partition, record.timestamp, record.key, record.value, record.headers)
    other: dict[str, Message] = {
        "topic": replace(message, topic="other"),
        "partition": replace(message, partition=1),
        "timestamp": replace(message, timestamp=1),
        "key": replace(message, key=b""),
        "value": replace(message, value=None),
        "headers": replace(message, headers=message.headers[::-1]),
    }
    assert content_differences([record], [message]) == []
    assert [difference.kind for difference in content_differences([record], [other[changed]])] == [Kind.DIFFERENT]


def test_the_index_and_its_position_are_compared() -> None:
    """A restored index equals the oracle's, and ends where the group's offset stands."""
    came, must = (Decider(Trial().rules(), estimated_jaccard) for _ in range(2))
    assert index_differences(came, must, 0) == []
    assert len(index_differences(came, must, 1)) == 1
    must.apply(must.decide([], 1).delta)
    assert len(index_differences(came, must, 0)) == 1


def test_statistics_are_compared() -> None:
    """Each output is counted once: a record too few or too many is told, and so is a gap."""
    counted = [Counted(Verdict.UNIQUE, ArticleKind.NEW, None, None)] * 2
    batches = [
        summarise(counted, first_sequence=first, decided=0, clock=None, index_entries=0).encode() for first in (0, 2)
    ]
    broker = MemoryBroker()
    broker.create_topic("statistics", 1)
    for batch in batches:
        asyncio.run(broker.publish(Message("statistics", 0, 0, None, batch)))
    records = broker.log("statistics", 0).records
    right = Counter({("unique", "new"): 4})
    assert statistics_differences(records, right) == []
    assert len(statistics_differences([*records, records[1]], right)) == 2
    assert len(statistics_differences(records[:1], right)) == 1
    assert len(statistics_differences(records[1:], right)) == 2
