"""A deployment of its own on the tests' broker: topics, settings, and the flow that is published to it."""

import contextlib
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiokafka import AIOKafkaProducer
from aiokafka.admin import NewTopic

from stream_dedup.app.connections import fields_of
from stream_dedup.app.load_settings import load_settings
from stream_dedup.app.setting_types import milliseconds
from stream_dedup.app.stages import profile_of, rules_of
from stream_dedup.kafka.client import KafkaBroker, connect
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.fingerprint_stage import Reading
from stream_dedup.kafka.topic_checks import check_topics
from stream_dedup.kafka.topics import TopicNames, create_topics, wait_until_known
from tests.flow.articles import Article
from tests.flow.outputs import Oracle, differences, read_outputs, read_topic, wait_for_outputs
from tests.flow.workers import Worker, worker

PARTITIONS = 4


@dataclass(frozen=True, slots=True)
class Deployment:
    """Topics of their own, ready to be published to."""

    broker: KafkaBroker
    topics: TopicNames
    group: str
    settings: Mapping[str, str]
    """By their names."""
    logs: Path

    def worker(self, name: str = "worker", **settings: str) -> contextlib.AbstractAsyncContextManager[Worker]:
        """A worker of this deployment, with settings of its own; its log is in the file of this name."""
        chosen = {**self.settings, **settings}
        environment = {f"STREAM_DEDUP_{setting.upper()}": value for setting, value in chosen.items()}
        return worker(environment, self.logs / f"{name}.log")

    async def publish(self, articles: Sequence[Article]) -> None:
        """Write the articles to the raw topic, each partition's in order."""
        async with AIOKafkaProducer(
            bootstrap_servers=self.broker.connection.bootstrap_servers, enable_idempotence=True
        ) as producer:
            for partition in range(PARTITIONS):
                await _publish_partition(producer, self.topics.raw, partition, articles)

    async def decided(self, articles: int) -> None:
        """Wait until so many articles are decided."""
        await wait_for_outputs(self.broker, self.topics, articles)

    async def differences(self) -> list[str]:
        """How the committed outputs differ from the oracle's; empty when they do not."""
        settings = load_settings(self.settings)
        chosen = profile_of(settings)
        reading = Reading(
            fields_of(settings),
            chosen.scheme,
            settings.min_words,
            settings.max_article_bytes,
            milliseconds(settings.future_skew),
        )
        oracle = Oracle(self.topics, reading, rules_of(settings, milliseconds(settings.window)), PARTITIONS)
        raw = await read_topic(self.broker, self.topics.raw)
        return differences(raw, await read_outputs(self.broker, self.topics), oracle)


@contextlib.asynccontextmanager
async def deployment(
    bootstrap_servers: str, logs: Path, *, raw_bytes: int | None = None, replication: int = 1, **settings: str
) -> AsyncIterator[Deployment]:
    """A deployment with names that nobody else uses, its topics made; further settings by their names.

    Args:
        bootstrap_servers: of the tests' broker.
        logs: folder for the workers' logs.
        raw_bytes: largest record of the raw topic; the broker's default where left out.
        replication: copies of each partition.
        settings: further settings of the workers.
    """
    name = uuid.uuid4().hex[:8]
    topics = TopicNames(*(f"{name}-{role}" for role in TopicNames.__slots__))
    chosen = {
        "bootstrap_servers": bootstrap_servers,
        "group": name,
        "web_port": "0",
        **{f"{role}_topic": getattr(topics, role) for role in TopicNames.__slots__},
        **settings,
    }
    async with connect(Connection(bootstrap_servers)) as broker:
        if raw_bytes is not None:
            configs = {"max.message.bytes": str(raw_bytes), "message.timestamp.after.max.ms": str(2**63 - 1)}
            await broker.admin.create_topics([NewTopic(topics.raw, PARTITIONS, replication, topic_configs=configs)])
            await wait_until_known(broker, topics.raw)
        names = (topics.raw, *topics.outputs, *topics.internal)
        await create_topics(broker, names, topics, partitions=PARTITIONS, replication=replication, batch_records=1000)
        await check_topics(broker, topics, batch_records=1000)
        yield Deployment(broker, topics, name, chosen, logs)


async def _publish_partition(
    producer: AIOKafkaProducer, topic: str, partition: int, articles: Sequence[Article]
) -> None:
    """In whole batches, which take null keys and values together, as `send` does not."""
    batch = producer.create_batch()
    for article in articles:
        if article.partition != partition:
            continue
        record = {"timestamp": article.timestamp, "key": article.key, "value": article.value}
        if batch.append(**record, headers=list(article.headers)) is None:
            await (await producer.send_batch(batch, topic, partition=partition))
            batch = producer.create_batch()
            batch.append(**record, headers=list(article.headers))
    if batch.record_count():
        await (await producer.send_batch(batch, topic, partition=partition))
