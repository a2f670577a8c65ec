"""The transactional loop, over a processor that copies and on the in-memory transport with faults."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from stream_dedup.errors import (
    FencedError,
    LogRefusedError,
    RecordTooLargeError,
    TopicSettingsError,
    TransactionFailedError,
)
from stream_dedup.kafka.loop import Batch, PartitionLoop
from stream_dedup.kafka.memory import MemoryBroker
from stream_dedup.kafka.observer import CommittedBatch, Stage
from stream_dedup.kafka.records import cut
from stream_dedup.kafka.transport import Ends, Input, Message, Record

OF = Input("group", "in", 0)
LIMIT = 100
"""Largest message of the output, in bytes."""

DEADLINE = 60.0
"""Seconds for what would otherwise never end."""

Fault = Callable[[], None]


def _lost() -> None:
    raise TransactionFailedError("the answer was lost")


def _fenced() -> None:
    raise FencedError("taken by another")


class FaultyBroker(MemoryBroker):
    """Faults before or after a write, in the order given."""

    def __init__(self) -> None:
        super().__init__()
        self.before: list[Fault | None] = []
        self.after: list[Fault | None] = []

    async def write(self, of: Input, epoch: int, messages: Sequence[Message], next_offset: int, mark: str) -> Ends:
        """A write between two faults."""
        if self.before and (fault := self.before.pop(0)):
            fault()
        ends = await super().write(of, epoch, messages, next_offset, mark)
        if self.after and (fault := self.after.pop(0)):
            fault()
        return ends


@dataclass
class Copier:
    """Copies its input; its state is what was copied, and comes back from the output."""

    broker: MemoryBroker
    state: list[bytes] = field(default_factory=list)
    refused: list[bytes] = field(default_factory=list)
    stage: Stage = Stage.DECIDE
    mark: str = ""

    def opening(self) -> Batch | None:
        """Nothing."""
        return None

    async def open(self, committed: int | None) -> int:
        """Restore the state from the output."""
        self.state = [record.value or b"" for record in self.broker.log("out", 0).records]
        return committed or 0

    def process(self, records: Sequence[Record]) -> Batch:
        """Copy."""
        return Batch([Message("out", 0, 0, None, record.value) for record in records])

    def refuse(self, record: Record, keep: int) -> Batch:
        """Copy what is kept."""
        self.refused.append(record.value or b"")
        return self.process([cut(record, keep)[0]])

    def applied(self, batch: Batch, _ends: Ends) -> None:
        """Take the batch into the state."""
        self.state += [message.value or b"" for message in batch.messages]

    async def tidy(self) -> None:
        """Nothing to tidy."""


@dataclass(slots=True)
class Watcher:
    """An observer that counts, and stops the loop when all the input is committed."""

    expected: int
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    failures: int = 0
    batches: list[int] = field(default_factory=list)

    def committed(self, batch: CommittedBatch) -> None:
        """Count."""
        self.batches.append(batch.records)

    def progressed(self, _stage: Stage, _partition: int) -> None:
        """A fetch found nothing more: all is done."""
        self.stop.set()

    def failed(self, _stage: Stage, _partition: int) -> None:
        """Count."""
        self.failures += 1

    def assigned(self, stage: Stage, partitions: Collection[int]) -> None:
        """Not watched."""

    def revoked(self, stage: Stage) -> None:
        """Not watched."""

    def restored(self, stage: Stage, partition: int) -> None:
        """Not watched."""

    def lag(self, stage: Stage, partition: int, records: int) -> None:
        """Not watched."""

    def following(self, records: int) -> None:
        """Not watched."""

    def index_size(self, entries: int, largest_block: int) -> None:
        """Not watched."""


@dataclass(slots=True)
class Run:
    """What a loop did with some input."""

    broker: FaultyBroker
    copier: Copier
    watcher: Watcher
    loop: PartitionLoop[Batch]

    @property
    def output(self) -> list[bytes]:
        """What stands on the output."""
        return [record.value or b"" for record in self.broker.log("out", 0).records]


async def _prepared(
    values: Sequence[bytes],
    batch_records: int = 4,
    broker: FaultyBroker | None = None,
    processor: Callable[[MemoryBroker], Copier] | None = None,
) -> Run:
    broker = broker or FaultyBroker()
    broker.create_topic("in", 1, 10_000)
    broker.create_topic("out", 1, LIMIT)
    for value in values:
        await broker.publish(Message("in", 0, 0, None, value))
    copier, watcher = (processor or Copier)(broker), Watcher(len(values))
    return Run(broker, copier, watcher, _loop(broker, OF, copier, watcher, batch_records))


def _loop(
    broker: MemoryBroker, of: Input, copier: Copier, watcher: Watcher | None = None, batch_records: int = 4
) -> PartitionLoop[Batch]:
    return PartitionLoop(
        broker,
        of,
        copier,
        watcher or Watcher(0),
        batch_records=batch_records,
        batch_wait=0,
        monotonic=lambda: 0.0,
        random=lambda: 0.0,
    )


VALUES = [b"%d" % number for number in range(10)]


@pytest.mark.parametrize("faults", [[_lost], [None, _lost], [_lost, _lost, None]])
@pytest.mark.parametrize("place", ["before", "after"])
async def test_a_failed_transaction_loses_and_repeats_nothing(place: str, faults: list[Fault | None]) -> None:
    """Whether the commit was lost on its way or its answer on the way back: each record comes out once, in order."""
    run = await _prepared(VALUES)
    setattr(run.broker, place, list(faults))
    await run.loop.run(run.watcher.stop)
    assert run.output == VALUES
    assert run.copier.state == VALUES
    assert run.watcher.failures == sum(fault is not None for fault in faults)


async def test_what_a_new_owner_has_trimmed_is_no_loss() -> None:
    """An owner that slept finds its place deleted: it begins again from what is committed, and refuses nothing."""
    run = await _prepared(VALUES)
    async with run.loop.session() as slept:
        await run.loop.run(run.watcher.stop)
        await run.broker.delete_before("in", 0, len(VALUES))
        with pytest.raises(TransactionFailedError):
            await slept.step(0)
    assert run.output == VALUES


async def test_what_did_not_commit_is_not_applied() -> None:
    """While a commit fails the state stands where the last commit left it."""
    run = await _prepared(VALUES)
    run.broker.before = [None, _fenced]
    with pytest.raises(FencedError):
        await run.loop.run(run.watcher.stop)
    assert run.copier.state == run.output == VALUES[:4]


async def test_a_fenced_loop_ends_at_once() -> None:
    """It never takes the id again in its assignment: the error ends it, and nothing more is written."""
    run = await _prepared(VALUES)
    run.broker.before = [_fenced]
    with pytest.raises(FencedError):
        await run.loop.run(run.watcher.stop)
    assert run.output == []
    assert run.watcher.failures == 0


async def test_two_owners_never_write_both() -> None:
    """When another takes the id in the middle, the one before is fenced and all records still come out once."""
    run = await _prepared(VALUES)
    other = await _prepared([])
    other.loop = _loop(run.broker, OF, Copier(run.broker), other.watcher, batch_records=3)
    async with run.loop.session() as first:
        assert await first.step(0)
        async with other.loop.session() as second:
            assert await second.step(0)
            with pytest.raises(FencedError):
                await first.step(0)
            while await second.step(0):
                pass
    assert run.output == VALUES


async def test_owners_of_two_partitions_do_not_fence_each_other() -> None:
    """Each partition of an input has an id of its own: their loops work side by side in one group."""
    broker = FaultyBroker()
    broker.create_topic("in", 2)
    broker.create_topic("out", 1)
    for partition, value in ((0, b"first"), (1, b"second")):
        await broker.publish(Message("in", partition, 0, None, value))
    first, second = (_loop(broker, Input("group", "in", partition), Copier(broker)) for partition in (0, 1))
    async with first.session() as one, second.session() as other:
        assert await one.step(0)
        assert await other.step(0)
    assert [record.value for record in broker.log("out", 0).records] == [b"first", b"second"]


class _Racing(FaultyBroker):
    """The owner before tries another batch as soon as the committed offset was read."""

    race: Callable[[], Awaitable[bool]] | None = None

    async def committed(self, group: str, topic: str) -> dict[int, int]:
        """The offsets, and then the race."""
        offsets = await super().committed(group, topic)
        if self.race is not None:
            race, self.race = self.race, None
            with pytest.raises(FencedError):
                await race()
        return offsets


async def test_no_earlier_owner_moves_an_offset_that_was_read() -> None:
    """The id is taken before the offset is read: what the owner before does in between is refused, not repeated."""
    broker = _Racing()
    run = await _prepared(VALUES, broker=broker)
    async with run.loop.session() as before:
        assert await before.step(0)
        broker.race = lambda: before.step(0)
        await _loop(broker, OF, Copier(broker), run.watcher).run(run.watcher.stop)
    assert run.output == VALUES


async def test_only_what_is_committed_is_counted() -> None:
    """An observer hears of a batch once it is committed: figures have no part of what was thrown away."""
    run = await _prepared(VALUES)
    run.broker.before = [None, _lost, _lost]
    await run.loop.run(run.watcher.stop)
    assert sum(run.watcher.batches) == len(VALUES)
    assert run.watcher.failures == 2


async def test_offsets_are_last_record_plus_one() -> None:
    """Not the reader's position, which is beyond markers that the next owner must be able to pass itself."""
    run = await _prepared(VALUES, batch_records=10)
    run.broker.log("in", 0).end += 5  # markers behind the last record
    await run.loop.run(run.watcher.stop)
    assert await run.broker.committed("group", "in") == {0: 10}


