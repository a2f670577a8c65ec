"""Whether a worker lives and is ready: what `/healthz` and `/readyz` answer."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from stream_dedup.kafka.observer import CommittedBatch, Stage

STALLED_AFTER = 120.0
"""Seconds without progress after which a loop counts as stalled: twice the time in which a transaction, with the
default settings, has either committed or been ended by the broker."""


@dataclass(slots=True)
class _Loop:
    progress: float
    """When it last did something, on the monotonic clock."""
    restored: bool = False
    lag: int = 0


class Health:
    """Knows of each owned partition when its loop last did something, and whether its state is complete."""

    def __init__(self, clock: Callable[[], float], stalled_after: float = STALLED_AFTER) -> None:
        """Start with nothing assigned.

        Args:
            clock: a monotonic clock in seconds.
            stalled_after: seconds without progress after which a loop counts as stalled.
        """
        self._clock = clock
        self._stalled_after = stalled_after
        self._loops: dict[Stage, dict[int, _Loop]] = {}
        self._outside = dict.fromkeys(Stage, clock())
        self._idle: dict[tuple[Stage, int], float] = {}
        self._standby: _Loop | None = None

    def assigned(self, stage: Stage, partitions: Collection[int]) -> None:
        """These partitions, and no others, are owned from now on. A rebalance is no progress."""
        self.revoked(stage)
        now = self._clock()
        self._loops[stage] = {
            partition: _Loop(now - self._idle.pop((stage, partition), 0.0)) for partition in sorted(partitions)
        }

    def revoked(self, stage: Stage) -> None:
        """No partition is owned any more; how long each had done nothing is remembered."""
        if stage is Stage.DECIDE:
            self._standby = None
        if stage in self._loops:
            now = self._outside[stage] = self._clock()
            for partition, loop in self._loops.pop(stage).items():
                self._idle[stage, partition] = now - loop.progress

    def restored(self, stage: Stage, partition: int) -> None:
        """The partition's state is complete."""
        if loop := self._progress(stage, partition):
            loop.restored = True

    def progressed(self, stage: Stage, partition: int) -> None:
        """Something was done that is no commit."""
        self._progress(stage, partition)

    def committed(self, batch: CommittedBatch) -> None:
        """A transaction committed."""
        self._progress(batch.stage, batch.partition)

    def failed(self, stage: Stage, partition: int) -> None:
        """A transaction failed: no progress."""

    def lag(self, stage: Stage, partition: int, records: int) -> None:
        """So many records wait in the partition."""
        if loop := self._loops.get(stage, {}).get(partition):
            loop.lag = records

    def following(self, records: int) -> None:
        """The worker is a standby, and its index is complete once nothing is left to read."""
        restored = records == 0 or (self._standby is not None and self._standby.restored)
        self._standby = _Loop(self._clock(), restored, records)

    def standby_lag(self) -> int | None:
        """Offsets of the changelog that are still to read, None where the worker is no standby."""
        return None if self._standby is None else self._standby.lag

    def index_size(self, entries: int, largest_block: int) -> None:
        """The size of the index says nothing about health."""

    def progress_ages(self) -> dict[Stage, float]:
        """Seconds since the stage's slowest loop last did something, for each stage that owns a partition."""
        now = self._clock()
        return {
            stage: now - min(loop.progress for loop in loops.values()) for stage, loops in self._loops.items() if loops
        }

    def stalled(self) -> list[str]:
        """A sentence for each loop that makes no progress, and each stage that the group tells nothing."""
        now, sentences = self._clock(), []
        for stage, since in self._outside.items():
            if stage not in self._loops and now - since > self._stalled_after:
                sentences.append(f"{stage}: no member of its group for {now - since:.0f} s")
        for name, loop in self._all_loops():
            if now - loop.progress > self._stalled_after:
                sentences.append(f"{name}: no progress for {now - loop.progress:.0f} s, {loop.lag} records wait")
        return sentences

    def waiting(self) -> list[str]:
        """A sentence for each thing that is not ready yet; a worker that owns nothing is ready once it was told so."""
        unassigned = [f"{stage}: no partitions assigned yet" for stage in Stage if stage not in self._loops]
        return unassigned + [f"{name}: restoring" for name, loop in self._all_loops() if not loop.restored]

    def _all_loops(self) -> Iterator[tuple[str, _Loop]]:
        for stage, loops in self._loops.items():
            for partition, loop in loops.items():
                yield f"{stage} {partition}", loop
        if self._standby is not None:
            yield "standby", self._standby

    def _progress(self, stage: Stage, partition: int) -> _Loop | None:
        # A report of a loop that has just lost its partition comes late, and counts for nothing.
        loop = self._loops.get(stage, {}).get(partition)
        if loop is not None:
            loop.progress = self._clock()
        return loop
