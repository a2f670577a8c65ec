"""How an article begins, for people: its title or else its text, fit for a terminal."""

import msgspec

from stream_dedup.app.plain_text import plain
from stream_dedup.core.article import Article
from stream_dedup.core.sketch import SetAside

SHOWN = 60
"""Characters."""
_BYTES_LOOKED_AT = 1000
"""Of a record that is no article."""


def headline(value: bytes | None, article: Article | SetAside, title_field: str) -> str:
    """One line of at most `SHOWN` characters.

    Args:
        value: the record's value, None for a tombstone.
        article: what it was read as.
        title_field: dotted path of the title.
    """
    if value is None:
        return "(null)"
    if not isinstance(article, Article):
        return plain(value[:_BYTES_LOOKED_AT].decode("utf-8", "replace"), SHOWN)
    title = _field(value, title_field)
    return plain(title if title and title.strip() else article.text, SHOWN)


def _field(value: bytes, path: str) -> str | None:
    try:
        found = msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # An article is read more leniently than that (NaN, a byte order mark): it is named by its text.
        return None
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, str) else None
