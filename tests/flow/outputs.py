"""All committed output of a deployment, and how it differs from what must have come out."""

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stream_dedup.core.decider import Decider
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.rules import Rules
from stream_dedup.core.sketch import Submission
from stream_dedup.core.verdict import VERDICT_OF, Verdict
from stream_dedup.kafka.client import KafkaBroker
from stream_dedup.kafka.fingerprint_stage import FingerprintStage, Reading
from stream_dedup.kafka.memory import MemoryBroker
from stream_dedup.kafka.records import clean_headers, decode_handover, evidence, partition_for
from stream_dedup.kafka.topics import TopicNames
from stream_dedup.kafka.transport import Headers, Input, Message, Record
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


async def wait_for_outputs(broker: KafkaBroker, topics: TopicNames, count: int) -> None:
    """Wait until the outputs hold at least so many committed records."""
    partitions = [(topic, number) for topic in topics.outputs for number in range(await broker.partitions(topic))]
    async with contextlib.AsyncExitStack() as stack:
        sources = []
        for topic, partition in partitions:
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

    def expected(self, raw: Sequence[Record], positions: Sequence[str]) -> list[Message]:
        """The output messages for the raw records at these positions, in this order."""
        stage = FingerprintStage(MemoryBroker(), Input("", "", 0), "", self.reading, _wall_clock)
        by_position = {position_of(record): record for record in raw}
        decider = Decider(self.rules, estimated_jaccard)
        messages = []
        for sequence, position in enumerate(positions):
            record = by_position[position]
            (fingerprinted,) = stage.process([record]).messages
            handover = decode_handover(Record("", 0, 0, 0, None, None, fingerprinted.headers))
            submission = Submission(handover.position, handover.id, handover.time, handover.content)
            decision = decider.decide([submission], sequence + 1)
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
        return messages

    def _topic(self, verdict: Verdict) -> str:
        return dict(zip(Verdict, self.topics.outputs, strict=True))[verdict]


def differences(raw: Sequence[Record], outputs: Sequence[Record], oracle: Oracle) -> list[str]:
    """How the outputs differ from exactly one right record for each raw one; empty when they do not."""
    positions = [header(record.headers, "dedup-position") for record in outputs]
    wanted = {position_of(record) for record in raw}
    found = [f"missing: {position}" for position in sorted(wanted - set(positions))]
    found += [f"repeated: {position}" for position, times in _counts(positions).items() if times > 1]
    found += [f"unknown: {position}" for position in sorted(set(positions) - wanted)]
    sequences = [int(header(record.headers, "dedup-sequence")) for record in outputs]
    if sequences != list(range(len(outputs))):
        found.append(f"sequences are not 0 to {len(outputs) - 1} without a gap")
    if found:
        return found
    for record, message in zip(outputs, oracle.expected(raw, positions), strict=True):
        came = Message(record.topic, record.partition, record.timestamp, record.key, record.value, record.headers)
        if came != message:
            found.append(f"{header(record.headers, 'dedup-position')}: {_shown(came)} instead of {_shown(message)}")
    return found


def _counts(positions: Sequence[str]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for position in positions:
        counts[position] = counts.get(position, 0) + 1
    return counts


def _shown(message: Message) -> str:
    return f"{message.topic}-{message.partition} {message.headers} {message.timestamp} {message.key!r}"


def _wall_clock() -> int:
    return time.time_ns() // 1_000_000
