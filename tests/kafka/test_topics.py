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
from stream_dedup.kafka.topic_checks import Topic, check_topics, problems_of
from stream_dedup.kafka.topics import TopicNames, create_topics, wait_until_known

pytestmark = pytest.mark.asyncio(loop_scope="session")

BATCH_RECORDS = 20_000


@dataclass(frozen=True, slots=True)
class Deployment:
    """A connected broker and names of topics that nobody else uses."""

    kafka: KafkaBroker
    topics: TopicNames

    async def create(self, batch_records: int = BATCH_RECORDS) -> list[str]:
        """Make all topics."""
        names = (self.topics.raw, *self.topics.outputs, *self.topics.internal)
        return await create_topics(
            self.kafka, names, self.topics, partitions=3, replication=1, batch_records=batch_records
        )

    async def check(self, topics: TopicNames | None = None) -> None:
        """Check them as a start does."""
        await check_topics(self.kafka, topics or self.topics, BATCH_RECORDS)


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
    await deployment.check()
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
    await deployment.check()


@pytest.mark.parametrize("missing", ["raw", "duplicates", "index"])
async def test_a_missing_topic_is_named(deployment: Deployment, missing: str) -> None:
    """The error has the topic's name and the command that makes it."""
    await deployment.create()
    topics = replace(deployment.topics, **{missing: "no-such-topic"})
    with pytest.raises(TopicMissingError, match=r"no-such-topic.*topics create"):
        await deployment.check(topics)


FAULTS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("index", {"retention.ms": "604800000"}),
    ("index", {"cleanup.policy": "compact"}),
    ("fingerprinted", {"retention.bytes": "1000000"}),
    ("fingerprinted", {"max.message.bytes": "1048588"}),
    ("unique", {"max.message.bytes": "1000"}),
    ("rejected", {"message.timestamp.type": "LogAppendTime"}),
    ("duplicates", {"message.timestamp.after.max.ms": "3600000"}),
    ("index", {"max.message.bytes": "4194304"}),
    ("index", {"min.insync.replicas": "2"}),
    ("raw", {"min.insync.replicas": "2"}),
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
    with pytest.raises(TopicSettingsError, match=f"{name} has {setting}={value} and (must|may) have"):
        await deployment.check()


async def test_more_than_one_decide_partition_is_refused(deployment: Deployment) -> None:
    """There is one total order, so that near-duplicates meet wherever they arrive."""
    await deployment.kafka.admin.create_topics([NewTopic(deployment.topics.fingerprinted, 2, 1)])
    await deployment.create()
    with pytest.raises(TopicSettingsError, match="2 partitions and must have 1"):
        await deployment.check()


@pytest.mark.parametrize(
    ("replicas", "unclean", "refused"),
    [
        pytest.param(3, "true", True, id="committed records could be lost"),
        pytest.param(3, "false", False, id="they could not"),
        pytest.param(1, "true", False, id="there is no other replica"),
    ],
)
async def test_a_leader_that_lacks_records_is_refused(replicas: int, unclean: str, *, refused: bool) -> None:
    """Where there are replicas, none that is behind may lead what verdicts are made from or written to."""
    topics = TopicNames(*TopicNames.__slots__)
    kept = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
    configs = {
        "max.message.bytes": "1000000",
        "message.timestamp.type": "CreateTime",
        "min.insync.replicas": "1",
        **kept,
    }
    raw = {**configs, "max.message.bytes": "1000", "unclean.leader.election.enable": "true"}
    names = (*topics.outputs, *topics.internal)
    standing = {name: Topic({**configs, "unclean.leader.election.enable": unclean}, replicas) for name in names}
    problems = problems_of(topics, {**standing, topics.raw: Topic(raw, replicas)}, 10)
    wanted = {topics.index, topics.fingerprinted, *topics.outputs} if refused else set()
    assert {problem.split()[0] for problem in problems} == wanted
    assert all("has unclean.leader.election.enable=true and must have false" in problem for problem in problems)