async def test_the_event_loop_is_left_free() -> None:
    """Deciding takes long, and applying may merge millions of entries: heartbeats go on meanwhile."""
    threads: list[int] = []

    class Threaded(Copier):
        def process(self, records: Sequence[Record]) -> Batch:
            threads.append(threading.get_ident())
            return super().process(records)

        def applied(self, batch: Batch, _ends: Ends) -> None:
            threads.append(threading.get_ident())
            super().applied(batch, _ends)

    run = await _prepared(VALUES, len(VALUES), processor=Threaded)
    await run.loop.run(run.watcher.stop)
    assert run.output == VALUES
    assert len(threads) == 2
    assert threading.get_ident() not in threads


async def test_batches_are_bounded() -> None:
    """No transaction holds more records than the setting."""
    run = await _prepared(VALUES, batch_records=4)
    await run.loop.run(run.watcher.stop)
    assert run.watcher.batches == [4, 4, 2]


@given(st.lists(st.sampled_from([1, 20, LIMIT + 1, 5 * LIMIT]), min_size=1, max_size=12), st.integers(1, 12))
def test_a_record_that_is_never_accepted_is_found_and_cut(sizes: list[int], batch_records: int) -> None:
    """Wherever such records stand, each is cut to fit, alone, and the rest passes whole and in order."""

    async def check() -> None:
        values = [bytes([number]) * size for number, size in enumerate(sizes)]
        run = await _prepared(values, batch_records)
        await run.loop.run(run.watcher.stop)
        assert len(run.output) == len(values)
        for value, output in zip(values, run.output, strict=True):
            assert output == value if len(value) <= LIMIT else 0 < len(output) <= LIMIT < len(value)
            assert value.startswith(output)
        assert set(run.copier.refused) == {value for value in values if len(value) > LIMIT}
        assert run.copier.state == run.output

    asyncio.run(check())


