"""What a worker refuses to go on with, and what a reset makes of it: one row for each row of docs/guarantees.md."""

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.verdict import VERDICT_OF, Kind
from stream_dedup.errors import LogRefusedError, TransactionFailedError
from stream_dedup.kafka.memory import MemoryBroker, MemoryTransactions
from stream_dedup.kafka.replica import Replica
from stream_dedup.kafka.reset import (
    Deployment,
    Edge,
    Moment,
    carry_out,
    plan_with_the_index,
    plan_without_the_index,
)
from stream_dedup.kafka.reset_plan import Plan
from stream_dedup.kafka.restore import restore
from stream_dedup.kafka.transport import Ends, Input, Message
from stream_dedup.testing import CHANGELOG, FINGERPRINTED, OUTPUTS, RAW, StreamDriver, Trial

FINGERPRINT, DECIDE = Input("trial.fingerprint", RAW, 0), Input("trial.decide", FINGERPRINTED, 0)
NOW = 1_700_000_000_000
READ = 4
"""Articles that are decided before something happens; two more wait, one of them fingerprinted."""


def _text(number: int) -> str:
    return " ".join(f"w{number * 100 + word}" for word in range(12))


def _pipe(driver: StreamDriver, number: int) -> None:
    driver.pipe({"id": f"{number}", "text": _text(number)}, timestamp=NOW + number)


def _only_fingerprint(driver: StreamDriver) -> None:
    loops = driver._loops  # noqa: SLF001 - nobody else stops half-way
    driver._loops = loops[:-1]  # noqa: SLF001
    driver.read()
    driver._loops = loops  # noqa: SLF001


@pytest.fixture
def driver() -> Iterator[StreamDriver]:
    """Articles 0 to 3 are decided, 4 is fingerprinted and waits, 5 is not read yet."""
    with StreamDriver(Trial(partitions=1, batch_records=1), now=NOW) as driver:
        for number in range(READ):
            _pipe(driver, number)
        driver.read()
        _pipe(driver, READ)
        _only_fingerprint(driver)
        _pipe(driver, READ + 1)
        driver.restart()
        yield driver


def _deployment(driver: StreamDriver) -> Deployment:
    return Deployment(
        fingerprint_group=FINGERPRINT.group,
        decide=DECIDE,
        raw=RAW,
        changelog=CHANGELOG,
        outputs=tuple(OUTPUTS.values()),
        rules=driver.trial.rules(),
        routes={kind: OUTPUTS[VERDICT_OF[kind]] for kind in Kind},
    )


def _plan(driver: StreamDriver, place: str | Edge | Moment) -> Plan:
    of = _deployment(driver)
    if isinstance(place, str) and place == "changelog":
        return asyncio.run(plan_with_the_index(driver.broker, of, estimated_jaccard, lambda: None))
    assert isinstance(place, Edge | Moment)
    return asyncio.run(plan_without_the_index(driver.broker, of, place))


def _reset(driver: StreamDriver, plan: Plan) -> None:
    asyncio.run(carry_out(driver.broker, _deployment(driver), plan, lambda: NOW))


@dataclass(frozen=True, slots=True)
class Refused:
    """What happened, what the worker says, and what comes of the reset that it names."""

    fault: Callable[[MemoryBroker], object]
    says: str
    place: str | Edge
    """That the sentence names; from the changelog the index is kept, too."""
    come: tuple[int, ...] = (4, 5)
    """The articles that come out after the reset."""
    again: int = 0
    left_out: int = 0


def _make_anew(topic: str, articles: int = 0) -> Callable[[MemoryBroker], object]:
    def make(broker: MemoryBroker) -> None:
        broker.create_topic(topic, 1)
        for number in range(articles):
            value = f'{{"id": "anew", "text": "{_text(90 + number)}"}}'.encode()
            broker.log(topic, 0).append(Message(topic, 0, NOW, None, value))

    return make


