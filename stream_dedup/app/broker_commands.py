"""`stream-dedup broker` and `stream-dedup topics`: a Kafka for a laptop, and the topics."""

import click

from stream_dedup.app.options import config_option, option, read_settings, setting_option
from stream_dedup.app.setting_types import MAX_PORT


@click.command(short_help="A local Kafka, until Ctrl-C.")
@option("--port", type=click.IntRange(0, MAX_PORT), default=9092, show_default=True, help="Port; 0 takes a free one.")
@setting_option("data_dir")
@config_option
def broker(*, port: int) -> None:
    """Run a local broker until Ctrl-C: the Apache Kafka that production runs, one node, fetched the first time.

    \b
    Examples:
      stream-dedup broker
      stream-dedup broker --data-dir /tmp/kafka --port 0
    """
    settings = read_settings()
    from stream_dedup.app.brokers import run_broker  # noqa: PLC0415 - aiokafka is for those who run

    run_broker(settings, port)


@click.group()
def topics() -> None:
    """Make the topics."""


@topics.command(short_help="Make the topics that are missing.")
@setting_option("bootstrap_servers")
@setting_option("raw_partitions")
@setting_option("replication_factor")
@config_option
def create() -> None:
    """Make the article topics and the internal ones that are missing, and check the others.

    \b
    Examples:
      stream-dedup topics create
      stream-dedup topics create --raw-partitions 8 --replication-factor 3
    """
    settings = read_settings()
    from stream_dedup.app.brokers import make_topics  # noqa: PLC0415 - aiokafka is for those who run

    make_topics(settings)