@given(
    st.lists(st.sampled_from([None, None, _lost]), max_size=20),
    st.lists(st.sampled_from([None, None, _lost]), max_size=20),
)
def test_any_sequence_of_faults(before: list[Fault | None], after: list[Fault | None]) -> None:
    """Exactly once, in order, and the state equals the output, whatever fails and in whatever order."""

    async def check() -> None:
        run = await _prepared(VALUES, 3)
        run.broker.before, run.broker.after = list(before), list(after)
        await run.loop.run(run.watcher.stop)
        assert run.output == run.copier.state == VALUES

    asyncio.run(check())


async def test_only_the_refused_record_is_cut() -> None:
    """The answer to the commit of a cut record is lost: the record behind it is another one, and passes whole."""
    run = await _prepared([b"x" * 4 * LIMIT, b"innocent"])
    run.broker.after = [_lost]
    await run.loop.run(run.watcher.stop)
    assert run.watcher.failures > 1
    assert run.output[1:] == [b"innocent"]
    assert set(run.copier.refused) == {b"x" * 4 * LIMIT}


async def test_a_verdict_that_is_refused_without_its_record_ends_the_loop() -> None:
    """There is nothing left to cut: trying on would never end, so a sentence says what to set."""
    run = await _prepared([b"value"])
    run.broker.create_topic("out", 1, -1)
    async with asyncio.timeout(DEADLINE):
        with pytest.raises(TopicSettingsError, match=r"in-0 offset 0: .*raise max\.message\.bytes"):
            await run.loop.run(run.watcher.stop)
    assert run.output == []


async def test_a_batch_that_takes_too_long_is_tried_smaller() -> None:
    """A broker that cannot take ten records in time may take two: the same batch is not tried for ever."""

    class SlowBroker(FaultyBroker):
        async def write(self, of: Input, epoch: int, messages: Sequence[Message], next_offset: int, mark: str) -> Ends:
            if len(messages) > 2:
                _lost()
            return await super().write(of, epoch, messages, next_offset, mark)

    run = await _prepared(VALUES, 10, SlowBroker())
    async with asyncio.timeout(DEADLINE):
        await run.loop.run(run.watcher.stop)
    assert run.output == VALUES


