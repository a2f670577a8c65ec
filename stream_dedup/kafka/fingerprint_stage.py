"""The fingerprint stage: raw articles in, the same articles with what their text comes to out. It keeps no state."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import structlog

from stream_dedup.core.article import Article, Fields, parse_article
from stream_dedup.core.scheme import Scheme
from stream_dedup.core.sketch import SetAside, Sketch
from stream_dedup.core.verdict import Kind
from stream_dedup.kafka.loop import Batch
from stream_dedup.kafka.observer import Stage
from stream_dedup.kafka.positions import TopicIds, marked_start, unmarked_start
from stream_dedup.kafka.raw_progress import read_progress
from stream_dedup.kafka.records import (
    HANDOVER,
    Handover,
    clean_headers,
    cut,
    encode_handover,
    escape_keys,
    has_unreadable_key,
)
from stream_dedup.kafka.transport import Broker, Ends, Input, Message, Record

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HandoverTopics:
    """The internal topics that tell how far articles have come."""

    fingerprinted: str
    """Written to."""
    changelog: str
    """Read where the group's offset is in doubt."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How articles are read and fingerprinted."""

    fields: Fields
    scheme: Scheme
    min_words: int
    """Fewer words than this are too little text to compare."""
    max_article_bytes: int
    """A larger value is rejected unread."""
    future_skew: int
    """An event time is at most so far beyond the wall clock, ms."""


class FingerprintStage:
    """The processor of one raw partition."""

    stage = Stage.FINGERPRINT

    def __init__(
        self, broker: Broker, of: Input, handover: HandoverTopics, reading: Reading, wall_clock: Callable[[], int]
    ) -> None:
        """`wall_clock` gives ms since the epoch."""
        self._broker = broker
        self._of = of
        self._handover = handover
        self._reading = reading
        self._wall_clock = wall_clock
        self._ids = TopicIds("", "")
        self._unmarked = False

    @property
    def mark(self) -> str:
        """The ids of the topics, by which one made anew is told."""
        return str(self._ids)

    async def open(self, committed: int | None) -> int:
        """Where to read from; there is no state to restore."""
        of, topics = self._of, self._handover
        self._ids = TopicIds(await self._broker.topic_id(of.topic), await self._broker.topic_id(topics.fingerprinted))
        log = await self._broker.bounds(of.topic, of.partition)
        mark = (await self._broker.marks(of.group, of.topic)).get(of.partition, "")
        self._unmarked = committed is None or not mark
        if committed is not None and mark:
            return marked_start(of, committed, mark, log, self._ids).offset
        progress = await read_progress(self._broker, topics.fingerprinted, topics.changelog)
        start = unmarked_start(of, committed, log, self._ids, progress)
        if start.warning is not None:
            logger.warning(start.warning)
        return start.offset

    def opening(self) -> Batch | None:
        """The offset alone where it is not the stage's own yet, so that it can be missed when it is lost."""
        return Batch([]) if self._unmarked else None

    def process(self, records: Sequence[Record]) -> Batch:
        """Read and fingerprint a batch."""
        articles = [self._read(record) for record in records]
        contents = self._contents(articles)
        now = self._wall_clock()
        messages = [
            self._message(record, self._describe(record, article, content, now + self._reading.future_skew), now)
            for record, article, content in zip(records, articles, contents, strict=True)
        ]
        unparsable = sum(isinstance(article, Article) and article.time_unparsable for article in articles)
        return Batch(messages, unparsable_times=unparsable)

    def refuse(self, record: Record, keep: int) -> Batch:
        """The record as one that is rejected, cut so that the broker takes it."""
        shorter, reason = cut(record, keep)
        now = self._wall_clock()
        handover = self._describe(shorter, SetAside(Kind.UNREADABLE, reason), SetAside(Kind.UNREADABLE, reason), now)
        return Batch([self._message(shorter, handover, now)])

    def applied(self, batch: Batch, ends: Ends) -> None:
        """There is no state."""

    async def tidy(self) -> None:
        """There is nothing to tidy: raw articles belong to their publishers."""

    def _read(self, record: Record) -> Article | SetAside:
        if record.value is None:
            return SetAside(Kind.TOMBSTONE)
        if has_unreadable_key(record.headers):
            return SetAside(Kind.UNREADABLE, "a header's key is not UTF-8; it is written out with \\x escapes here")
        return parse_article(record.value, self._reading.fields, self._reading.max_article_bytes)

    def _contents(self, articles: Sequence[Article | SetAside]) -> list[Sketch | SetAside]:
        readable = [article.text for article in articles if isinstance(article, Article)]
        sketches = self._reading.scheme.fingerprint(readable)
        rows = count()
        return [
            article if isinstance(article, SetAside) else sketches.content(next(rows), self._reading.min_words)
            for article in articles
        ]

    def _message(self, record: Record, handover: Handover, now: int) -> Message:
        headers = (*escape_keys(clean_headers(record.headers)), (HANDOVER, encode_handover(handover)))
        # The internal topic carries wall-clock time: event times of an old archive must not expire it.
        return Message(self._handover.fingerprinted, 0, now, record.key, record.value, headers)

    def _describe(
        self, record: Record, article: Article | SetAside, content: Sketch | SetAside, latest: int
    ) -> Handover:
        """What the decide stage is told; no event time is later than `latest`."""
        position = f"{record.topic}-{record.partition}-{record.offset}"
        read = article if isinstance(article, Article) else None
        time = record.timestamp if read is None or read.time is None else read.time
        sketch = content if isinstance(content, Sketch) else None
        return Handover(
            position=position,
            raw_partition=record.partition,
            raw_topic_id=self._ids.raw,
            raw_timestamp=record.timestamp,
            time=min(time, latest),
            time_unparsable=read is not None and read.time_unparsable,
            id=position if read is None or read.id is None else read.id,
            source=None if read is None else read.source,
            language=None if read is None else read.language,
            kind=content.kind if isinstance(content, SetAside) else None,
            reason=content.reason if isinstance(content, SetAside) else None,
            scheme=sketch.scheme if sketch else None,
            fingerprints=sketch.fingerprints if sketch else (),
            signature=sketch.signature if sketch else b"",
            digest=sketch.digest if sketch else b"",
            facts=sketch.facts if sketch else b"",
        )
