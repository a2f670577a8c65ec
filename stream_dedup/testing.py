"""StreamDriver: the whole filter without a broker, for tests of one's own.

The same stages, loop and codecs as in production, on the in-memory transport and with a clock that only moves when
told to.

    with StreamDriver() as driver:
        driver.pipe({"id": "a", "text": "..."})
        (output,) = driver.read()
        assert output.header("dedup-verdict") == "unique"
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeAlias

import msgspec

from stream_dedup.core.article import Fields
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.rules import Rules
from stream_dedup.core.scheme import Profile, profile
from stream_dedup.core.verdict import VERDICT_OF, Kind, Verdict
from stream_dedup.kafka.decide_stage import DecideStage, Outputs
from stream_dedup.kafka.fingerprint_stage import FingerprintStage, HandoverTopics, Reading
from stream_dedup.kafka.loop import B, PartitionLoop, Processor
from stream_dedup.kafka.memory import DEFAULT_MAX_MESSAGE_BYTES, MemoryBroker
from stream_dedup.kafka.observer import CommittedBatch, Stage
from stream_dedup.kafka.replica import Replica
from stream_dedup.kafka.runner import Loop
from stream_dedup.kafka.transport import Headers, Input, Message, Record

RAW, FINGERPRINTED, CHANGELOG, STATISTICS = (
    "articles.raw",
    "stream-dedup.fingerprinted",
    "stream-dedup.index",
    "stream-dedup.statistics",
)
OUTPUTS: Mapping[Verdict, str] = {
    Verdict.UNIQUE: "articles.unique",
    Verdict.DUPLICATE: "articles.duplicates",
    Verdict.REJECTED: "articles.rejected",
}
HOUR = 3_600_000
"""ms."""

Json: TypeAlias = str | int | float | bool | Sequence["Json"] | Mapping[str, "Json"] | None


@dataclass(frozen=True, slots=True)
class Trial:
    """The settings of a driver, with the defaults of production."""

    profile: Profile = field(default_factory=lambda: profile("strict"))
    fields: Fields = field(default_factory=Fields)
    window: int | None = 72 * HOUR
    """ms."""
    max_entries: int = 5_000_000
    min_words: int = 8
    max_article_bytes: int = 1_048_576
    future_skew: int = 300_000
    """ms."""
    routes: Mapping[Kind, Verdict] = field(default_factory=dict)
    """Kinds that go to another output than their own."""
    vetoes: bool = True
    batch_records: int = 1000
    partitions: int = 4
    """Of the raw topic and the outputs."""
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    """Of the outputs; the raw topic and the internal ones take twice as much."""

    def rules(self) -> Rules:
        """The rules of deciding."""
        return Rules(
            radius=self.profile.radius,
            threshold=self.profile.threshold,
            window=self.window,
            max_entries=self.max_entries,
            keep_revisions=self.routes.get(Kind.REVISION) is Verdict.UNIQUE,
            vetoes=self.vetoes,
        )


@dataclass(frozen=True, slots=True)
class Output:
    """One record of an output topic."""

    record: Record

    def header(self, name: str) -> str | None:
        """The value of a header, None where there is none."""
        return next((value.decode() for key, value in self.record.headers if key == name and value is not None), None)

    @property
    def sequence(self) -> int:
        """Place in the total order."""
        return int(self.header("dedup-sequence") or -1)


class _StopWhenIdle:
    """An observer that stops a loop as soon as a fetch finds nothing more."""

    def __init__(self) -> None:
        self._stop = asyncio.Event()
        self._restored = False

    def arm(self, stop: asyncio.Event) -> None:
        """Set `stop` when idle from now on."""
        self._stop, self._restored = stop, False

    def restored(self, _stage: Stage, _partition: int) -> None:
        """From now on, a fetch that finds nothing means that all is done."""
        self._restored = True

    def progressed(self, _stage: Stage, _partition: int) -> None:
        """A fetch found nothing, or a slice was restored."""
        if self._restored:
            self._stop.set()

    def assigned(self, stage: Stage, partitions: Collection[int]) -> None:
        """Not needed."""

    def revoked(self, stage: Stage) -> None:
        """Not needed."""

    def committed(self, batch: CommittedBatch) -> None:
        """Not needed."""

    def failed(self, _stage: Stage, _partition: int) -> None:
        """What is restored now is no sign of being idle."""
        self._restored = False

    def lag(self, stage: Stage, partition: int, records: int) -> None:
        """Not needed."""

    def following(self, records: int) -> None:
        """Not needed."""

    def index_size(self, entries: int, largest_block: int) -> None:
        """Not needed."""


class StreamDriver:
    """Pipe records in, move the clock, read outputs out."""

    def __init__(self, trial: Trial | None = None, *, now: int = 1_700_000_000_000) -> None:
        """`now` is the wall clock at the start, ms since the epoch."""
        self.trial = Trial() if trial is None else trial
        self.now = now
        self.broker = MemoryBroker()
        self._runner = asyncio.Runner()
        self._read = 0
        self._idle = _StopWhenIdle()
        self._create_topics()
        self._loops = self._new_loops()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._runner.close()

    def _create_topics(self) -> None:
        trial = self.trial
        for topic in OUTPUTS.values():
            self.broker.create_topic(topic, trial.partitions, trial.max_message_bytes)
        self.broker.create_topic(RAW, trial.partitions, 2 * trial.max_message_bytes)
        for topic in (FINGERPRINTED, CHANGELOG, STATISTICS):
            self.broker.create_topic(topic, 1, 2 * trial.max_message_bytes)

    def _new_loops(self) -> list[Loop]:
        trial = self.trial
        reading = Reading(
            trial.fields, trial.profile.scheme, trial.min_words, trial.max_article_bytes, trial.future_skew
        )
        topics = HandoverTopics(FINGERPRINTED, CHANGELOG)
        loops: list[Loop] = []
        for partition in range(trial.partitions):
            of = Input("trial.fingerprint", RAW, partition)
            loops.append(self._loop(of, FingerprintStage(self.broker, of, topics, reading, self._wall_clock)))
        of = Input("trial.decide", FINGERPRINTED, 0)
        routes = {kind: OUTPUTS[trial.routes.get(kind, VERDICT_OF[kind])] for kind in Kind}
        self.decide_stage = DecideStage(
            self.broker,
            of,
            Outputs(routes, CHANGELOG, STATISTICS),
            replica=Replica(trial.rules(), estimated_jaccard),
            observer=self._idle,
            wall_clock=self._wall_clock,
            monotonic=lambda: self.now / 1000,
        )
        return [*loops, self._loop(of, self.decide_stage)]

    def _loop(self, of: Input, processor: Processor[B]) -> PartitionLoop[B]:
        return PartitionLoop(
            self.broker,
            of,
            processor,
            self._idle,
            batch_records=self.trial.batch_records,
            batch_wait=0,
            monotonic=lambda: self.now / 1000,
            random=lambda: 0.0,
        )

    def _wall_clock(self) -> int:
        return self.now

    def pipe(
        self,
        value: Json | bytes,
        *,
        key: bytes | None = None,
        timestamp: int | None = None,
        headers: Headers = (),
        partition: int = 0,
    ) -> None:
        """Publish one record; `value` is its bytes, None for a tombstone, or anything else to be written as JSON.

        Args:
            value: the record's value.
            key: its key.
            timestamp: ms since the epoch; now where left out.
            headers: its headers.
            partition: of the raw topic.
        """
        raw = value if value is None or isinstance(value, bytes) else msgspec.json.encode(value)
        stamp = self.now if timestamp is None else timestamp
        self._runner.run(self.broker.publish(Message(RAW, partition, stamp, key, raw, headers)))

    def advance(self, milliseconds: int) -> None:
        """Move the wall clock; event time moves with the articles alone."""
        self.now += milliseconds

    def read(self) -> list[Output]:
        """Work off what was piped in; what came out since the last call, in order of sequence."""
        self._runner.run(self._work())
        outputs = [
            Output(record)
            for topic in OUTPUTS.values()
            for partition in range(self.trial.partitions)
            for record in self.broker.log(topic, partition).records
        ]
        outputs.sort(key=lambda output: output.sequence)
        new = outputs[self._read :]
        self._read = len(outputs)
        return new

    async def _work(self) -> None:
        for loop in self._loops:
            stop = asyncio.Event()
            self._idle.arm(stop)
            await loop.run(stop)

    def restart(self, trial: Trial | None = None) -> None:
        """Go on with new stages, as after a crash, or with other settings: the index comes back from the changelog."""
        self.trial = trial or self.trial
        self._loops = self._new_loops()