def _cut_end(topic: str, end: int) -> Callable[[MemoryBroker], object]:
    def cut(broker: MemoryBroker) -> None:
        log = broker.log(topic, 0)
        log.records = [record for record in log.records if record.offset < end]
        log.end = end

    return cut


def _spoil(value: bytes) -> Callable[[MemoryBroker], object]:
    def spoil(broker: MemoryBroker) -> None:
        records = broker.log(CHANGELOG, 0).records
        records[1] = replace(records[1], value=value)

    return spoil


def _cut_start(topic: str, start: int) -> Callable[[MemoryBroker], object]:
    return lambda broker: asyncio.run(broker.delete_before(topic, 0, start))


WAY_OUT = {
    "raw offset lost or expired": Refused(lambda b: b.lose_committed(FINGERPRINT), "has no committed", "changelog"),
    "raw offset set back by a tool": Refused(lambda b: b.set_committed(FINGERPRINT, 1), "repeated", "changelog"),
    "raw offset set forward by a tool": Refused(lambda b: b.set_committed(FINGERPRINT, 6), "left out", "changelog"),
    "raw topic made anew": Refused(_make_anew(RAW, 2), "was made anew", "changelog", (4, 90, 91)),
    "raw articles deleted unread": Refused(
        _cut_start(RAW, 6), "1 offsets were deleted unread", "changelog", (4,), left_out=1
    ),
    "raw log has lost its end": Refused(_cut_end(RAW, 3), "has lost its end", "changelog", (4,), again=2),
    "fingerprinted topic made anew": Refused(_make_anew(FINGERPRINTED), "those that waited", "changelog"),
    "undecided articles deleted": Refused(_cut_start(FINGERPRINTED, 100), "offsets were deleted unread", "changelog"),
    "fingerprinted log has lost its end": Refused(_cut_end(FINGERPRINTED, 2), "has lost its end", "changelog"),
    "changelog has lost its end": Refused(_cut_end(CHANGELOG, 5), "last records were lost", "changelog", (3, 4, 5)),
    "changelog record torn": Refused(_spoil(b"\x04torn"), "is damaged", Edge.COMMITTED),
    "changelog record foreign": Refused(_spoil(b"hello"), "has format 104", Edge.COMMITTED),
    "changelog record missing": Refused(
        lambda b: b.log(CHANGELOG, 0).records.pop(1), "chain .* is broken", Edge.COMMITTED
    ),
    "changelog made anew": Refused(_make_anew(CHANGELOG), "the index was lost", Edge.COMMITTED),
}


@pytest.mark.parametrize("row", WAY_OUT.values(), ids=list(WAY_OUT))
def test_what_is_refused_names_the_reset_that_mends_it(driver: StreamDriver, row: Refused) -> None:
    """The worker ends with a sentence; after the reset that it names each article comes out as the plan has told."""
    row.fault(driver.broker)
    with pytest.raises(LogRefusedError, match=f"(?s){row.says}.*stream-dedup reset --from {row.place}"):
        driver.read()
    driver.restart()
    plan = _plan(driver, row.place)
    assert (sum(step.again for step in plan.raw), sum(step.left_out for step in plan.raw)) == (row.again, row.left_out)
    _reset(driver, plan)
    driver.pipe({"id": "repeat", "text": _text(1)})
    outputs = driver.read()
    texts = [_number(output.record.value) for output in outputs]
    assert texts == [*row.come, 1]
    assert outputs[-1].header("dedup-kind") == (Kind.EXACT if row.place == "changelog" else Kind.NEW)
    assert [output.sequence for output in outputs] == list(range(plan.record.delta.sequence, outputs[-1].sequence + 1))


def _number(value: bytes | None) -> int:
    return int((value or b"").partition(b'"text":')[2].split(b"w")[1].split()[0]) // 100


