"""The two stages as the settings want them."""

import random
import time
from collections.abc import Sequence
from typing import TypeVar

from stream_dedup.app.connections import connection_of, fields_of
from stream_dedup.app.setting_types import milliseconds
from stream_dedup.app.settings import Settings
from stream_dedup.core.block_table import compile_lookup
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.rules import Rules
from stream_dedup.core.scheme import Profile, check_recipe, profile
from stream_dedup.core.verdict import Kind
from stream_dedup.kafka.assignor import Role, StandbyAssignor
from stream_dedup.kafka.client import KafkaBroker
from stream_dedup.kafka.decide_stage import DecidedBatch, DecideStage, Outputs
from stream_dedup.kafka.fingerprint_stage import FingerprintStage, HandoverTopics, Reading
from stream_dedup.kafka.loop import Batch, PartitionLoop, Processor
from stream_dedup.kafka.observer import Observer, Stage
from stream_dedup.kafka.points import Reached
from stream_dedup.kafka.replica import Replica
from stream_dedup.kafka.runner import Membership, StageRunner
from stream_dedup.kafka.standby import Standby
from stream_dedup.kafka.transport import Input

B = TypeVar("B", bound=Batch)


def profile_of(settings: Settings) -> Profile:
    """The chosen profile, with the radius and the threshold of the settings where they are given.

    Raises:
        SettingsError: the profile cannot have this radius.
    """
    return profile(settings.profile, radius=settings.radius, threshold=settings.threshold)


def rules_of(settings: Settings, window: int | None) -> Rules:
    """The rules of deciding with a window in ms, None for one without an end."""
    chosen = profile_of(settings)
    return Rules(
        radius=chosen.radius,
        threshold=chosen.threshold,
        window=window,
        max_entries=settings.max_entries,
        keep_revisions=settings.topic_of(Kind.REVISION) == settings.unique_topic,
        vetoes=settings.vetoes,
    )


def build_stages(
    settings: Settings, broker: KafkaBroker, observer: Observer, reached: Reached
) -> Sequence[StageRunner]:
    """Both stages of one worker, which call `reached` at each point that they pass.

    Raises:
        RecipeMismatchError: this machine's segmenter gives other words than the scheme's name promises.
    """
    check_recipe(profile_of(settings).scheme)
    compile_lookup()
    return [_fingerprint(settings, broker, observer, reached), _decide(settings, broker, observer, reached)]


def _fingerprint(settings: Settings, broker: KafkaBroker, observer: Observer, reached: Reached) -> StageRunner:
    group = f"{settings.group}.{Stage.FINGERPRINT}"
    reading = Reading(
        fields=fields_of(settings),
        scheme=profile_of(settings).scheme,
        min_words=settings.min_words,
        max_article_bytes=settings.max_article_bytes,
        future_skew=milliseconds(settings.future_skew),
    )

    topics = HandoverTopics(settings.fingerprinted_topic, settings.index_topic)

    def new_loop(partition: int) -> PartitionLoop[Batch]:
        of = Input(group, settings.raw_topic, partition)
        stage = FingerprintStage(broker, of, topics, reading, _wall_clock)
        return _loop(settings, broker, of, stage, observer)

    membership = Membership(group, settings.raw_topic, settings.session_timeout.total_seconds())
    return StageRunner(connection_of(settings), membership, Stage.FINGERPRINT, new_loop, observer, reached=reached)


def _decide(settings: Settings, broker: KafkaBroker, observer: Observer, reached: Reached) -> StageRunner:
    group = f"{settings.group}.{Stage.DECIDE}"
    outputs = Outputs(
        routes={kind: settings.topic_of(kind) for kind in Kind},
        changelog=settings.index_topic,
        statistics=settings.statistics_topic,
    )
    of = Input(group, settings.fingerprinted_topic, 0)
    # One for the worker's life: its index goes on as a standby's when another worker takes the partition over.
    replica = Replica(rules_of(settings, milliseconds(settings.window)), estimated_jaccard)
    assignor = StandbyAssignor(settings.standby, lambda: replica.offset)
    stage = DecideStage(
        broker,
        of,
        outputs,
        replica=replica,
        observer=observer,
        wall_clock=_wall_clock,
        monotonic=time.monotonic,
        reached=reached,
    )

    def new_loop(_partition: int) -> PartitionLoop[DecidedBatch]:
        return _loop(settings, broker, of, stage, observer)

    def spare_loop() -> Standby | None:
        if assignor.role is Role.STANDBY:
            return Standby(broker, settings.index_topic, replica, observer, random.random)
        replica.forget()  # another worker stands by: the index would only take up memory
        return None

    membership = Membership(group, settings.fingerprinted_topic, settings.session_timeout.total_seconds(), assignor)
    return StageRunner(
        connection_of(settings), membership, Stage.DECIDE, new_loop, observer, spare_loop=spare_loop, reached=reached
    )


def _loop(
    settings: Settings, broker: KafkaBroker, of: Input, processor: Processor[B], observer: Observer
) -> PartitionLoop[B]:
    return PartitionLoop(
        broker,
        of,
        processor,
        observer,
        batch_records=settings.batch_records,
        batch_wait=settings.batch_wait.total_seconds(),
        monotonic=time.monotonic,
        random=random.random,
    )


def _wall_clock() -> int:
    return time.time_ns() // 1_000_000