async def test_what_failed_is_not_tried_again_at_once() -> None:
    """A batch is too large for the changelog: its halves pass, and the width grows back slowly to what failed."""

    class Narrow(FaultyBroker):
        async def write(self, of: Input, epoch: int, messages: Sequence[Message], next_offset: int, mark: str) -> Ends:
            if len(messages) > 120:
                raise RecordTooLargeError("the changelog record of so many is too large")
            return await super().write(of, epoch, messages, next_offset, mark)

    values = [b"%d" % number for number in range(6_000)]
    run = await _prepared(values, 200, Narrow())
    async with asyncio.timeout(DEADLINE):
        await run.loop.run(run.watcher.stop)
    assert run.output == values
    assert run.watcher.batches[:4] == [100, 102, 104, 106]
    assert max(run.watcher.batches) == 120
    assert run.watcher.failures <= 4


async def test_a_passing_failure_narrows_for_a_while() -> None:
    """After one lost answer the width doubles up to half of what failed, then grows until it is as wide as ever."""
    values = [b"%d" % number for number in range(2_000)]
    run = await _prepared(values, 40)
    run.broker.before = [_lost] * 3
    await run.loop.run(run.watcher.stop)
    assert run.watcher.batches[:5] == [5, 6, 7, 8, 9]
    assert run.watcher.batches[35:-1] == [40] * len(run.watcher.batches[35:-1])
    assert run.output == values


async def test_the_width_comes_back_at_once_when_one_record_was_the_reason() -> None:
    """The record that is too large is found by halving; what follows it is not to blame and goes as fast as before."""
    values = [b"x" * 4 * LIMIT, *(b"%d" % number for number in range(200))]
    run = await _prepared(values, 64)
    await run.loop.run(run.watcher.stop)
    assert run.watcher.batches[:7] == [1, 2, 4, 8, 16, 32, 64]
    assert run.output[1:] == values[1:]


async def test_each_failure_is_told_with_its_reason() -> None:
    """Which input it was and what went wrong; a number of failures alone helps nobody."""
    run = await _prepared(VALUES)
    run.broker.before = [_lost]
    with capture_logs() as logs:
        await run.loop.run(run.watcher.stop)
    assert [(line["log_level"], line["input"], line["error"]) for line in logs] == [
        ("warning", "group-in-0", "the answer was lost")
    ]


async def test_refused_logs_end_the_loop() -> None:
    """What a stage refuses to go on with is no passing failure: it ends the loop."""

    class Refusing(Copier):
        async def open(self, committed: int | None) -> int:
            raise LogRefusedError(f"articles were deleted unread after {committed}")

    run = await _prepared(VALUES, processor=Refusing)
    with pytest.raises(LogRefusedError):
        await run.loop.run(run.watcher.stop)
    assert run.output == []


async def test_a_stop_cuts_the_pause_after_a_failure_short() -> None:
    """A broker that is away is asked less and less often, and stopping does not wait for the pause to pass."""
    run = await _prepared(VALUES)
    run.broker.before = [_lost] * 50
    pauses = iter(range(50))

    def jitter() -> float:
        if next(pauses) == 2:
            run.watcher.stop.set()
            return 1_000_000.0
        return 0.0

    loop = PartitionLoop(
        run.broker,
        OF,
        run.copier,
        run.watcher,
        batch_records=4,
        batch_wait=0,
        monotonic=lambda: 0.0,
        random=jitter,
    )
    async with asyncio.timeout(DEADLINE):
        await loop.run(run.watcher.stop)
    assert run.watcher.failures == 3
    assert run.output == []


async def test_a_cut_off_loop_has_ended_applying() -> None:
    """A loop that is cancelled while it applies ends only when that is done: the state is then the next one's."""
    run = await _prepared(VALUES)
    begun, go_on = threading.Event(), threading.Event()

    def applied(batch: Batch, _ends: Ends) -> None:
        begun.set()
        go_on.wait(60)
        run.copier.state += [message.value or b"" for message in batch.messages]

    run.copier.applied = applied  # type: ignore[method-assign]
    running = asyncio.create_task(run.loop.run(run.watcher.stop))
    await asyncio.to_thread(begun.wait, 60)
    running.cancel()
    done, _ = await asyncio.wait({running}, timeout=0.05)
    assert not done
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert run.copier.state == run.output == VALUES[:4]
