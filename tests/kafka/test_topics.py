"""Topics on real Kafka: how they are made, and which settings are refused."""

import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio
from aiokafka.admin import NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from stream_dedup.errors import TopicMissingError, TopicSettingsError
from stream_dedup.kafka.client import KafkaBroker, connect
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.topics import TopicNames, check_topics, create_topics, wait_until_known

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass(frozen=True, slots=True)
class Deployment:
    """A connected broker and names of topics that nobody else uses."""

    kafka: KafkaBroker
    topics: TopicNames

    async def create(self) -> list[str]:
        """Make all topics."""
        names = (self.topics.raw, *self.topics.outputs, *self.topics.internal)
        return await create_topics(self.kafka, names, self.topics, partitions=3, replication=1)


@pytest_asyncio.fixture(loop_scope="session")
async def deployment(broker: str) -> AsyncIterator[Deployment]:
    """Names for seven topics; none exists yet."""
    name = uuid.uuid4().hex[:8]
    topics = TopicNames(*(f"{name}-{role}" for role in TopicNames.__slots__))
    async with connect(Connection(broker)) as kafka:
        yield Deployment(kafka, topics)


async def test_made_topics_pass_the_check(deployment: Deployment) -> None:
    """What `topics create` makes is what a start accepts; making them again changes nothing."""
    made = await deployment.create()
    assert len(made) == 7
    await check_topics(deployment.kafka, deployment.topics)
    assert await deployment.create() == []
    partitions = {name: await deployment.kafka.partitions(name) for name in made}
    assert {partitions[name] for name in deployment.topics.internal} == {1}
    assert {partitions[name] for name in (deployment.topics.raw, *deployment.topics.outputs)} == {3}


async def test_a_large_raw_topic_makes_large_ones_behind_it(deployment: Deployment) -> None:
    """The others are made after the raw topic's limit, so that what raw took can be written to each of them."""
    raw = NewTopic(deployment.topics.raw, 1, 1, topic_configs={"max.message.bytes": "5000000"})
    await deployment.kafka.admin.create_topics([raw])
    await wait_until_known(deployment.kafka, deployment.topics.raw)
    await deployment.create()
    await check_topics(deployment.kafka, deployment.topics)


@pytest.mark.parametrize("missing", ["raw", "duplicates", "index"])
async def test_a_missing_topic_is_named(deployment: Deployment, missing: str) -> None:
    """The error has the topic's name and the command that makes it."""
    await deployment.create()
    topics = replace(deployment.topics, **{missing: "no-such-topic"})
    with pytest.raises(TopicMissingError, match=r"no-such-topic.*topics create"):
        await check_topics(deployment.kafka, topics)


FAULTS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("index", {"retention.ms": "604800000"}),
    ("index", {"cleanup.policy": "compact"}),
    ("fingerprinted", {"retention.bytes": "1000000"}),
    ("fingerprinted", {"max.message.bytes": "1048588"}),
    ("unique", {"max.message.bytes": "1000"}),
    ("rejected", {"message.timestamp.type": "LogAppendTime"}),
    ("duplicates", {"message.timestamp.after.max.ms": "3600000"}),
)


@pytest.mark.parametrize(("role", "settings"), FAULTS)
async def test_settings_that_could_lose_articles_are_refused(
    deployment: Deployment, role: str, settings: Mapping[str, str]
) -> None:
    """The error names the topic, what it has, and what it must have."""
    await deployment.create()
    name = getattr(deployment.topics, role)
    await deployment.kafka.admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, dict(settings))])
    ((setting, value),) = settings.items()
    with pytest.raises(TopicSettingsError, match=f"{name} has {setting}={value} and must have"):
        await check_topics(deployment.kafka, deployment.topics)


async def test_more_than_one_decide_partition_is_refused(deployment: Deployment) -> None:
    """There is one total order, so that near-duplicates meet wherever they arrive."""
    await deployment.kafka.admin.create_topics([NewTopic(deployment.topics.fingerprinted, 2, 1)])
    await deployment.create()
    with pytest.raises(TopicSettingsError, match="2 partitions and must have 1"):
        await check_topics(deployment.kafka, deployment.topics)
