"""All committed output of a deployment, and how it differs from what must have come out."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import msgspec

from stream_dedup.core.decider import Decider
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.rules import Rules
from stream_dedup.core.sketch import Submission
from stream_dedup.core.verdict import VERDICT_OF, Verdict
from stream_dedup.kafka.client import KafkaBroker
from stream_dedup.kafka.fingerprint_stage import FingerprintStage, HandoverTopics, Reading
from stream_dedup.kafka.memory import MemoryBroker
from stream_dedup.kafka.records import clean_headers, decode_handover, evidence, partition_for
from stream_dedup.kafka.topics import TopicNames
from stream_dedup.kafka.transport import Headers, Input, Message, Record
from tests.flow.differences import Difference
from tests.flow.differences import Kind as Differing
from tests.flow.workers import DEADLINE


def position_of(raw: Record) -> str:
    """A raw record's place, as `dedup-position` names it."""
    return f"{raw.topic}-{raw.partition}-{raw.offset}"


def header(headers: Headers, name: str) -> str:
    """The value of a header, an empty string where there is none."""
    return next((value.decode() for key, value in headers if key == name and value is not None), "")


async def read_topic(broker: KafkaBroker, topic: str) -> list[Record]:
    """Every committed record of a topic, as of now."""
    records: list[Record] = []
    for partition in range(await broker.partitions(topic)):
        bounds = await broker.bounds(topic, partition)
        source = await broker.source(topic, partition, bounds.start)
        while source.position < bounds.end:
            records += await source.fetch(10_000, 1.0)
        await source.close()
    return records


async def read_outputs(broker: KafkaBroker, topics: TopicNames) -> list[Record]:
    """Every committed record of the three outputs, in order of `dedup-sequence`."""
    records = [record for topic in topics.outputs for record in await read_topic(broker, topic)]
    return sorted(records, key=lambda record: int(header(record.headers, "dedup-sequence") or -1))


async def wait_for_outputs(broker: KafkaBroker, topics: TopicNames, partitions: int, count: int) -> None:
    """Wait until the outputs, of so many partitions each, hold at least so many committed records.

    Nothing is asked but for records: brokers may be away meanwhile.
    """
    async with contextlib.AsyncExitStack() as stack:
        sources = []
        for topic, partition in product(topics.outputs, range(partitions)):
            source = await broker.source(topic, partition, 0)
            stack.push_async_callback(source.close)
            sources.append(source)
        found = 0
        async with asyncio.timeout(DEADLINE + count / 50):
            while found < count:
                fetches = await asyncio.gather(*(source.fetch(10_000, 0.2) for source in sources))
                found += sum(map(len, fetches))


@dataclass(frozen=True, slots=True)
class Oracle:
    """What an undisturbed run gives in the same order, one article at a time."""

    topics: TopicNames
    reading: Reading
    rules: Rules
    partitions: int
    """Of the outputs."""
    raw_topic_id: str

    def decided(self, raw: Sequence[Record], positions: Sequence[str], end: int) -> tuple[list[Message], Decider]:
        """The output messages for the raw records at these positions, in this order, and the state after them.

        Args:
            raw: all raw records.
            positions: of the records in the order in which they were decided.
            end: the decide stage's position after the last one.
        """
        stage = FingerprintStage(MemoryBroker(), Input("", "", 0), HandoverTopics("", ""), self.reading, _wall_clock)
        by_position = {position_of(record): record for record in raw}
        decider = Decider(self.rules, estimated_jaccard)
        messages = []
        for sequence, position in enumerate(positions):
            record = by_position[position]
            (fingerprinted,) = stage.process([record]).messages
            handover = msgspec.structs.replace(
                decode_handover(Record("", 0, 0, 0, None, None, fingerprinted.headers)), raw_topic_id=self.raw_topic_id
            )
            submission = Submission(handover.raw_position, handover.id, handover.time, handover.content)
            decision = decider.decide([submission], end if sequence == len(positions) - 1 else sequence + 1)
            decider.apply(decision.delta)
            (judgement,) = decision.judgements
            messages.append(
                Message(
                    self._topic(VERDICT_OF[judgement.kind]),
                    partition_for(record.key, record.partition, self.partitions),
                    record.timestamp,
                    record.key,
                    record.value,
                    (*clean_headers(fingerprinted.headers), *evidence(judgement, handover)),
                )
            )
        return messages, decider

    def _topic(self, verdict: Verdict) -> str:
        return dict(zip(Verdict, self.topics.outputs, strict=True))[verdict]


def decided_positions(outputs: Sequence[Record]) -> list[str]:
    """Which raw record each output is of."""
    return [header(record.headers, "dedup-position") for record in outputs]


def count_differences(raw: Sequence[Record], outputs: Sequence[Record]) -> list[Difference]:
    """How the outputs differ from exactly one record for each raw one, in one order without a gap."""
    positions = decided_positions(outputs)
    wanted = {position_of(record) for record in raw}
    found = [Difference(Differing.LOST, f"missing: {position}") for position in sorted(wanted - set(positions))]
    found += [Difference(Differing.EXTRA, f"repeated: {one}") for one, times in Counter(positions).items() if times > 1]
    found += [Difference(Differing.EXTRA, f"unknown: {position}") for position in sorted(set(positions) - wanted)]
    sequences = [int(header(record.headers, "dedup-sequence")) for record in outputs]
    if sequences != list(range(len(outputs))):
        found.append(Difference(Differing.DIFFERENT, f"sequences are not 0 to {len(outputs) - 1} without a gap"))
    return found


def content_differences(outputs: Sequence[Record], expected: Sequence[Message]) -> list[Difference]:
    """How the outputs differ from as many messages, in everything that a reader gets."""
    found = []
    for record, message in zip(outputs, expected, strict=True):
        came = Message(record.topic, record.partition, record.timestamp, record.key, record.value, record.headers)
        if came != message:
            where = header(record.headers, "dedup-position")
            found.append(Difference(Differing.DIFFERENT, f"{where}: {_shown(came)} instead of {_shown(message)}"))
    return found


def _shown(message: Message) -> str:
    return f"{message.topic}-{message.partition} {message.headers} {message.timestamp} {message.key!r}"


def _wall_clock() -> int:
    return time.time_ns() // 1_000_000
