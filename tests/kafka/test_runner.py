"""A stage's member of its group: which loops run when."""

import asyncio
from collections.abc import Collection

from aiokafka import TopicPartition

from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.observer import CommittedBatch, Stage
from stream_dedup.kafka.runner import Membership, StageRunner


class Unwatched:
    """An observer that nobody asks."""

    def assigned(self, stage: Stage, partitions: Collection[int]) -> None:
        """Not watched."""

    def restored(self, stage: Stage, partition: int) -> None:
        """Not watched."""

    def progressed(self, stage: Stage, partition: int) -> None:
        """Not watched."""

    def committed(self, batch: CommittedBatch) -> None:
        """Not watched."""

    def failed(self, stage: Stage, partition: int) -> None:
        """Not watched."""

    def lag(self, stage: Stage, partition: int, records: int) -> None:
        """Not watched."""

    def index_entries(self, entries: int) -> None:
        """Not watched."""


class Running:
    """A loop that does nothing but run."""

    def __init__(self, started: list[int], partition: int) -> None:
        started.append(partition)

    async def run(self, stop: asyncio.Event) -> None:
        """Work."""
        await stop.wait()


async def test_a_rebalance_that_ends_while_the_group_is_left_starts_no_loops() -> None:
    """Nobody would end them: they would go on beside those of the next membership, or after the worker's stop."""
    started: list[int] = []
    membership = Membership("group", "topic", 10.0)
    runner = StageRunner(
        Connection("localhost:1"), membership, Stage.DECIDE, lambda one: Running(started, one), Unwatched()
    )
    await runner.on_partitions_assigned([TopicPartition("topic", 0)])
    assert started == []
