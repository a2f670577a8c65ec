"""How the values of settings are written: durations, topic names, lists and paths of fields, addresses."""

import re
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

import msgspec
from pydantic import AfterValidator, BeforeValidator
from pydantic_settings import NoDecode

from stream_dedup.core.verdict import Kind

_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
_DURATION = re.compile(r"([0-9]{1,12})(ms|s|m|h|d)")
LONGEST = timedelta(days=3650)
"""Ten years: longer than any window over news, and far from what 64-bit times in ms cannot hold."""
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""What Kafka takes as a topic's name (org.apache.kafka.common.internals.Topic)."""
_GROUP = re.compile(r"[A-Za-z0-9._-]{1,200}")
"""Kafka takes more, but consumer groups and transactional ids are made from this name and stand in logs."""
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
DEFAULT_PROFILE = "strict"
MAX_PORT = 65535


class Route(StrEnum):
    """The output that articles of a kind go to."""

    UNIQUE = "unique"
    DUPLICATES = "duplicates"
    REJECTED = "rejected"


def parse_duration(value: object) -> timedelta:
    """The duration that a text such as `90s` or `72h` writes.

    Raises:
        ValueError: anything else, or longer than `LONGEST`.
    """
    if isinstance(value, timedelta):
        return value
    written = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if written is None:
        raise ValueError("a duration is a whole number with its unit, such as 50ms, 90s, 15m, 72h or 7d")
    number, unit = written.groups()
    if int(number) > LONGEST / _UNITS[unit]:
        raise ValueError(f"a duration is at most {format_duration(LONGEST)}")
    return int(number) * _UNITS[unit]


def format_duration(duration: timedelta) -> str:
    """A duration as it is written in a setting, in the largest unit that leaves no rest, days from a week on."""
    for unit, size in reversed(_UNITS.items()):
        if duration % size == timedelta(0) and (unit != "d" or duration >= timedelta(days=7)):
            return f"{duration // size}{unit}"
    return f"{duration.total_seconds()}s"


def _positive(duration: timedelta) -> timedelta:
    if duration <= timedelta(0):
        raise ValueError("must be longer than 0s")
    return duration


def _topic(name: str) -> str:
    if _TOPIC.fullmatch(name) is None or name in {".", ".."}:
        raise ValueError(
            "a topic's name has 1 to 249 letters, digits, dots, underscores or hyphens, and is not . or .."
        )
    return name


def _profile(name: str) -> str:
    if name != DEFAULT_PROFILE:
        from stream_dedup.core.recipes import PROFILES  # noqa: PLC0415 - its dictionaries take half a second

        if name not in PROFILES:
            raise ValueError(f"choose {', '.join(map(repr, PROFILES))}")
    return name


def _group(name: str) -> str:
    if _GROUP.fullmatch(name) is None:
        raise ValueError("a group's name has 1 to 200 letters, digits, dots, underscores or hyphens")
    return name


def _field_path(path: str) -> str:
    if not all(path.split(".")):
        raise ValueError("a field is a name, or names joined by single dots for nested objects, such as body.text")
    return path


def _split(value: object) -> object:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


def _not_empty(values: tuple[str, ...]) -> tuple[str, ...]:
    if not values:
        raise ValueError("must name at least one")
    return values


def _address(address: str) -> str:
    written = _ADDRESS.fullmatch(address)
    if written is None or not 0 < int(written[2]) <= MAX_PORT:
        raise ValueError("must be host:port with a port from 1 to 65535, several joined by commas")
    return address


def _routes(value: object) -> object:
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError as error:
            raise ValueError('must be a JSON object such as {"revision": "unique"}') from error
    if not isinstance(value, Mapping):
        raise ValueError(  # noqa: TRY004 - pydantic makes validation errors of ValueErrors only
            'must be a table of kinds and outputs such as {"revision": "unique"}'
        )
    kinds, routes = list(Kind), list(Route)
    for kind, route in value.items():
        if kind not in kinds:
            raise ValueError(f"each key must be a kind ({', '.join(kinds)})")
        if route not in routes:
            raise ValueError(f"each kind must go to one of {', '.join(routes)}")
    return value


Duration = Annotated[timedelta, BeforeValidator(parse_duration), AfterValidator(_positive)]
DurationOrZero = Annotated[timedelta, BeforeValidator(parse_duration)]
TopicName = Annotated[str, AfterValidator(_topic)]
GroupName = Annotated[str, AfterValidator(_group)]
ProfileName = Annotated[str, AfterValidator(_profile)]
FieldPath = Annotated[str, AfterValidator(_field_path)]
FieldPaths = Annotated[tuple[FieldPath, ...], NoDecode, BeforeValidator(_split), AfterValidator(_not_empty)]
Addresses = Annotated[
    tuple[Annotated[str, AfterValidator(_address)], ...], NoDecode, BeforeValidator(_split), AfterValidator(_not_empty)
]
Routes = Annotated[Mapping[Kind, Route], NoDecode, BeforeValidator(_routes)]


def milliseconds(duration: timedelta) -> int:
    """A duration in whole milliseconds, as records and rules have it."""
    return duration // timedelta(milliseconds=1)
