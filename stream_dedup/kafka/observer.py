"""What the stages tell of themselves while they run; metrics and health listen.

The calls are made from the loop's event loop, cost next to nothing and never raise.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from stream_dedup.core.verdict import Kind, Verdict


class Stage(StrEnum):
    """The two stages of the data flow."""

    FINGERPRINT = "fingerprint"
    DECIDE = "decide"


@dataclass(frozen=True, slots=True)
class CommittedBatch:
    """One batch whose transaction has committed."""

    stage: Stage
    partition: int
    records: int
    """Input records of the batch."""
    seconds: float
    """From the batch's fetch to its commit."""
    verdicts: Mapping[tuple[Verdict, Kind], int] = field(default_factory=dict)
    """Articles by what was decided; only the decide stage has them."""
    unparsable_times: int = 0
    """Articles whose configured time field could not be read, so that the record's timestamp served."""
    truncated: int = 0
    """Articles that had more near entries than are verified; only the decide stage has them."""


class Observer(Protocol):
    """Listens to the stages. Times are taken by the observer when it is called."""

    def assigned(self, stage: Stage, partitions: Collection[int]) -> None:
        """The group has told: these are all the partitions owned from now on, none of them restored yet."""
        ...

    def revoked(self, stage: Stage) -> None:
        """No partition is owned any more, and what the group will give is not known yet."""
        ...

    def restored(self, stage: Stage, partition: int) -> None:
        """The partition's state is complete and its first batch may come."""
        ...

    def progressed(self, stage: Stage, partition: int) -> None:
        """Something was done that is no commit: a slice restored, or a fetch that found nothing to do."""
        ...

    def committed(self, batch: CommittedBatch) -> None:
        """A transaction committed (which is progress, too)."""
        ...

    def failed(self, stage: Stage, partition: int) -> None:
        """A transaction failed and is tried again."""
        ...

    def lag(self, stage: Stage, partition: int, records: int) -> None:
        """So many records wait in the stage's input after the last one taken."""
        ...

    def following(self, records: int) -> None:
        """This worker is a standby of the decide stage, with so many offsets of the changelog still to read."""
        ...

    def index_size(self, entries: int, largest_block: int) -> None:
        """So many kept articles are in the index, of which so many share one block of their fingerprints."""
        ...
