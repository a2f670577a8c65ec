"""One stage in one worker: a member of the stage's group that runs a loop for each partition it is given.

The member only holds the place in the group. It never reads: each loop has a reader of its own outside the group, so
that a rebalance can neither take records out of a loop's hands nor hold up its transaction (aiokafka#844).
"""

import asyncio
import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import KafkaError

from stream_dedup.errors import FencedError
from stream_dedup.kafka.connection import Connection, close_quietly
from stream_dedup.kafka.observer import Observer, Stage
from stream_dedup.kafka.points import Point, Reached, pass_by
from stream_dedup.kafka.transport import Input

STOP_DEADLINE = 4.0
"""Seconds that a loop has to finish its batch when its partition is revoked or the worker stops; then it is cut off.
With the ends of its connections after it, a worker whose broker does not answer still ends within ten seconds."""
REBALANCE_TIMEOUT = 30.0
"""Seconds that the group waits for a member to come back; well above the deadline and the closing that follows it."""
POLL = 60.0
"""Seconds of one wait of the member; it stands for nothing but being there."""
HEARTBEAT = 1.0
"""Seconds between heartbeats: a member hears of a rebalance with the next one, and a takeover waits for it."""
REJOIN_PAUSE = 1.0
"""Seconds before the group is joined anew after the membership was lost."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Membership:
    """The group that shares out a topic's partitions."""

    group: str
    topic: str
    session_timeout: float
    """Seconds without a heartbeat after which a member's partitions go to another."""
    assignor: AbstractPartitionAssignor = StickyPartitionAssignor
    """Who gets which partitions."""


class Loop(Protocol):
    """The loop over one partition."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set."""
        ...


def nothing() -> None:
    """No loop."""


class StageRunner(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka has no types
    """Runs a stage until it is told to stop."""

    def __init__(
        self,
        connection: Connection,
        membership: Membership,
        stage: Stage,
        new_loop: Callable[[int], Loop],
        observer: Observer,
        *,
        spare_loop: Callable[[], Loop | None] = nothing,
        reached: Reached = pass_by,
    ) -> None:
        """Nothing runs yet.

        Args:
            connection: how to reach the broker.
            membership: the group.
            stage: which stage it is.
            new_loop: makes the loop of a partition.
            observer: is told what happens.
            spare_loop: makes a loop for as long as the worker owns nothing, if it has something to do then.
            reached: is called at each point of a rebalance.
        """
        self._connection = connection
        self._membership = membership
        self._stage = stage
        self._new_loop = new_loop
        self._spare_loop = spare_loop
        self._observer = observer
        self._reached = reached
        self._loops: dict[asyncio.Task[None], asyncio.Event] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._member: AIOKafkaConsumer | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Be a member and work, through any number of rebalances and lost ownerships.

        Raises:
            LogRefusedError: going on would drop or repeat articles.
        """
        while not stop.is_set():
            try:
                await self._be_member(stop)
            except FencedError as error:
                # The id is another's in this assignment: only a new assignment can tell whose it is now.
                log.warning("fenced; joining the group anew", group=self._membership.group, error=str(error))
            except KafkaError as error:
                log.warning("membership lost; joining anew", group=self._membership.group, error=repr(error))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(REJOIN_PAUSE):
                        await stop.wait()

    async def _be_member(self, stop: asyncio.Event) -> None:
        member = self._member = AIOKafkaConsumer(
            bootstrap_servers=self._connection.bootstrap_servers,
            client_id=self._connection.client_id,
            group_id=self._membership.group,
            session_timeout_ms=int(self._membership.session_timeout * 1000),
            heartbeat_interval_ms=int(HEARTBEAT * 1000),
            rebalance_timeout_ms=int(REBALANCE_TIMEOUT * 1000),
            partition_assignment_strategy=(self._membership.assignor,),
            enable_auto_commit=False,
            auto_offset_reset="earliest",  # of no consequence: the member never reads
        )
        member.subscribe([self._membership.topic], listener=self)
        stopped = asyncio.create_task(stop.wait())
        present = asyncio.create_task(self._be_present(member))
        try:
            await self._watch(stopped, present)
        finally:
            self._member = None
            for task in (stopped, present):
                task.cancel()
            await asyncio.gather(stopped, present, return_exceptions=True)
            await self._end_loops()
            await close_quietly(member.stop())
            self._observer.revoked(self._stage)

    async def _be_present(self, member: AIOKafkaConsumer) -> None:
        await member.start()
        while True:
            # A waiting fetch keeps aiokafka from taking the member for idle (max_poll_interval_ms).
            await member.getmany(timeout_ms=int(POLL * 1000))

    async def _watch(self, stopped: "asyncio.Task[bool]", present: asyncio.Task[None]) -> None:
        """Return when told to stop; raise what ends a loop or the membership."""
        while not stopped.done():
            changed = asyncio.create_task(self._changed.wait())
            self._changed.clear()
            waited: set[asyncio.Task[bool] | asyncio.Task[None]] = {stopped, present, changed, *self._loops}
            done, _ = await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()
            if present in done:
                present.result()
            for loop in [loop for loop in self._loops if loop in done]:
                del self._loops[loop]
                loop.result()

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """Only start the loops: while this callback runs no heartbeat is sent."""
        if self._member is None:
            return  # a rebalance that ends while the group is left: nobody would end these loops
        if assigned:
            self._member.pause(*assigned)
        partitions = sorted(of.partition for of in assigned)
        log.info("assigned", stage=self._stage.value, topic=self._membership.topic, partitions=partitions)
        self._observer.assigned(self._stage, partitions)
        self._at(Point.ASSIGNED, assigned)
        loops = [self._new_loop(partition) for partition in partitions] if partitions else [self._spare_loop()]
        for loop in loops:
            if loop is not None:
                stop = asyncio.Event()
                self._loops[asyncio.create_task(loop.run(stop))] = stop
        self._changed.set()

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """End the loops before anybody else can own their partitions."""
        self._at(Point.REVOKED, revoked)
        await self._end_loops()
        self._observer.revoked(self._stage)

    def _at(self, point: Point, partitions: Collection[TopicPartition]) -> None:
        for of in partitions:
            self._reached(point, Input(self._membership.group, of.topic, of.partition))

    async def _end_loops(self) -> None:
        """End all loops; a revocation and a stop may both be here, and each goes on when they have ended."""
        for stop in self._loops.values():
            stop.set()
        self._ending.update(self._loops)
        self._loops.clear()
        ending = set(self._ending)
        if not ending:
            return
        _, late = await asyncio.wait(ending, timeout=STOP_DEADLINE)
        for task in late:
            task.cancel()
        await asyncio.wait(ending)
        for task in ending & self._ending:
            self._ending.remove(task)
            error = None if task.cancelled() else task.exception()
            if error is not None:
                log.warning("a loop did not end well", topic=self._membership.topic, error=repr(error))
