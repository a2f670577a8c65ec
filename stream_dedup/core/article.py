"""Bytes of a record's value to an `Article`, or to the reason why they are none; no bytes make it raise."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import xxhash

from stream_dedup.core.event_time import UNPARSABLE, parse_time
from stream_dedup.core.sketch import SetAside
from stream_dedup.core.verdict import Kind

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""RFC 8259, section 8.1: writers must not add it, readers may ignore it."""
MAX_ID_BYTES = 256
MAX_LABEL_CHARACTERS = 128
"""Source and language are cut to it: they become labels of statistics."""
MAX_REASON_CHARACTERS = 200
ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
"""Escapes of a JSON text from left to right: a surrogate pair, a lone surrogate (the group), any other."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Where an article's parts stand, as dotted paths into its JSON object."""

    text: tuple[str, ...] = ("text", "content", "body")
    """The first that is not blank is the article's text."""
    title: str = "title"
    id: str = "id"
    time: str | None = None
    """None: the record's timestamp is the event time."""
    source: str = "source"
    language: str = "lang"


@dataclass(frozen=True, slots=True)
class Article:
    """One parsed article."""

    id: str | None
    """None where the article has none, and is named by its position."""
    text: str
    """May be blank: then there is nothing to compare."""
    time: int | None = None
    """Event time in ms since the epoch; None where the record's timestamp stands for it."""
    time_unparsable: bool = False
    """There is a time, but none that can be read."""
    source: str | None = None
    language: str | None = None


class _UnreadableError(Exception):
    """Carries the reason to `parse_article`."""


def parse_article(value: bytes, fields: Fields, max_bytes: int) -> Article | SetAside:
    """Read an article from JSON.

    Args:
        value: the record's value.
        fields: where the article's parts stand. Of keys that stand twice the last one counts.
        max_bytes: a longer value is unreadable.

    Returns:
        The article, or `SetAside(Kind.UNREADABLE)` with a sentence of at most MAX_REASON_CHARACTERS.
    """
    try:
        root = _decode(value, max_bytes)
        text = _text(root, fields)
    except _UnreadableError as error:
        return SetAside(Kind.UNREADABLE, _printable(str(error)))
    time = None if fields.time is None else parse_time(_at(root, fields.time))
    return Article(
        id=_id(_at(root, fields.id)),
        text=text,
        time=None if time is UNPARSABLE else time,
        time_unparsable=time is UNPARSABLE,
        source=_label(_at(root, fields.source)),
        language=_label(_at(root, fields.language)),
    )


def _decode(value: bytes, max_bytes: int) -> dict[object, object]:
    if len(value) > max_bytes:
        raise _UnreadableError(f"The value has {len(value)} bytes, more than the limit of {max_bytes}.")
    value = value.removeprefix(BYTE_ORDER_MARK)
    if not value.strip():
        raise _UnreadableError(f"The value is empty: {len(value)} bytes, and all of them white space.")
    try:
        root = decode_json(value)
    except RecursionError:
        raise _UnreadableError(f"The JSON value of {len(value)} bytes is nested too deep to be read.") from None
    except msgspec.DecodeError as error:
        raise _UnreadableError(f"The value of {len(value)} bytes is not JSON in UTF-8: {error}.") from None
    if not isinstance(root, dict):
        raise _UnreadableError(f"The JSON value is {_name_of(root)}; an article is an object.")
    return root


def decode_json(value: bytes) -> object:
    """Decode JSON; a lone surrogate, as programs leave it that cut text in UTF-16, becomes U+FFFD."""
    try:
        decoded: object = msgspec.json.decode(value)
    except msgspec.DecodeError:
        mended = ESCAPES.sub(lambda found: rb"\ufffd" if found[1] else found[0], value)
        if mended == value:
            raise
        decoded = msgspec.json.decode(mended)
    return decoded


def _text(root: dict[object, object], fields: Fields) -> str:
    """The first text that is not blank, else the title, else what is blank."""
    blank: str | None = None
    for path, found in _present(root, (*fields.text, fields.title)):
        if isinstance(found, str):
            if found.strip():
                return found
            blank = found
        elif path != fields.title:
            raise _UnreadableError(f"The text in {path!r} is {_name_of(found)}; it must be a string.")
    if blank is None:
        looked = ", ".join((*fields.text, fields.title))
        raise _UnreadableError(f"There is no text: the object has none of the fields {looked}.")
    return blank


def _present(root: dict[object, object], paths: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    for path in paths:
        found = _at(root, path)
        if found is not None:
            yield path, found


def _at(root: object, path: str) -> object:
    """What stands at a dotted path; None where nothing does."""
    for key in path.split("."):
        if not isinstance(root, dict):
            return None
        root = root.get(key)
    return root


def _id(found: object) -> str | None:
    """An id as it is, an integer in decimal, a long one hashed."""
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str) or not found.strip():
        return None
    encoded = found.encode()
    return found if len(encoded) <= MAX_ID_BYTES else f"xxh3_128:{xxhash.xxh3_128_hexdigest(encoded)}"


def _label(found: object) -> str | None:
    return found[:MAX_LABEL_CHARACTERS] if isinstance(found, str) and found.strip() else None


def _printable(reason: str) -> str:
    shown = "".join(character if character.isprintable() else "?" for character in reason)
    return shown if len(shown) <= MAX_REASON_CHARACTERS else f"{shown[: MAX_REASON_CHARACTERS - 1]}…"


def _name_of(found: object) -> str:
    """What JSON calls a value."""
    match found:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"
