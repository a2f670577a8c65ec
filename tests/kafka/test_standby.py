"""Following the changelog."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

import pytest

from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.errors import LogRefusedError, TransactionFailedError
from stream_dedup.kafka.memory import Log, MemorySource
from stream_dedup.kafka.observer import Stage
from stream_dedup.kafka.replica import Replica
from stream_dedup.kafka.restore import restore
from stream_dedup.kafka.standby import Standby
from stream_dedup.kafka.transport import Record
from stream_dedup.testing import CHANGELOG, HOUR, StreamDriver, Trial
from tests.kafka.test_loop import Watcher


@pytest.fixture
def driver() -> Iterator[StreamDriver]:
    """One article a batch, so that a few of them make a changelog of several records."""
    with StreamDriver(Trial(batch_records=1)) as driver:
        yield driver


def fill(driver: StreamDriver) -> None:
    """Five unlike articles of now, which move the clock there."""
    for number in range(5):
        text = " ".join(f"w{driver.now // HOUR * 131 + number * 37 + word}" for word in range(12))
        driver.pipe({"id": text, "text": text})
    driver.read()


class _Follower(Watcher):
    """Stops a standby once it has caught up."""

    def __init__(self) -> None:
        super().__init__(0)
        self.behind: list[int] = []

    def following(self, records: int) -> None:
        """Take note."""
        self.behind.append(records)
        if not records:
            self.stop.set()

    def progressed(self, stage: Stage, partition: int) -> None:
        """A standby owns nothing."""
        raise AssertionError(f"{stage} {partition}")


def _follow(driver: StreamDriver, replica: Replica) -> list[int]:
    """Let a standby catch up; how far behind it has said to be."""
    follower = _Follower()
    standby = Standby(driver.broker, CHANGELOG, replica, follower, lambda: 0.0)
    asyncio.run(asyncio.wait_for(standby.run(follower.stop), 60))
    return follower.behind


def _replica(driver: StreamDriver) -> Replica:
    return Replica(driver.trial.rules(), estimated_jaccard)


def test_a_standby_holds_what_the_owner_holds(driver: StreamDriver) -> None:
    """After each round, however it came; an empty changelog is nothing to wait for."""
    replica = _replica(driver)
    assert _follow(driver, replica) == [0]
    for _ in range(3):
        driver.advance(HOUR)
        fill(driver)
        behind = _follow(driver, replica)
        assert behind[0] > 0
        assert replica.decider.digest() == driver.decide_stage.decider.digest()


def test_a_takeover_reads_what_the_standby_has_not_read(driver: StreamDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the whole changelog: that takes a minute for ten million entries."""
    fill(driver)
    replica = _replica(driver)
    _follow(driver, replica)
    stood = replica.offset
    fill(driver)
    read: list[int] = []

    async def source(topic: str, partition: int, offset: int) -> MemorySource:
        read.append(offset)
        return MemorySource(driver.broker, topic, partition, offset)

    monkeypatch.setattr(driver.broker, "source", source)
    asyncio.run(restore(driver.broker, CHANGELOG, replica, lambda: None))
    assert stood > 0
    assert read == [stood]
    assert replica.decider.digest() == driver.decide_stage.decider.digest()


def test_a_broker_that_is_away_is_tried_again(driver: StreamDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was taken stays; nothing of it is taken twice."""
    fill(driver)
    monkeypatch.setattr("stream_dedup.kafka.standby.SLICE", 1)
    fetch, fail = MemorySource.fetch, [False, True, True, False]

    async def failing(source: MemorySource, max_records: int, wait: float) -> Sequence[Record]:
        if fail and fail.pop(0):
            raise TransactionFailedError("no answer")
        return await fetch(source, max_records, wait)

    monkeypatch.setattr(MemorySource, "fetch", failing)
    replica = _replica(driver)
    _follow(driver, replica)
    assert not fail
    assert replica.decider.digest() == driver.decide_stage.decider.digest()


def test_a_standby_that_was_left_behind_begins_anew(driver: StreamDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner trims what has left the window, whether a standby has read it or not."""
    monkeypatch.setattr("stream_dedup.kafka.replica.MARK_EVERY", 1)
    fill(driver)
    replica = _replica(driver)
    _follow(driver, replica)
    for _ in range(9):
        driver.advance(24 * HOUR)
        fill(driver)
    assert driver.broker.log(CHANGELOG, 0).start > replica.offset
    _follow(driver, replica)
    assert replica.decider.digest() == driver.decide_stage.decider.digest()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        pytest.param(
            lambda log: log.records.pop(1), r"chain of stream-dedup\.index is broken", id="a record is missing"
        ),
        pytest.param(Log.__init__, "was brought up to", id="made anew"),
    ],
)
def test_a_changelog_that_is_no_longer_whole_is_told_at_once(
    driver: StreamDriver, spoil: Callable[[Log], object], sentence: str
) -> None:
    """The owner would notice at its next start only, when the index is needed."""
    fill(driver)
    replica = _replica(driver)
    if "chain" not in sentence:
        _follow(driver, replica)
    spoil(driver.broker.log(CHANGELOG, 0))
    with pytest.raises(LogRefusedError, match=sentence):
        _follow(driver, replica)
