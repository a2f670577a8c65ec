"""What is checked of the topics at every start, so that no setting can lose an article or hold one up for ever."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stream_dedup.errors import TopicSettingsError
from stream_dedup.kafka.changelog import largest_record
from stream_dedup.kafka.client import KafkaBroker
from stream_dedup.kafka.connection import retried
from stream_dedup.kafka.topics import FOREVER, HEADROOM, Configs, TopicNames, describe_topic

UNCLEAN = "unclean.leader.election.enable"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it stands."""

    configs: Configs
    replicas: int
    """Copies of each partition; of the partition with the fewest."""


async def check_topics(broker: KafkaBroker, topics: TopicNames, batch_records: int) -> None:
    """Refuse to start on topics whose settings could lose an article or hold one up for ever.

    Args:
        broker: where.
        topics: the deployment's.
        batch_records: articles of one batch at most.

    Raises:
        TopicMissingError: one does not exist.
        TopicSettingsError: one has such a setting.
    """
    names = (topics.raw, *topics.outputs, *topics.internal)
    standing = {name: Topic(await describe_topic(broker, name), await _replicas(broker, name)) for name in names}
    for name in topics.internal:
        partitions = await broker.partitions(name)
        if partitions != 1:
            raise TopicSettingsError(
                f"{name} has {partitions} partitions and must have 1: there is one total order. Delete it (with no "
                "worker running) and let `stream-dedup topics create` make it"
            )
    problems = problems_of(topics, standing, batch_records)
    if problems:
        raise TopicSettingsError("; ".join(problems) + ". Set it with kafka-configs --alter --entity-type topics")


async def _replicas(broker: KafkaBroker, name: str) -> int:
    (description,) = await retried(lambda: broker.admin.describe_topics([name]), broker.connection.call_timeout)
    return min(len(partition["replicas"]) for partition in description["partitions"])


def problems_of(topics: TopicNames, standing: Mapping[str, Topic], batch_records: int) -> list[str]:
    """What is wrong with the topics, by their names: each has a setting, and must have another."""
    problems = [problem for rule in _RULES for problem in rule(topics, standing)]
    return problems + _changelog_fits(topics, standing, batch_records)


def _internal_is_kept(topics: TopicNames, standing: Mapping[str, Topic]) -> list[str]:
    wanted = {"cleanup.policy": "delete", "retention.ms": FOREVER, "retention.bytes": FOREVER}
    return [
        f"{name} has {setting}={standing[name].configs[setting]} and must have {value}, "
        "or what is not decided yet could expire"
        for name in (topics.fingerprinted, topics.index)
        for setting, value in wanted.items()
        if standing[name].configs[setting] != value
    ]


def _sizes_suffice(topics: TopicNames, standing: Mapping[str, Topic]) -> list[str]:
    needed = _largest_message(standing[topics.raw]) + HEADROOM
    return [
        f"{name} has max.message.bytes={_largest_message(standing[name])} and must have at least {needed}: "
        f"{topics.raw}'s and {HEADROOM} for headers"
        for name in (topics.fingerprinted, *topics.outputs)
        if _largest_message(standing[name]) < needed
    ]


def _changelog_fits(topics: TopicNames, standing: Mapping[str, Topic], batch_records: int) -> list[str]:
    has, needed = _largest_message(standing[topics.index]), largest_record(batch_records)
    if has >= needed:
        return []
    problem = f"{topics.index} has max.message.bytes={has} and must have at least {needed}"
    return [f"{problem}, for a batch of {batch_records} new articles (or lower batch_records)"]


def _timestamps_pass(topics: TopicNames, standing: Mapping[str, Topic]) -> list[str]:
    problems = []
    for name in topics.outputs:
        configs = standing[name].configs
        if configs["message.timestamp.type"] != "CreateTime":
            problems.append(
                f"{name} has message.timestamp.type={configs['message.timestamp.type']} and must have CreateTime"
            )
        for setting in ("message.timestamp.after.max.ms", "message.timestamp.before.max.ms"):
            ours, raws = configs.get(setting), standing[topics.raw].configs.get(setting)
            if ours is not None and raws is not None and int(ours) < int(raws):
                problems.append(f"{name} has {setting}={ours} and must have at least {topics.raw}'s {raws}")
    return problems


def _replicas_suffice(_topics: TopicNames, standing: Mapping[str, Topic]) -> list[str]:
    return [
        f"{name} has min.insync.replicas={topic.configs['min.insync.replicas']} and may have {topic.replicas} at most: "
        "it has no more replicas, so nothing could be written to it"
        for name, topic in standing.items()
        if int(topic.configs["min.insync.replicas"]) > topic.replicas
    ]


def _leaders_are_in_sync(topics: TopicNames, standing: Mapping[str, Topic]) -> list[str]:
    return [
        f"{name} has {UNCLEAN}={standing[name].configs[UNCLEAN]} and must have false, "
        "or a replica without the last committed records could become the leader and drop them"
        for name in (topics.index, topics.fingerprinted, *topics.outputs)
        if standing[name].replicas > 1 and standing[name].configs[UNCLEAN] != "false"
    ]


_RULES: tuple[Callable[[TopicNames, Mapping[str, Topic]], list[str]], ...] = (
    _internal_is_kept,
    _sizes_suffice,
    _timestamps_pass,
    _replicas_suffice,
    _leaders_are_in_sync,
)


def _largest_message(topic: Topic) -> int:
    return int(topic.configs["max.message.bytes"])
