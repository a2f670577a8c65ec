"""Event times as articles write them: ISO 8601, or a number of seconds or milliseconds since the epoch."""

from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Final, Literal

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_ISO_CHARACTERS = 64
"""Longer than any date with time and zone; keeps the work for one field bounded."""
SECONDS_BELOW = 10**11
"""A number of a smaller size is in seconds (to the year 5138), any other in milliseconds (from March 1973 on)."""
MAX_TIME = 253_402_300_799_999
"""The last millisecond of the year 9999, which is the last year of ISO 8601 and of datetime."""


class _Unparsable(Enum):
    UNPARSABLE = "unparsable"


UNPARSABLE: Final = _Unparsable.UNPARSABLE
"""There is a time, but it cannot be read."""


def parse_time(found: object) -> int | Literal[_Unparsable.UNPARSABLE] | None:
    """Read an event time.

    Args:
        found: a string in ISO 8601 (a missing zone is UTC), or a number (of seconds below SECONDS_BELOW, else of ms).

    Returns:
        ms since the epoch, rounded down; None where there is no time; UNPARSABLE for anything else.
    """
    if found is None:
        return None
    if isinstance(found, str):
        return _from_iso(found.strip())
    if isinstance(found, int | float) and not isinstance(found, bool):
        milliseconds = found * 1000 if abs(found) < SECONDS_BELOW else found
        return int(milliseconds // 1) if abs(milliseconds) <= MAX_TIME else UNPARSABLE
    return UNPARSABLE


def _from_iso(written: str) -> int | Literal[_Unparsable.UNPARSABLE]:
    if len(written) > MAX_ISO_CHARACTERS:
        return UNPARSABLE
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return UNPARSABLE
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(milliseconds=1)
