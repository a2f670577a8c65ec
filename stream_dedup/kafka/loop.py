"""The transactional loop: a batch of records in, one transaction with its outputs and offset out, then apply.

Both stages are this loop around another `Processor`. One session is one ownership of the transactional id:

    take the id (fences whoever had it) -> committed offset -> processor.open (restore) -> processor.opening, commit
    -> read from there
    then per batch:  fetch -> process -> commit -> applied

What is committed is applied, nothing else, in order. After any failure inside a transaction the batch, the producer
and the reader are thrown away and a new session begins from what is committed.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import structlog

from stream_dedup.core.verdict import Kind, Verdict
from stream_dedup.errors import OffsetGoneError, RecordTooLargeError, TopicSettingsError, TransactionFailedError
from stream_dedup.kafka.observer import CommittedBatch, Observer, Stage
from stream_dedup.kafka.records import size_of
from stream_dedup.kafka.threads import in_thread
from stream_dedup.kafka.transport import Broker, Ends, Input, Message, Record, Source, Transactions

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds between sessions after failures, doubling, with full jitter."""
SLOW_STEPS = 100
"""Batches in which a width grows from nothing to the widest where it grows slowly: some seconds of a busy stage."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Batch:
    """What a processor made of a batch of records: to be committed as one."""

    messages: Sequence[Message]
    verdicts: Mapping[tuple[Verdict, Kind], int] = field(default_factory=dict)
    unparsable_times: int = 0
    truncated: int = 0


B = TypeVar("B", bound=Batch)


class Processor(Protocol[B]):
    """What a stage does with records; the loop does the rest."""

    @property
    def stage(self) -> Stage:
        """Which stage it is."""
        ...

    @property
    def mark(self) -> str:
        """What is kept with each offset of a session that is open."""
        ...

    async def open(self, committed: int | None) -> int:
        """Make the state stand where the committed work stands; the offset to read from.

        Raises:
            LogRefusedError: offsets, changelog and logs contradict each other.
        """
        ...

    def opening(self) -> B | None:
        """What must be committed before the first record of a session, such as changed settings; None: nothing."""
        ...

    def process(self, records: Sequence[Record]) -> B:
        """The batch of at least one record; changes nothing. Called outside the event loop's thread."""
        ...

    def refuse(self, record: Record, keep: int) -> B:
        """The batch of a record that the broker refuses for its size: rejected, cut to `keep` bytes."""
        ...

    def applied(self, batch: B, ends: Ends) -> None:
        """The batch is committed, up to `ends`: make it part of the state. Called outside the event loop's thread."""
        ...

    async def tidy(self) -> None:
        """Called between batches, often: housekeeping such as trimming."""
        ...


