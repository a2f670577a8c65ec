"""`stream-dedup demo`: see it work."""

from pathlib import Path

import click

from stream_dedup.app.options import config_option, read_settings, setting_option


@click.command(short_help="See it all work on a local Kafka.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@setting_option("profile")
@config_option
def demo(file: Path | None) -> None:
    """Start a local Kafka and a worker, publish articles, and show each verdict as it falls.

    FILE has an article in each line, as JSON (.gz is read too); without it some written for this purpose are used.
    Everything is stopped at the end and nothing is kept but the downloaded Kafka.

    \b
    Examples:
      stream-dedup demo
      stream-dedup demo my-articles.jsonl
    """
    settings = read_settings()
    from stream_dedup.app.demo import run_demo  # noqa: PLC0415 - Faust and aiokafka are for those who run

    click.get_current_context().exit(run_demo(settings, file))
