"""The topics: their names, and how they are made so that no setting can lose an article."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiokafka.admin import NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import NoError, TopicAlreadyExistsError, UnknownTopicOrPartitionError, for_code

from stream_dedup.errors import BrokerRefusedError, TopicMissingError
from stream_dedup.kafka.changelog import largest_record
from stream_dedup.kafka.client import KafkaBroker
from stream_dedup.kafka.connection import RETRY_PAUSE, retried

Configs = Mapping[str, str]

FOREVER = "-1"
ANY_TIMESTAMP = str(2**63 - 1)
"""Timestamps are the publishers'; an article dated 2099 is judged like any other."""
HEADROOM = 16 * 1024
"""Bytes that handover or evidence may add to a record: ids, names and a reason are bounded to under half of it."""
CHANGELOG_MESSAGE_BYTES = 4 * 1024 * 1024
"""Largest changelog record where batches are small enough: there is room to make them eight times as large."""
STATISTICS_RETENTION_MS = 7 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class TopicNames:
    """The topics of one deployment."""

    raw: str
    unique: str
    duplicates: str
    rejected: str
    fingerprinted: str
    index: str
    statistics: str

    @property
    def outputs(self) -> tuple[str, str, str]:
        """Where articles leave."""
        return self.unique, self.duplicates, self.rejected

    @property
    def internal(self) -> tuple[str, str, str]:
        """What only this project writes and reads; one partition each, for one total order."""
        return self.fingerprinted, self.index, self.statistics


async def create_topics(
    broker: KafkaBroker,
    names: Sequence[str],
    topics: TopicNames,
    *,
    partitions: int,
    replication: int,
    batch_records: int,
) -> list[str]:
    """Make those of the named topics that are missing; the ones made.

    Args:
        broker: where.
        names: which of `topics`.
        topics: all of the deployment's.
        partitions: of the raw topic and the outputs.
        replication: copies of each partition.
        batch_records: articles of one batch at most, which one changelog record must hold.

    Raises:
        TopicMissingError: the raw topic, after whose limits the others are made, neither exists nor is named.
        BrokerRefusedError: the broker refuses to make one.
    """

    def new(name: str, largest: int) -> NewTopic:
        return NewTopic(
            name=name,
            num_partitions=1 if name in topics.internal else partitions,
            replication_factor=replication,
            topic_configs=_configs(name, topics, largest, batch_records),
        )

    made = await _make(broker, [new(topics.raw, 0)]) if topics.raw in names else []
    raw = await describe_topic(broker, topics.raw)
    largest = int(raw["max.message.bytes"]) + HEADROOM
    return made + await _make(broker, [new(name, largest) for name in names if name != topics.raw])


async def _make(broker: KafkaBroker, new: Sequence[NewTopic]) -> list[str]:
    response = await retried(lambda: broker.admin.create_topics(new), broker.connection.call_timeout)
    made = []
    for name, code, *message in response.topic_errors:
        error = for_code(code)
        if error is NoError:
            made.append(name)
        elif error is not TopicAlreadyExistsError:
            raise BrokerRefusedError(f"the broker refuses to make the topic {name}: {error.__name__} {message}")
    await asyncio.gather(*(wait_until_known(broker, name) for name in made))
    return made


async def wait_until_known(broker: KafkaBroker, topic: str) -> None:
    """Wait until a topic just made can be described: brokers learn of it a moment after the controller answered.

    Raises:
        TopicMissingError: it is still unknown after the limit of a call.
    """
    try:
        async with asyncio.timeout(broker.connection.call_timeout):
            while True:
                try:
                    await describe_topic(broker, topic)
                    await broker.bounds(topic, 0)
                except TopicMissingError:
                    await asyncio.sleep(RETRY_PAUSE)
                else:
                    return
    except TimeoutError as error:
        raise TopicMissingError(f"{topic} was made, but no broker knows it yet: try again") from error


def _configs(name: str, topics: TopicNames, largest: int, batch_records: int) -> dict[str, str]:
    """A new topic's configuration; `largest` is the size of message in bytes that those after raw must take."""
    size = {"max.message.bytes": str(largest)}
    stamps = {"message.timestamp.type": "CreateTime", "message.timestamp.after.max.ms": ANY_TIMESTAMP}
    if name == topics.raw:
        return stamps
    if name in topics.outputs:
        return {**size, **stamps}
    if name == topics.statistics:
        return {"cleanup.policy": "delete", "retention.ms": str(STATISTICS_RETENTION_MS)}
    # Their owner trims them; wall-clock expiry would cut into a window that runs in event time.
    kept = {"cleanup.policy": "delete", "retention.ms": FOREVER, "retention.bytes": FOREVER}
    if name == topics.index:
        return {**kept, "max.message.bytes": str(max(CHANGELOG_MESSAGE_BYTES, largest_record(batch_records)))}
    return {**kept, **size}


async def describe_topic(broker: KafkaBroker, topic: str) -> Configs:
    """A topic's settings by their names, defaults included.

    Raises:
        TopicMissingError: there is no such topic.
        BrokerRefusedError: the broker does not tell.
    """
    resource = ConfigResource(ConfigResourceType.TOPIC, topic)
    (response,) = await retried(lambda: broker.admin.describe_configs([resource]), broker.connection.call_timeout)
    ((code, message, _type, _name, entries, *_),) = response.resources
    if for_code(code) is UnknownTopicOrPartitionError:
        raise TopicMissingError(
            f"there is no topic {topic} at {broker.connection.bootstrap_servers}: "
            "make it with `stream-dedup topics create`"
        )
    if for_code(code) is not NoError:
        raise BrokerRefusedError(f"the broker does not tell the settings of {topic}: {message}")
    return {name: value for name, value, *_ in entries}
