"""A standby: a worker that does not decide holds the index ready by following the changelog.

When the owner dies, the standby that the group gives its partition to has the last few records left to restore, instead
of millions of entries.
"""

import asyncio
import contextlib
from collections.abc import Callable

import structlog

from stream_dedup.errors import OffsetGoneError, TransactionFailedError
from stream_dedup.kafka.loop import FIRST_PAUSE, LONGEST_PAUSE
from stream_dedup.kafka.observer import Observer
from stream_dedup.kafka.replica import Replica
from stream_dedup.kafka.restore import SLICE
from stream_dedup.kafka.threads import in_thread
from stream_dedup.kafka.transport import Broker

WAIT = 0.1
"""Seconds that a fetch waits for a first record; when the group gives the partition, a takeover waits as long."""

log = structlog.get_logger(__name__)


class Standby:
    """The loop of a standby."""

    def __init__(
        self, broker: Broker, changelog: str, replica: Replica, observer: Observer, random: Callable[[], float]
    ) -> None:
        """Nothing is read yet.

        Args:
            broker: where the changelog stands.
            changelog: its topic.
            replica: what takes its records.
            observer: is told what happens.
            random: gives a number from 0 to 1.
        """
        self._broker = broker
        self._changelog = changelog
        self._replica = replica
        self._observer = observer
        self._random = random

    async def run(self, stop: asyncio.Event) -> None:
        """Follow until `stop` is set, however often the broker is away or has trimmed what was not read yet.

        Raises:
            LogRefusedError: the index cannot be restored from this changelog, which the owner will notice only when it
                has to.
        """
        pause = FIRST_PAUSE
        while not stop.is_set():
            begun = self._replica.offset
            try:
                await self._follow(stop)
            except (OffsetGoneError, TransactionFailedError) as error:
                log.warning("the changelog could not be followed; beginning again", error=str(error))
                pause = FIRST_PAUSE if self._replica.offset > begun else min(LONGEST_PAUSE, pause * 2)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause * self._random()):
                        await stop.wait()

    async def _follow(self, stop: asyncio.Event) -> None:
        replica, topic = self._replica, self._changelog
        bounds = await self._broker.bounds(topic, 0)
        source = await self._broker.source(topic, 0, replica.begin(topic, bounds))
        self._observer.following(bounds.end - source.position)
        log.info("standing by", changelog_from=source.position, changelog_to=bounds.end)
        catching_up = True
        try:
            while not stop.is_set():
                records = await source.fetch(SLICE, WAIT)
                if records:
                    await in_thread(replica.take, records)
                    replica.outlive()
                if catching_up and source.position >= bounds.end:
                    catching_up = False
                    log.info("ready to take over", entries=len(replica.decider))
                self._observer.following(source.waiting)
                self._observer.index_size(len(replica.decider), replica.decider.largest_block)
        finally:
            await source.close()
