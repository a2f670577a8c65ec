"""One fact of a text, and the words it stands between."""

from typing import NamedTuple

from stream_dedup.core.verdict import FactKind


class Fact(NamedTuple):
    """One number, part of a date or word of a name; a plain tuple, since a text has dozens."""

    kind: FactKind
    context: str
    """The ordinary words before and after; of Han the two characters before and the one after."""
    value: str
    """In one notation: 3500 for 3,500 and for 三千五百; a name in lower case."""
