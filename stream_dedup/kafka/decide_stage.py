"""The decide stage: one owner, one total order. It keeps the index, and writes each verdict with its evidence.

One transaction holds a batch's outputs, one changelog record, one statistics record and the consumed offset.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from stream_dedup.core.decider import Decider
from stream_dedup.core.delta import Delta
from stream_dedup.core.sketch import SetAside, Submission
from stream_dedup.core.verdict import Judgement, Kind
from stream_dedup.core.window import EventClock
from stream_dedup.errors import BrokerRefusedError, TransactionFailedError
from stream_dedup.kafka.changelog import ChangelogRecord, RawProgress, encode_record
from stream_dedup.kafka.loop import Batch
from stream_dedup.kafka.observer import Observer, Stage
from stream_dedup.kafka.points import Point, Reached, pass_by
from stream_dedup.kafka.positions import check_input, decide_start
from stream_dedup.kafka.raw_progress import handed_over
from stream_dedup.kafka.records import Handover, clean_headers, cut, decode_handover, evidence, partition_for
from stream_dedup.kafka.replica import Replica
from stream_dedup.kafka.restore import restore
from stream_dedup.kafka.statistics_record import Counted, count_kinds, summarise
from stream_dedup.kafka.transport import Broker, Ends, Input, Message, Record

TIDY_EVERY = 10.0
"""Seconds between two rounds of trimming; each costs two requests to the broker."""
TIDY_TIMEOUT = 2.0
"""Seconds that a round may hold up deciding: a broker deletes only when all replicas have, and one may be down."""

CROWD = 20_000
"""Entries in one block that are told of, and then each time that they have doubled. Evenly spread, five million entries
are 76 in each; a lookup compares so many in some 20 us."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the decide stage writes to."""

    routes: Mapping[Kind, str]
    """The topic of each kind."""
    changelog: str
    statistics: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedBatch(Batch):
    """A decided batch, and what it changes once it is committed."""

    record: ChangelogRecord


