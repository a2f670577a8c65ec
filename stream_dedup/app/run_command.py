"""`stream-dedup run`: a worker, or several."""

import click

from stream_dedup.app.options import config_option, option, read_settings, setting_option


@click.command(short_help="A worker, or several.")
@option("--embedded", is_flag=True, help="Start a local broker in --data-dir, and stop it at the end.")
@option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Worker processes.")
@setting_option("bootstrap_servers")
@setting_option("group")
@setting_option("profile")
@setting_option("radius")
@setting_option("threshold")
@setting_option("window")
@setting_option("standby")
@setting_option("web_host")
@setting_option("web_port")
@setting_option("log_format")
@setting_option("data_dir")
@config_option
def run(*, embedded: bool, workers: int) -> None:
    """Run a worker: fingerprint articles and, one worker of all, decide.

    Start as many as you like, on one machine or several; they share the work. Needs the article topics
    (`stream-dedup topics create`); --embedded makes them itself.

    \b
    Examples:
      stream-dedup run --embedded
      stream-dedup run --bootstrap-servers kafka1:9092,kafka2:9092 --workers 4
    """
    settings = read_settings()
    from stream_dedup.app.run import run_workers  # noqa: PLC0415 - Faust and aiokafka are for those who run

    click.get_current_context().exit(run_workers(settings, workers, embedded=embedded))
