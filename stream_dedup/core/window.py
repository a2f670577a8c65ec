"""Event time: the clock that articles move, and the horizon behind which they are no longer live."""

from bisect import insort
from dataclasses import dataclass

import numpy as np

TIMES_HELD = 5
"""The clock is the fifth highest event time: four articles with a wrong time in the future cannot move it."""
NO_HORIZON = int(np.iinfo(np.int64).min)
"""The horizon behind which nothing lies."""


@dataclass(frozen=True, slots=True)
class EventClock:
    """The clock of event time. It never goes back, for the fifth highest of more times is never lower."""

    times: tuple[int, ...] = ()
    """The (up to TIMES_HELD) highest event times taken so far, ascending, in ms since the epoch."""

    @property
    def now(self) -> int | None:
        """The fifth highest event time taken so far; None before five were taken."""
        return self.times[0] if len(self.times) == TIMES_HELD else None

    def take(self, time: int) -> "EventClock":
        """The clock after an article with this event time."""
        if len(self.times) == TIMES_HELD and time <= self.times[0]:
            return self
        times = list(self.times)
        insort(times, time)
        return EventClock(tuple(times[-TIMES_HELD:]))

    def horizon(self, window: int | None) -> int:
        """What is live has an event time above the horizon: clock - time < window, the one rule of liveness.

        Args:
            window: how long an article is live, in ms; None where it is for ever.

        Returns:
            An event time in ms that fits int64; NO_HORIZON where everything is live.
        """
        if window is None or self.now is None:
            return NO_HORIZON
        return max(self.now - window, NO_HORIZON)
