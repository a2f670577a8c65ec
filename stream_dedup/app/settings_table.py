"""The page of all settings: `python -m stream_dedup.app.settings_table > docs/settings.md`."""

from collections.abc import Mapping
from datetime import timedelta

from stream_dedup.app.load_settings import CONFIG_VARIABLE, variable_of
from stream_dedup.app.setting_types import format_duration
from stream_dedup.app.settings import PREFIX, Settings

_HEAD = f"""# Settings

Each setting is an environment variable (`{PREFIX}` and its name in capitals), a key of the TOML file that
`{CONFIG_VARIABLE}` or `--config` names, and some are options of a command. An option is stronger than the
environment, the environment stronger than the file, the file stronger than the default. A value that cannot be used,
and a variable or key that is not known, stop the start with one line. Options that are no settings have variables too,
named after their command (`{PREFIX}RUN_WORKERS`); `--help` tells them.

Durations are a whole number with its unit: `50ms`, `90s`, `15m`, `72h`, `7d`. `routes` is a table in the file and a
JSON object in the variable: `{{"revision": "unique"}}`.

| variable | default | meaning |
|---|---|---|
"""


def default_of(setting: str) -> str:
    """The default as one would write it, empty where there is none."""
    match Settings.model_fields[setting].default:
        case None:
            return ""
        case timedelta() as duration:
            return format_duration(duration)
        case tuple() as several:
            return ",".join(several)
        case bool() as on:
            return "true" if on else "false"
        case Mapping():
            return "{}"
        case default:
            return str(default)


def render_settings() -> str:
    """The page in Markdown, made from the settings themselves."""
    rows = (_row(name, field.description or "") for name, field in Settings.model_fields.items())
    return _HEAD + "".join(rows)


def _row(name: str, description: str) -> str:
    default = default_of(name)
    return f"| `{variable_of(name)}` | {f'`{default}`' if default else 'none'} | {description} |\n"


if __name__ == "__main__":
    print(render_settings(), end="")
