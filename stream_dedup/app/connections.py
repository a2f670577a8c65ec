"""From settings to what the Kafka side takes."""

from stream_dedup.app.settings import Settings
from stream_dedup.core.article import Fields
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.topics import TopicNames


def connection_of(settings: Settings) -> Connection:
    """How to reach the brokers."""
    return Connection(
        bootstrap_servers=",".join(settings.bootstrap_servers),
        call_timeout=settings.call_timeout.total_seconds(),
        transaction_timeout=settings.transaction_timeout.total_seconds(),
        batch_bytes=settings.batch_bytes,
    )


def topics_of(settings: Settings) -> TopicNames:
    """The deployment's topics."""
    return TopicNames(
        raw=settings.raw_topic,
        unique=settings.unique_topic,
        duplicates=settings.duplicates_topic,
        rejected=settings.rejected_topic,
        fingerprinted=settings.fingerprinted_topic,
        index=settings.index_topic,
        statistics=settings.statistics_topic,
    )


def fields_of(settings: Settings) -> Fields:
    """Where an article's parts stand."""
    return Fields(
        text=settings.text_fields,
        title=settings.title_field,
        id=settings.id_field,
        time=settings.time_field,
        source=settings.source_field,
        language=settings.language_field,
    )
