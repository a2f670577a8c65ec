"""The fingerprint stage: raw articles in, the same articles with what their text comes to out. It keeps no state."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from stream_dedup.core.article import Article, Fields, parse_article
from stream_dedup.core.scheme import Scheme
from stream_dedup.core.sketch import SetAside, Sketch
from stream_dedup.core.verdict import Kind
from stream_dedup.kafka.loop import Batch
from stream_dedup.kafka.observer import Stage
from stream_dedup.kafka.positions import fingerprint_start
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

SETTLING = 1.0
"""Seconds between the answer to a commit and its markers in all logs; milliseconds, unless a broker is very busy."""
FETCH_WAIT = 0.5
"""Seconds that a look into the fingerprinted topic waits at a time."""


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
        self, broker: Broker, of: Input, fingerprinted: str, reading: Reading, wall_clock: Callable[[], int]
    ) -> None:
        """`fingerprinted` is the topic to write to; `wall_clock` gives ms since the epoch."""
        self._broker = broker
        self._of = of
        self._fingerprinted = fingerprinted
        self._reading = reading
        self._wall_clock = wall_clock

    async def open(self, committed: int | None) -> int:
        """Where to read from; there is no state to restore."""
        log = await self._broker.bounds(self._of.topic, self._of.partition)
        if committed is not None:
            return fingerprint_start(self._of, {self._of.partition: committed}, log, begun=True).offset
        # In this order: what another partition's first batch makes visible in between has its offset with it.
        begun = await _holds_records(self._broker, self._fingerprinted)
        offsets = await self._broker.committed(self._of.group, self._of.topic)
        if begun and not offsets:
            # Or a moment later: a commit's markers do not come to all logs at once.
            await asyncio.sleep(SETTLING)
            offsets = await self._broker.committed(self._of.group, self._of.topic)
        return fingerprint_start(self._of, offsets, log, begun=begun).offset

    def opening(self) -> Batch | None:
        """There is no state whose settings could have changed."""
        return None

    def process(self, records: Sequence[Record]) -> Batch:
        """Read and fingerprint a batch."""
        articles = [self._read(record) for record in records]
        contents = self._contents(articles)
        now = self._wall_clock()
        messages = [
            self._message(record, _describe(record, article, content, now + self._reading.future_skew), now)
            for record, article, content in zip(records, articles, contents, strict=True)
        ]
        unparsable = sum(isinstance(article, Article) and article.time_unparsable for article in articles)
        return Batch(messages, unparsable_times=unparsable)

    def refuse(self, record: Record, keep: int) -> Batch:
        """The record as one that is rejected, cut so that the broker takes it."""
        shorter, reason = cut(record, keep)
        now = self._wall_clock()
        handover = _describe(shorter, SetAside(Kind.UNREADABLE, reason), SetAside(Kind.UNREADABLE, reason), now)
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
        return Message(self._fingerprinted, 0, now, record.key, record.value, headers)


async def _holds_records(broker: Broker, topic: str) -> bool:
    """Whether the topic's one partition ever held a committed record.

    Offsets do not tell: those of a transaction that was aborted (the worker was killed in its first one, say) hold
    nothing.
    """
    bounds = await broker.bounds(topic, 0)
    if bounds.start > 0:
        return True
    source = await broker.source(topic, 0, 0)
    try:
        while source.position < bounds.end:
            if await source.fetch(1, FETCH_WAIT):
                return True
    finally:
        await source.close()
    return False


def _describe(record: Record, article: Article | SetAside, content: Sketch | SetAside, latest: int) -> Handover:
    """What the decide stage is told; no event time is later than `latest`."""
    position = f"{record.topic}-{record.partition}-{record.offset}"
    read = article if isinstance(article, Article) else None
    time = record.timestamp if read is None or read.time is None else read.time
    sketch = content if isinstance(content, Sketch) else None
    return Handover(
        position=position,
        raw_partition=record.partition,
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
