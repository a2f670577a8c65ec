"""The texts of a file's articles by their ids, on disk until they are asked for."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from stream_dedup.app.plain_text import plain
from stream_dedup.app.rows import Row
from stream_dedup.app.spool import Spool
from stream_dedup.core.article import Article, Fields, parse_article
from stream_dedup.errors import StreamDedupError


class Known(NamedTuple):
    """What is asked for of one article."""

    text: str
    language: str | None


class Texts:
    """Articles by the ids that verdicts name them by."""

    def __init__(self, rows: Iterable[Row], fields: Fields, longest: int, spool: Spool) -> None:
        """Read all rows; those that cannot be read have no text.

        Args:
            rows: read once.
            fields: where an article's parts stand.
            longest: limit of an article's bytes.
            spool: empty, and open as long as texts are asked for.

        Raises:
            StreamDedupError: an id stands twice, so that it names no article.
        """
        self._spool = spool
        self._places: dict[str, int] = {}
        for row in rows:
            article = parse_article(row.value, fields, longest) if isinstance(row.value, bytes) else row.value
            known, named = (
                (Known(article.text, article.language), article.id)
                if isinstance(article, Article)
                else (Known("", None), None)
            )
            name = row.position if named is None else named
            if name in self._places:
                raise StreamDedupError(
                    f"id {plain(name, 100)} stands at {plain(row.position, 200)} and before: give each article its own"
                )
            self._places[name] = len(spool)
            spool.append(msgspec.json.encode(known))

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def known(self, name: str) -> Known:
        """The article that verdicts call so."""
        return msgspec.json.decode(self._spool.value(self._places[name]), type=Known)
