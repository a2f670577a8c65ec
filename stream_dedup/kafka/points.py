"""The points at which a worker may die: named once, passed by both stages, and nothing happens at them.

Whatever happens to a worker happens between two of these. Those who test that nothing is lost or repeated then give
their own `Reached` to a worker and end it there.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

from stream_dedup.kafka.transport import Input


class Point(StrEnum):
    """A place in the life of a partition's loop."""

    BEFORE_BEGIN = "before-begin"
    """A batch is processed, and its transaction has not begun."""
    BETWEEN_SENDS = "between-sends"
    """One of the transaction's record batches is answered; others may not be."""
    AFTER_SENDS = "after-sends"
    """All messages are written, and the input's offset is not."""
    AFTER_OFFSETS = "after-offsets"
    """The offset is written, too; the commit has not been asked for."""
    COMMITTING = "committing"
    """The commit is asked for right after this, so what comes a moment later meets it under way."""
    COMMITTED = "committed"
    """The commit is answered, and the batch not applied yet."""
    RESTORING = "restoring"
    """A slice of the changelog is applied; there may be more."""
    REVOKED = "revoked"
    """A rebalance takes the partition, and its loop still runs."""
    ASSIGNED = "assigned"
    """A rebalance gives the partition, and its loop does not run yet."""


Reached: TypeAlias = Callable[[Point, Input], None]
"""Called with a point, and with the input of the loop that has reached it; from the event loop's thread."""


def pass_by(_point: Point, _of: Input) -> None:
    """Do nothing: what happens at every point outside of tests."""