@dataclass(slots=True)
class _Width:
    """How many records the next batch may take, narrowed to find one that the broker never accepts.

    It grows back as a TCP sender's window does (slow start and congestion avoidance, RFC 5681): fast to half of what
    failed, slowly from there on. What failed for its own size would fail again each time it is tried.
    """

    widest: int
    records: int
    steady: int
    """Up to here it doubles with each batch that is accepted."""
    found: int | None = None
    """The offset of the one, once it is known. A commit whose answer was lost may have passed it by."""
    keep: int = 0
    """Bytes to keep of it."""

    def halve(self, records: int) -> None:
        """A batch of so many records did not commit."""
        self.records = self.steady = max(1, records // 2)

    def narrow(self, refused: Sequence[Record]) -> None:
        """A batch was refused for its size: halve it, or cut its only record to half.

        Raises:
            TopicSettingsError: there is nothing left of the record to cut.
        """
        self.halve(len(refused))
        if len(refused) > 1:
            return
        (record,) = refused
        size = self.keep if self.found == record.offset else size_of(record)
        if not size:
            raise TopicSettingsError(
                f"{record.topic}-{record.partition} offset {record.offset}: what is to be written of it is refused for "
                "its size though nothing of the record is left: raise max.message.bytes of the topics written to"
            )
        self.found, self.keep = record.offset, size // 2

    def widen(self) -> None:
        """A batch was accepted."""
        if self.found is not None:
            self.found, self.steady = None, self.widest  # it was that one record, not how many there were
        step = max(1, self.widest // SLOW_STEPS)
        grown = min(self.steady, self.records * 2) if self.records < self.steady else self.records + step
        self.records = min(self.widest, grown)


class PartitionLoop(Generic[B]):
    """The loop over one input partition."""

    def __init__(
        self,
        broker: Broker,
        of: Input,
        processor: Processor[B],
        observer: Observer,
        *,
        batch_records: int,
        batch_wait: float,
        monotonic: Callable[[], float],
        random: Callable[[], float],
    ) -> None:
        """Prepare; nothing is taken yet.

        Args:
            broker: where the input and the outputs stand.
            of: the input partition.
            processor: what the stage does.
            observer: is told what happens.
            batch_records: records of a batch at most.
            batch_wait: seconds that a fetch waits for a first record; a stop goes unnoticed for as long when idle.
            monotonic: gives seconds.
            random: gives a number from 0 to 1.
        """
        self.of = of
        self._broker = broker
        self._processor = processor
        self._observer = observer
        self._width = _Width(batch_records, batch_records, batch_records)
        self._wait = batch_wait
        self._monotonic = monotonic
        self._random = random

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set, through any number of failed transactions.

        Raises:
            FencedError: another owner has the partition; the id must not be taken again in this assignment.
            LogRefusedError: going on would drop or repeat articles.
            TopicSettingsError: a verdict is refused for its size whatever is left out of the record.
        """
        pause = FIRST_PAUSE
        while not stop.is_set():
            try:
                async with self.session() as session:
                    while not stop.is_set():
                        if await session.step(self._wait):
                            pause = FIRST_PAUSE
            except RecordTooLargeError as error:
                log.warning("looking for the record that is refused", input=self.of.transactional_id, error=str(error))
                self._observer.failed(self._processor.stage, self.of.partition)
            except TransactionFailedError as error:
                log.warning("transaction failed; beginning again", input=self.of.transactional_id, error=str(error))
                self._observer.failed(self._processor.stage, self.of.partition)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause * self._random()):
                        await stop.wait()
                pause = min(LONGEST_PAUSE, pause * 2)

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator["Session[B]"]:
        """One ownership of the transactional id, from taking it to letting it go."""
        transactions = self._broker.transactions(self.of)
        source: Source | None = None
        try:
            await transactions.start()
            # Only now: the id is fenced, so no earlier owner can move the offset any more.
            committed = (await self._broker.committed(self.of.group, self.of.topic)).get(self.of.partition)
            offset = await self._processor.open(committed)
            source = await self._broker.source(self.of.topic, self.of.partition, offset)
            opening = self._processor.opening()
            if opening is not None:
                ends = await transactions.commit(opening.messages, offset, self._processor.mark)
                await in_thread(self._processor.applied, opening, ends)
            self._observer.restored(self._processor.stage, self.of.partition)
            yield Session(self, source, transactions)
        finally:
            # Together, since each may take its whole time limit when the broker is gone.
            await asyncio.gather(*(end.close() for end in (source, transactions) if end is not None))

    async def step(self, source: Source, transactions: Transactions, wait: float) -> bool:
        """One batch; whether there was anything to do."""
        stage, partition, width = self._processor.stage, self.of.partition, self._width
        begun = self._monotonic()
        try:
            records = await source.fetch(width.records, wait)
        except OffsetGoneError as error:
            # A new owner trims what it has decided before this one hears of it. A new session knows what is committed,
            # and refuses to begin where articles were deleted unread.
            raise TransactionFailedError(str(error)) from error
        self._observer.lag(stage, partition, source.waiting + len(records))
        if not records:
            self._observer.progressed(stage, partition)
            await self._processor.tidy()
            return False
        if records[0].offset == width.found:
            batch = self._processor.refuse(records[0], width.keep)
        else:
            batch = await in_thread(self._processor.process, records)
        try:
            ends = await transactions.commit(batch.messages, records[-1].offset + 1, self._processor.mark)
        except RecordTooLargeError:
            width.narrow(records)
            raise
        except TransactionFailedError:
            width.halve(len(records))  # it may have been more than the broker can take in time
            raise
        await in_thread(self._processor.applied, batch, ends)
        width.widen()
        seconds = self._monotonic() - begun
        self._observer.committed(
            CommittedBatch(
                stage, partition, len(records), seconds, batch.verdicts, batch.unparsable_times, batch.truncated
            )
        )
        self._observer.lag(stage, partition, source.waiting)
        await self._processor.tidy()
        return True


@dataclass(frozen=True, slots=True)
class Session(Generic[B]):
    """One ownership of a loop's transactional id."""

    loop: PartitionLoop[B]
    source: Source
    transactions: Transactions

    async def step(self, wait: float) -> bool:
        """One batch; whether there was anything to do within `wait` seconds."""
        return await self.loop.step(self.source, self.transactions, wait)