class DecideStage:
    """The processor of the decide stage's one partition."""

    stage = Stage.DECIDE

    def __init__(
        self,
        broker: Broker,
        of: Input,
        outputs: Outputs,
        *,
        replica: Replica,
        observer: Observer,
        wall_clock: Callable[[], int],
        monotonic: Callable[[], float],
        reached: Reached = pass_by,
    ) -> None:
        """Nothing is restored yet.

        Args:
            broker: where all topics stand.
            of: the input partition.
            outputs: where to write to.
            replica: what is known of the changelog; it outlives a lost ownership.
            observer: is told what happens.
            wall_clock: gives ms since the epoch.
            monotonic: gives seconds.
            reached: is called after each slice of a restore.
        """
        self._broker = broker
        self._of = of
        self._outputs = outputs
        self._replica = replica
        self._observer = observer
        self._wall_clock = wall_clock
        self._monotonic = monotonic
        self._reached = reached
        self._partitions: dict[str, int] = {}
        self._input_id = ""  # of the topic that positions are of
        self._tidied = monotonic()
        self._crowd = CROWD // 2  # told of last, in entries

    @property
    def mark(self) -> str:
        """Nothing: the changelog tells more."""
        return ""

    @property
    def decider(self) -> Decider:
        """The state of deciding."""
        return self._replica.decider

    async def open(self, committed: int | None) -> int:
        """Restore the index up to the changelog's end; the offset to read from."""
        topics = {*self._outputs.routes.values()}
        self._partitions = {topic: await self._broker.partitions(topic) for topic in sorted(topics)}
        replica = self._replica
        had = replica.offset
        changelog_bounds = await restore(self._broker, self._outputs.changelog, replica, self._progressed)
        self._input_id = await self._broker.topic_id(self._of.topic)
        log_bounds = await self._broker.bounds(self._of.topic, self._of.partition)
        if replica.last is not None:
            check_input(self._of, replica.last.input_id, self._input_id)
        restored = None if replica.last is None else replica.decider.position
        start = decide_start(self._of, restored, committed, log_bounds, changelog_bounds)
        if start.warning is not None:
            log.warning(start.warning)
        log.info("index restored", entries=len(self.decider), changelog_from=had, changelog_to=replica.offset)
        self._observer.index_size(len(self.decider), self.decider.largest_block)
        return start.offset

    def opening(self) -> DecidedBatch | None:
        """The event of changed settings, where the last batch was decided under others."""
        rules, before = self._replica.rules, self._replica.routes
        if before is None:
            return None
        changes = rules.changes(self.decider.rules) | {
            f"topic of {kind}": f"{before.get(kind)} -> {topic}"
            for kind, topic in self._outputs.routes.items()
            if before.get(kind) != topic
        }
        if not changes:
            return None
        log.warning("settings have changed since the last article; they hold from here on", **changes)
        record = self._record(self.decider.change(rules), self._replica.raw)
        return DecidedBatch([self._changelog_message(record, self._wall_clock())], record=record)

    def _progressed(self) -> None:
        self._observer.progressed(self.stage, self._of.partition)
        self._reached(Point.RESTORING, self._of)

    def process(self, records: Sequence[Record]) -> DecidedBatch:
        """Decide a batch."""
        handovers = [decode_handover(record) for record in records]
        submissions = [
            Submission(handover.raw_position, handover.id, handover.time, handover.content) for handover in handovers
        ]
        return self._decide(records, handovers, submissions)

    def refuse(self, record: Record, keep: int) -> DecidedBatch:
        """The record as rejected, cut so that the broker takes it."""
        handover = decode_handover(record)
        shorter, reason = cut(replace(record, headers=clean_headers(record.headers)), keep)
        submission = Submission(handover.raw_position, handover.id, handover.time, SetAside(Kind.UNREADABLE, reason))
        return self._decide([shorter], [handover], [submission])

    def _decide(
        self, records: Sequence[Record], handovers: Sequence[Handover], submissions: Sequence[Submission]
    ) -> DecidedBatch:
        decision = self.decider.decide(submissions, records[-1].offset + 1)
        judged = list(zip(records, handovers, decision.judgements, strict=True))
        now = self._wall_clock()
        counted = [
            Counted(judgement.verdict, judgement.kind, handover.source, handover.language)
            for _, handover, judgement in judged
        ]
        statistics = summarise(
            counted,
            first_sequence=decision.judgements[0].sequence,
            decided=now,
            clock=EventClock(decision.delta.clock).now,
            index_entries=len(self.decider) + sum(map(len, decision.delta.entries)),
        )
        messages = [self._output(*each) for each in judged]
        record = self._record(decision.delta, handed_over(self._replica.raw, handovers))
        messages.append(self._changelog_message(record, now))
        messages.append(Message(self._outputs.statistics, 0, now, None, statistics.encode()))
        unparsable = sum(handover.time_unparsable for handover in handovers)
        return DecidedBatch(messages, count_kinds(counted), unparsable, decision.truncated, record=record)

    def _record(self, delta: Delta, raw: RawProgress) -> ChangelogRecord:
        return ChangelogRecord(delta, self._outputs.routes, self._input_id, raw)

    def _changelog_message(self, record: ChangelogRecord, now: int) -> Message:
        return Message(self._outputs.changelog, 0, now, None, encode_record(record))

    def _output(self, record: Record, handover: Handover, judgement: Judgement) -> Message:
        topic = self._outputs.routes[judgement.kind]
        partition = partition_for(record.key, handover.raw_partition, self._partitions[topic])
        headers = (*clean_headers(record.headers), *evidence(judgement, handover))
        return Message(topic, partition, handover.raw_timestamp, record.key, record.value, headers)

    def applied(self, batch: DecidedBatch, ends: Ends) -> None:
        """The batch is committed: apply its delta."""
        self._replica.committed(batch.record, ends[self._outputs.changelog, 0])

    async def tidy(self) -> None:
        """Trim the changelog by what has left the index, and the input by what is decided."""
        self._observer.index_size(len(self.decider), self.decider.largest_block)
        self._tell_of_crowds()
        if self._monotonic() - self._tidied < TIDY_EVERY:
            return
        self._tidied = self._monotonic()
        self._replica.outlive()
        try:
            async with asyncio.timeout(TIDY_TIMEOUT):
                await self._trim()
        except (TransactionFailedError, BrokerRefusedError, TimeoutError) as error:
            log.warning("what is decided could not be deleted; trying again later", error=repr(error))

    def _tell_of_crowds(self) -> None:
        crowd = self.decider.largest_block
        if crowd >= 2 * self._crowd:
            self._crowd = crowd
            log.warning(
                "many articles share one block of their fingerprints, and a lookup there compares them all: "
                "somebody may publish one text over and over with small changes",
                largest_block=crowd,
                entries=len(self.decider),
            )

    async def _trim(self) -> None:
        if self._replica.outlived is not None:
            await self._broker.delete_before(self._outputs.changelog, 0, self._replica.outlived)
            self._replica.outlived = None
        await self._broker.delete_before(self._of.topic, self._of.partition, self.decider.position)
