"""`stream-dedup publish` and `watch`: articles in, verdicts out."""

import click

from stream_dedup.app.options import config_option, option, read_settings, setting_option

_ARTICLES = click.Path(exists=True, dir_okay=False, allow_dash=True)


@click.command(short_help="Articles in: the lines of a file to the raw topic.")
@click.argument("file", type=_ARTICLES)
@setting_option("bootstrap_servers")
@setting_option("raw_topic")
@setting_option("id_field")
@setting_option("time_field")
@config_option
def publish(file: str) -> None:
    """Publish the lines of FILE to the raw topic, each as it is, bad ones too.

    FILE has an article in each line, as JSON; .gz is read too, and - is the standard input. The key is the article's
    id where it has one, the timestamp is now or what --time-field names.

    \b
    Examples:
      stream-dedup publish articles.jsonl
      zcat archive.gz | stream-dedup publish - --time-field published_at
    """
    settings = read_settings()
    from stream_dedup.app.publish import publish_file  # noqa: PLC0415 - aiokafka is for those who publish

    click.get_current_context().exit(publish_file(settings, file))


@click.command(short_help="Verdicts out, as they are committed.")
@option("--json", is_flag=True, help="One JSON object a line, the same keys as `dedup` prints.")
@option("--from-start", is_flag=True, help="Everything the topics still hold, not only what comes from now on.")
@option("--idle-exit", type=click.FloatRange(min=0), metavar="S", help="End after S seconds without a verdict.")
@setting_option("bootstrap_servers")
@setting_option("unique_topic")
@setting_option("duplicates_topic")
@setting_option("rejected_topic")
@config_option
def watch(*, json: bool, from_start: bool, idle_exit: float | None) -> None:
    """Show verdicts as they are committed, in their order.

    \b
    Examples:
      stream-dedup watch
      stream-dedup watch --json --from-start --idle-exit 5 > verdicts.jsonl
    """
    settings = read_settings()
    from stream_dedup.app.watch import watch_verdicts  # noqa: PLC0415 - aiokafka is for those who watch

    watch_verdicts(settings, as_json=json, from_start=from_start, idle_exit=idle_exit)