def test_the_documentation_tells_of_each() -> None:
    """By its name, with the command that mends it."""
    page = (Path(__file__).parents[2] / "docs" / "guarantees.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| `--from (\w+)` \|", page, re.MULTILINE)
    assert dict(rows) == {name: str(row.place) for name, row in WAY_OUT.items()}


@pytest.mark.parametrize(
    ("place", "come", "again", "left_out"),
    [
        pytest.param(Edge.EARLIEST, [0, 1, 2, 3, 4, 5], 5, 0, id="all again"),
        pytest.param(Edge.LATEST, [], 0, 1, id="nothing of before"),
        pytest.param(Edge.COMMITTED, [4, 5], 0, 0, id="where the groups' offsets stand"),
        pytest.param(Moment(NOW + 2), [2, 3, 4, 5], 3, 0, id="from a time on"),
        pytest.param(Moment(NOW + 99), [], 0, 1, id="from a time after all"),
    ],
)
def test_a_place_is_chosen(
    driver: StreamDriver, place: Edge | Moment, come: list[int], again: int, left_out: int
) -> None:
    """With an empty index: what came before is no longer known, and the sequence goes on."""
    plan = _plan(driver, place)
    (step,) = plan.raw
    assert (step.again, step.left_out, plan.empties) == (again, left_out, True)
    _reset(driver, plan)
    driver.pipe({"id": "new", "text": _text(50)})
    outputs = driver.read()
    assert [_number(output.record.value) for output in outputs] == [*come, 50]
    assert {output.header("dedup-kind") for output in outputs} == {"new"}
    assert outputs[0].sequence == READ


def test_the_index_is_not_kept_where_it_is_empty(driver: StreamDriver) -> None:
    """There is another way, which the sentence names."""
    _make_anew(CHANGELOG)(driver.broker)
    with pytest.raises(LogRefusedError, match=r"is empty: .* --from committed"):
        _plan(driver, "changelog")


@pytest.mark.parametrize("place", ["changelog", Edge.EARLIEST])
@pytest.mark.parametrize("step", range(4))
def test_nobody_goes_on_with_half_a_reset(
    driver: StreamDriver, monkeypatch: pytest.MonkeyPatch, place: str | Edge, step: int
) -> None:
    """Broken off anywhere, it leaves what the decide stage refuses; run again, it ends what it began."""
    plan, begun = _plan(driver, place), list[int]()
    commit, delete = MemoryTransactions.commit, driver.broker.delete_before

    async def failing(own: MemoryTransactions, messages: tuple[Message, ...], offset: int, mark: str = "") -> Ends:
        _count()
        return await commit(own, messages, offset, mark)

    async def failing_too(topic: str, partition: int, offset: int) -> None:
        _count()
        await delete(topic, partition, offset)

    def _count() -> None:
        begun.append(1)
        if len(begun) == step + 2:
            raise TransactionFailedError("no answer")

    with monkeypatch.context() as patched:
        patched.setattr(MemoryTransactions, "commit", failing)
        patched.setattr(driver.broker, "delete_before", failing_too)
        if plan.empties or step < 2:
            with pytest.raises(TransactionFailedError):
                _reset(driver, plan)
            with pytest.raises(LogRefusedError):
                driver.read()
    driver.restart()
    _reset(driver, plan)
    assert [_number(output.record.value) for output in driver.read()][-1] == 5


def test_the_plan_tells_how_much_is_kept(driver: StreamDriver) -> None:
    """And the index after the reset is the one from before."""
    replica = Replica(driver.trial.rules(), estimated_jaccard)
    asyncio.run(restore(driver.broker, CHANGELOG, replica, lambda: None))
    plan = _plan(driver, "changelog")
    assert (plan.entries, plan.undecided) == (READ, 0)
    before = replica.decider.digest()
    _reset(driver, plan)
    asyncio.run(restore(driver.broker, CHANGELOG, replica, lambda: None))
    assert replica.decider.digest() == before
