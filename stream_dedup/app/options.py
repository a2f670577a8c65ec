"""Options that commands share: each setting's option takes its help, default and variable from the setting itself."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import click

from stream_dedup.app.load_settings import CONFIG_VARIABLE, load_settings, variable_of
from stream_dedup.app.settings import PREFIX, Settings
from stream_dedup.app.settings_table import default_of

_Command = TypeVar("_Command", bound=Callable[..., object])
_META = "stream_dedup.app.options"
"""Where a click context keeps the settings given as options."""

option = partial(click.option, show_envvar=True)
"""An option that is no setting; its variable is named after the command: STREAM_DEDUP_WATCH_JSON."""


def setting_option(setting: str) -> Callable[[_Command], _Command]:
    """The option of a setting; its value reaches the command by `read_settings`."""
    return click.option(
        f"--{setting.replace('_', '-')}",
        metavar="VALUE",
        help=_help(setting),
        expose_value=False,
        allow_from_autoenv=False,
        callback=_keep,
    )


def switch_option(setting: str) -> Callable[[_Command], _Command]:
    """The option of a setting that is on or off: `--NAME` and `--no-NAME`."""
    name = setting.replace("_", "-")
    return click.option(
        f"--{name}/--no-{name}",
        default=None,
        help=_help(setting),
        expose_value=False,
        allow_from_autoenv=False,
        callback=_keep,
    )


def _help(setting: str) -> str:
    note = f"[env var: {variable_of(setting)}; default: {default_of(setting) or 'none'}]"
    return f"{Settings.model_fields[setting].description}  {note}"


config_option = click.option(
    "--config",
    type=click.Path(path_type=Path),
    help=f"TOML file of settings.  [env var: {CONFIG_VARIABLE}]",
    expose_value=False,
    allow_from_autoenv=False,
    callback=lambda context, _, value: context.meta.__setitem__(CONFIG_VARIABLE, value),
)


def read_settings(**more: object) -> Settings:
    """The settings of the running command; `more` counts as given on the command line.

    Raises:
        SettingsError: a value that cannot be used, or a name that is not known.
    """
    context = click.get_current_context()
    return load_settings(
        {**context.meta.get(_META, {}), **more},
        config=context.meta.get(CONFIG_VARIABLE),
        other_variables=command_variables(context.find_root().command),
    )


def command_variables(command: click.Command, prefix: str = PREFIX) -> set[str]:
    """Variables of a command's options that are no settings, and of those of its subcommands."""
    names = {
        f"{prefix}{parameter.name}".upper()
        for parameter in command.params
        if isinstance(parameter, click.Option) and parameter.allow_from_autoenv and parameter.name
    }
    if isinstance(command, click.Group):
        for name, subcommand in command.commands.items():
            names |= command_variables(subcommand, f"{prefix}{name}_")
    return names


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    if value is not None and parameter.name is not None:
        context.meta.setdefault(_META, {})[parameter.name] = value
