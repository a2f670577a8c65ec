"""The command `stream-dedup`: its subcommands, and how errors and Ctrl-C end."""

import sys

import click

from stream_dedup.app.archive_commands import dedup, evaluate, tune
from stream_dedup.app.articles_commands import publish, watch
from stream_dedup.app.broker_commands import broker, topics
from stream_dedup.app.compare_command import compare
from stream_dedup.app.demo_command import demo
from stream_dedup.app.options import option
from stream_dedup.app.plain_text import plain
from stream_dedup.app.reset_command import reset
from stream_dedup.app.run_command import run
from stream_dedup.app.settings import PREFIX
from stream_dedup.errors import StreamDedupError

NAME = "stream-dedup"
EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""
LONGEST_ERROR = 1000
"""Characters of an error's line."""


class _Commands(click.Group):
    """Ends every error with one line and its exit code, unless --debug asks for the traceback."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except StreamDedupError as error:
            if ctx.params["debug"]:
                raise
            _say(str(error))
            ctx.exit(error.exit_code)
        except (click.ClickException, click.exceptions.Exit, click.Abort, OSError):
            raise
        except Exception as error:
            if ctx.params["debug"]:
                raise
            _say(f"unexpected {type(error).__name__}: {error} (put --debug before the command to see where)")
            ctx.exit(1)


@click.group(
    cls=_Commands,
    name=NAME,
    context_settings={"auto_envvar_prefix": PREFIX.removesuffix("_"), "max_content_width": 110},
)
@click.version_option(package_name=NAME, message="%(prog)s %(version)s")
@option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(*, debug: bool) -> None:
    """Find near-duplicate news articles in a Kafka topic, exactly once.

    \b
    Examples:
      stream-dedup demo                          see it work, nothing else needed
      stream-dedup run --embedded                a worker with a local broker
      stream-dedup publish articles.jsonl        articles in
      stream-dedup watch --from-start            verdicts out
      stream-dedup dedup articles.jsonl          the same verdicts without a broker

    \b
    Completion of commands and options in the shell:
      bash   eval "$(_STREAM_DEDUP_COMPLETE=bash_source stream-dedup)"
      zsh    eval "$(_STREAM_DEDUP_COMPLETE=zsh_source stream-dedup)"
      fish   _STREAM_DEDUP_COMPLETE=fish_source stream-dedup | source

    \b
    Exit codes: 0 done, 1 some input was rejected or failed, 2 wrong usage, 3 wrong settings, 4 no broker answers,
    5 topic missing, 6 topic settings, 7 port in use, 8 local broker, 9 logs contradict, 10 other segmenter,
    11 refused by the broker, 12 workers run, 130 Ctrl-C.
    """


for _command in (demo, run, broker, topics, reset, publish, watch, dedup, compare, evaluate, tune):
    cli.add_command(_command)


def main() -> None:
    """Run the command of this process and end the process."""
    sys.exit(run_cli(sys.argv[1:]))


def run_cli(arguments: list[str]) -> int:
    """Run a command and return its exit code; wrong usage becomes one line on stderr, as other errors do."""
    try:
        result = cli.main(args=arguments, prog_name=NAME, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else NAME
        _say(f"{error.format_message()} See {command} --help")
        return error.exit_code
    except click.ClickException as error:
        _say(error.format_message())
        return error.exit_code
    except click.Abort:
        return EXIT_INTERRUPTED
    return result if isinstance(result, int) else 0


def _say(message: str) -> None:
    click.echo(f"{NAME}: {plain(message, LONGEST_ERROR)}", err=True)
