"""What of the changelog may be deleted: marks along it, each with what must have left before it may go."""

from collections import deque
from dataclasses import dataclass

from stream_dedup.core.delta import Delta


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in the changelog: all that stands between the mark before and `offset` has left when this has."""

    offset: int
    latest_time: int | None
    """The highest event time of the entries there in ms, None where there are none."""
    sequence: int
    """Their sequences are lower."""


class Trimmer:
    """Follows one changelog and says up to where it has been outlived."""

    def __init__(self) -> None:
        self._marks: deque[_Mark] = deque()
        self._latest: int | None = None
        self._sequence = 0
        self._unmarked = 0

    @property
    def unmarked(self) -> int:
        """Records since the last mark."""
        return self._unmarked

    def follow(self, delta: Delta) -> None:
        """A record was applied."""
        times = [int(entries.times.max()) for entries in delta.entries if len(entries)]
        if self._latest is not None:
            times.append(self._latest)
        self._latest = max(times, default=None)
        self._sequence = delta.sequence
        self._unmarked += 1

    def mark(self, offset: int) -> None:
        """All records followed so far stand below this offset of the changelog."""
        if self._unmarked:
            self._marks.append(_Mark(offset, self._latest, self._sequence))
            self._latest = None
            self._unmarked = 0

    def outlived(self, horizon: int, evicted_below: int) -> int | None:
        """The offset below which all entries have left, None where nothing more has.

        The last record never goes: it carries the position, the clock and the sequence.

        Args:
            horizon: entries with an event time at or below it are no longer live, ms.
            evicted_below: entries with a lower sequence have left by the limit on entries.
        """
        below = None
        while self._marks and (len(self._marks) > 1 or self._unmarked):
            mark = self._marks[0]
            expired = mark.latest_time is None or mark.latest_time <= horizon
            if not expired and mark.sequence > evicted_below:
                break
            below = self._marks.popleft().offset
        return below
