"""Reads the settings: an option is stronger than the environment, that than the file, that than the default."""

import difflib
import os
import tomllib
from collections.abc import Collection, Mapping
from datetime import timedelta
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from stream_dedup.app.plain_text import plain
from stream_dedup.app.setting_types import format_duration
from stream_dedup.app.settings import PREFIX, Settings
from stream_dedup.errors import SettingsError

CONFIG_VARIABLE = f"{PREFIX}CONFIG"
"""Names the TOML file."""
SHOWN_VALUE = 80
"""Characters of a wrong value that an error shows."""
LARGEST_FILE = 1_000_000
"""Bytes of a settings file; a larger one is another file by mistake."""


def variable_of(setting: str) -> str:
    """Name of a setting's environment variable."""
    return PREFIX + setting.upper()


def load_settings(
    options: Mapping[str, object], *, config: Path | None = None, other_variables: Collection[str] = ()
) -> Settings:
    """The settings of this process.

    Args:
        options: values from the command line by the setting's name.
        config: the TOML file; without it the one that `STREAM_DEDUP_CONFIG` names, if any.
        other_variables: names of variables with the prefix that are no settings, such as those of options.

    Raises:
        SettingsError: a value that cannot be used, or a name that is not known.
    """
    environment = {name.upper(): value for name, value in os.environ.items() if name.upper().startswith(PREFIX)}
    known = {variable_of(name) for name in Settings.model_fields} | {CONFIG_VARIABLE, *other_variables}
    for variable in environment:
        if variable not in known:
            raise SettingsError(
                f"environment variable {plain(variable, SHOWN_VALUE)} is not known{_hint(variable, known)}"
            )
    if config is None and environment.get(CONFIG_VARIABLE):
        config = Path(environment[CONFIG_VARIABLE])
    in_file = _read_file(config) if config else {}
    weaker = {name: value for name, value in in_file.items() if variable_of(name) not in environment}
    try:
        return Settings(**{**weaker, **options})  # type: ignore[arg-type] # pydantic checks every value
    except ValidationError as error:
        origins = {name: f"{name} in {config}" for name in weaker}
        origins.update((name, f"--{name.replace('_', '-')}") for name in options)
        raise SettingsError(_sentence(error.errors()[0], origins)) from error


def _read_file(path: Path) -> Mapping[str, object]:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise SettingsError(f"cannot read settings file {plain(str(path), 200)}: {error.strerror}") from error
    if len(content) > LARGEST_FILE:
        raise SettingsError(f"settings file {plain(str(path), 200)} is larger than {LARGEST_FILE} bytes")
    try:
        values = tomllib.loads(content.decode())
    except ValueError as error:
        raise SettingsError(
            f"settings file {plain(str(path), 200)} is no TOML file: {plain(str(error), 200)}"
        ) from error
    for name in values:
        if name not in Settings.model_fields:
            hint = _hint(name, Settings.model_fields)
            raise SettingsError(f"setting {plain(name, SHOWN_VALUE)} in {plain(str(path), 200)} is not known{hint}")
    return values


def _hint(name: str, known: Collection[str]) -> str:
    # The prefix is the same in all variables, so that it would make any two of them look alike.
    by_rest = {variable.removeprefix(PREFIX): variable for variable in known}
    near = difflib.get_close_matches(name.removeprefix(PREFIX)[:SHOWN_VALUE], by_rest, n=1)
    return f"; did you mean {by_rest[near[0]]}?" if near else "; all settings stand in docs/settings.md"


def _sentence(detail: ErrorDetails, origins: Mapping[str, str]) -> str:
    message = detail["msg"].removeprefix("Value error, ")
    if not detail["loc"]:
        return f"settings do not fit together: {message}"
    setting = str(detail["loc"][0])
    shown = plain(_written(detail["input"]), SHOWN_VALUE)
    origin = plain(origins.get(setting, variable_of(setting)), 200)
    return f'{origin}: "{shown}" cannot be used: {message[0].lower()}{message[1:]}'


def _written(value: object) -> str:
    match value:
        case str():
            return value
        case timedelta():
            return format_duration(value)
        case _:
            return repr(value)
