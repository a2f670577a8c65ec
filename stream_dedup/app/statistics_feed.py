"""Reads the statistics topic into the worker, committed records only."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import structlog

from stream_dedup.errors import LogRefusedError, TransactionFailedError
from stream_dedup.kafka.statistics_record import StatisticsRecord, decode_statistics
from stream_dedup.kafka.transport import Broker

FETCH_RECORDS = 500
FETCH_WAIT = 0.25
"""Seconds that a fetch waits for a first record; the longest that a stop goes unnoticed."""
RETRY_PAUSE = 1.0
"""Seconds until the topic is read again after the broker did not answer: figures are not urgent."""

log = structlog.get_logger(__name__)


class StatisticsFeed:
    """A runner that gives every statistics record of the topic to `take`, from the first that is kept on.

    After an error it begins anew at the first one: who takes must leave out what it has had.
    """

    def __init__(self, broker: Broker, topic: str, take: Callable[[StatisticsRecord], Awaitable[None]]) -> None:
        self._broker = broker
        self._topic = topic
        self._take = take

    async def run(self, stop: asyncio.Event) -> None:
        """Read until `stop` is set."""
        while not stop.is_set():
            try:
                await self._read(stop)
            except (LogRefusedError, TransactionFailedError) as error:
                log.warning("statistics are read anew", reason=str(error))
                await asyncio.sleep(RETRY_PAUSE)

    async def _read(self, stop: asyncio.Event) -> None:
        start = (await self._broker.bounds(self._topic, 0)).start
        source = await self._broker.source(self._topic, 0, start)
        try:
            while not stop.is_set():
                for record in await source.fetch(FETCH_RECORDS, FETCH_WAIT):
                    if (figures := _decoded(record.value, record.offset)) is not None:
                        await self._take(figures)
        finally:
            await source.close()


def _decoded(value: bytes | None, offset: int) -> StatisticsRecord | None:
    try:
        return decode_statistics(value or b"")
    except msgspec.DecodeError as error:
        log.warning("a statistics record is left out", offset=offset, reason=str(error))
        return None
