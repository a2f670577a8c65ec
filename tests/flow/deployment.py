"""A deployment of its own on the tests' broker: topics, settings, and the flow that is published to it."""

import contextlib
import uuid
from collections import Counter
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
from stream_dedup.kafka.observer import Stage
from stream_dedup.kafka.topic_checks import check_topics
from stream_dedup.kafka.topics import TopicNames, create_topics, wait_until_known
from stream_dedup.kafka.transport import Input
from tests.flow.articles import Article
from tests.flow.differences import Difference
from tests.flow.outputs import (
    Oracle,
    content_differences,
    count_differences,
    decided_positions,
    header,
    read_outputs,
    read_topic,
    wait_for_outputs,
)
from tests.flow.state import index_differences, restored, statistics_differences
from tests.flow.workers import RUN, Worker, worker

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

    def group_of(self, stage: Stage) -> str:
        """The consumer group of a stage."""
        return f"{self.group}.{stage}"

    def worker(
        self, name: str = "worker", program: Sequence[str] = RUN, **settings: str
    ) -> contextlib.AbstractAsyncContextManager[Worker]:
        """A worker of this deployment, by a program and with settings of its own; its log has this name."""
        chosen = {**self.settings, **settings}
        environment = {f"STREAM_DEDUP_{setting.upper()}": value for setting, value in chosen.items()}
        return worker(environment, self.logs / f"{name}.log", program)

    async def publish(self, articles: Sequence[Article]) -> None:
        """Write the articles to the raw topic, each partition's in order."""
        async with AIOKafkaProducer(
            bootstrap_servers=self.broker.connection.bootstrap_servers, enable_idempotence=True
        ) as producer:
            for partition in range(PARTITIONS):
                await _publish_partition(producer, self.topics.raw, partition, articles)

    async def decided(self, articles: int) -> None:
        """Wait until so many articles are decided."""
        await wait_for_outputs(self.broker, self.topics, PARTITIONS, articles)

    async def differences(self) -> list[Difference]:
        """How outputs, index and statistics differ from the oracle's, with nobody at work; empty when they do not."""
        await self._settle()
        raw = await read_topic(self.broker, self.topics.raw)
        outputs = await read_outputs(self.broker, self.topics)
        if found := count_differences(raw, outputs):
            return found
        oracle = self._oracle(await self.broker.topic_id(self.topics.raw))
        offsets = await self.broker.committed(self.group_of(Stage.DECIDE), self.topics.fingerprinted)
        committed = offsets.get(0, 0)
        messages, decider = oracle.decided(raw, decided_positions(outputs), committed)
        came = await restored(self.broker, self.topics.index, oracle.rules)
        statistics = await read_topic(self.broker, self.topics.statistics)
        kinds = [(header(one.headers, "dedup-verdict"), header(one.headers, "dedup-kind")) for one in outputs]
        return [
            *content_differences(outputs, messages),
            *index_differences(came, decider, committed),
            *statistics_differences(statistics, Counter(kinds)),
        ]

    async def _settle(self) -> None:
        """Wait for the last commit's markers in all logs: it is answered before, and a new owner waits for them."""
        owner = self.broker.transactions(Input(self.group_of(Stage.DECIDE), self.topics.fingerprinted, 0))
        await owner.start()
        await owner.close()

    def _oracle(self, raw_id: str) -> Oracle:
        settings = load_settings(self.settings)
        chosen = profile_of(settings)
        reading = Reading(
            fields_of(settings),
            chosen.scheme,
            settings.min_words,
            settings.max_article_bytes,
            milliseconds(settings.future_skew),
        )
        return Oracle(self.topics, reading, rules_of(settings, milliseconds(settings.window)), PARTITIONS, raw_id)


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
