"""Resetting a deployment that its stages refuse to go on with: looking, planning, and carrying the plan out.

Everything is written as the stages write it, under their transactional ids, so that a worker taken for dead is
fenced. A reset that breaks off leaves behind what no worker goes on with: running it again is the way out.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from stream_dedup.core.candidates import Similarity
from stream_dedup.core.rules import Rules
from stream_dedup.core.verdict import Kind
from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.changelog import encode_record
from stream_dedup.kafka.positions import TopicIds
from stream_dedup.kafka.raw_progress import last_change, last_record, read_progress, waiting
from stream_dedup.kafka.replica import Replica
from stream_dedup.kafka.reset_plan import FirstRecord, Plan, Standing, keeping_the_index, with_an_empty_index
from stream_dedup.kafka.restore import restore
from stream_dedup.kafka.transport import Bounds, Broker, Input, Message

T = TypeVar("T")

SEQUENCE = "dedup-sequence"
"""The header that tells an output's place in the total order."""


class Edge(StrEnum):
    """Places of a log that need no further knowledge of it."""

    EARLIEST = "earliest"
    LATEST = "latest"
    COMMITTED = "committed"
    """Where the groups' offsets stand."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The first record with this timestamp or a later one."""

    time: int
    """ms since the epoch."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is reset."""

    fingerprint_group: str
    decide: Input
    raw: str
    changelog: str
    outputs: Sequence[str]
    rules: Rules
    routes: Mapping[Kind, str]

    def raw_input(self, partition: int) -> Input:
        """A raw partition, as the fingerprint stage takes it."""
        return Input(self.fingerprint_group, self.raw, partition)


async def plan_with_the_index(
    broker: Broker, of: Deployment, similarity: Similarity, progressed: Callable[[], None]
) -> Plan:
    """Go on where the changelog says that reading ended; it is read whole, so that nothing stands on a broken one.

    Raises:
        LogRefusedError: the index cannot be restored from the changelog.
    """
    replica = Replica(of.rules, similarity)
    await restore(broker, of.changelog, replica, progressed)
    if replica.last is None:
        raise LogRefusedError(
            f"{of.changelog} is empty: there is no index to go on with. Choose another place: --from committed goes on "
            "where the groups' offsets stand, and articles from before are no longer known"
        )
    standing = await look(broker, of)
    log, position = standing.fingerprinted, replica.decider.position
    come = None
    if replica.last.input_id == standing.ids.fingerprinted and log.start <= position <= log.end:
        come = await waiting(broker, of.decide.topic, replica.raw, position)
    return keeping_the_index(standing, replica.last, come, len(replica.decider), await _next_sequence(broker, of))


async def plan_without_the_index(broker: Broker, of: Deployment, place: Edge | Moment) -> Plan:
    """Begin with an empty index at a chosen place."""
    standing = await look(broker, of)
    position = standing.fingerprinted.end
    if place is Edge.COMMITTED:
        offset = (await broker.committed(of.decide.group, of.decide.topic)).get(of.decide.partition, position)
        position = min(max(offset, standing.fingerprinted.start), position)
    chosen = {partition: await _offset(broker, of, place, partition, log) for partition, log in standing.raw.items()}
    first = FirstRecord(await _next_sequence(broker, of), of.rules, of.routes)
    ended = await _readable(read_progress(broker, of.decide.topic, of.changelog))
    return with_an_empty_index(standing, ended, chosen, position, first)


async def look(broker: Broker, of: Deployment) -> Standing:
    """What the topics hold."""
    raw = {partition: await broker.bounds(of.raw, partition) for partition in range(await broker.partitions(of.raw))}
    ids = TopicIds(await broker.topic_id(of.raw), await broker.topic_id(of.decide.topic))
    return Standing(ids, raw, await broker.bounds(of.decide.topic, of.decide.partition))


async def carry_out(broker: Broker, of: Deployment, plan: Plan, wall_clock: Callable[[], int]) -> None:
    """Do what was planned, with no worker running.

    Raises:
        FencedError: a worker has started meanwhile.
        TransactionFailedError: the broker did not answer; run the reset again.
    """
    standing = await look(broker, of)
    # An offset beyond what the changelog knows is what the decide stage refuses: nobody goes on with half a reset.
    await _commit(broker, of.decide, (), max(plan.position, plan.record.delta.start, standing.fingerprinted.end) + 1)
    for step in plan.raw:
        await _commit(broker, of.raw_input(step.partition), (), step.next, str(standing.ids))
    if plan.empties:
        await broker.delete_before(of.changelog, 0, (await broker.bounds(of.changelog, 0)).end)
        await broker.delete_before(of.decide.topic, of.decide.partition, plan.position)
    event = Message(of.changelog, 0, wall_clock(), None, encode_record(plan.record))
    await _commit(broker, of.decide, (event,), plan.position)


async def _commit(broker: Broker, of: Input, messages: Sequence[Message], offset: int, mark: str = "") -> None:
    transactions = broker.transactions(of)
    try:
        await transactions.start()
        await transactions.commit(messages, offset, mark)
    finally:
        await transactions.close()


async def _offset(broker: Broker, of: Deployment, place: Edge | Moment, partition: int, log: Bounds) -> int:
    match place:
        case Edge.EARLIEST:
            return log.start
        case Edge.LATEST:
            return log.end
        case Edge.COMMITTED:
            offset = (await broker.committed(of.fingerprint_group, of.raw)).get(partition, log.start)
            return min(max(offset, log.start), log.end)
        case Moment(time):
            return await broker.offset_at(of.raw, partition, time)


async def _next_sequence(broker: Broker, of: Deployment) -> int:
    """The place in the total order after the last one that was given, as far as changelog and outputs tell."""
    last = await _readable(last_change(broker, of.changelog))
    sequence = 0 if last is None else last.delta.sequence
    for topic in of.outputs:
        for partition in range(await broker.partitions(topic)):
            record = await last_record(broker, topic, partition)
            given = dict(record.headers).get(SEQUENCE) if record is not None else None
            if given is not None and given.isdigit():
                sequence = max(sequence, int(given) + 1)
    return sequence


async def _readable(reading: Awaitable[T]) -> T | None:
    """What can be read; None where the internal topics contradict themselves, which is why they are left."""
    try:
        return await reading
    except LogRefusedError:
        return None
