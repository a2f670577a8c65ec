"""All settings: their names, defaults and meaning, and what must hold between them."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from stream_dedup.app.setting_types import (
    DEFAULT_PROFILE,
    MAX_PORT,
    Addresses,
    Duration,
    DurationOrZero,
    FieldPath,
    FieldPaths,
    GroupName,
    ProfileName,
    Route,
    Routes,
    TopicName,
    format_duration,
)
from stream_dedup.core.verdict import VERDICT_OF, Kind, Verdict

PREFIX = "STREAM_DEDUP_"
_ROUTE_OF: Mapping[Verdict, Route] = {
    Verdict.UNIQUE: Route.UNIQUE,
    Verdict.DUPLICATE: Route.DUPLICATES,
    Verdict.REJECTED: Route.REJECTED,
}


class Settings(BaseSettings):
    """Every setting with its default; the descriptions are what `--help` and the documentation show."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid", validate_default=True)

    bootstrap_servers: Addresses = Field(("localhost:9092",), description="Kafka brokers, host:port joined by commas.")
    group: GroupName = Field(
        "stream-dedup",
        description="Name of the deployment; consumer groups and transactional ids are made from it.",
    )
    raw_topic: TopicName = Field("articles.raw", description="Topic that articles are read from.")
    unique_topic: TopicName = Field("articles.unique", description="Topic of articles that repeat nothing.")
    duplicates_topic: TopicName = Field("articles.duplicates", description="Topic of articles that repeat another.")
    rejected_topic: TopicName = Field("articles.rejected", description="Topic of records that are no article.")
    fingerprinted_topic: TopicName = Field(
        "stream-dedup.fingerprinted", description="Internal topic between the two stages."
    )
    index_topic: TopicName = Field("stream-dedup.index", description="Internal topic that the index is restored from.")
    statistics_topic: TopicName = Field("stream-dedup.statistics", description="Internal topic of figures.")
    profile: ProfileName = Field(
        DEFAULT_PROFILE,
        description="How near two articles must be: strict, balanced or thorough; or a known recipe: full-tf, "
        "tfidf-top20 or minhash.",
    )
    radius: int | None = Field(
        None, ge=0, le=7, description="Hamming distance in bits of near fingerprints; none: the profile's."
    )
    threshold: float | None = Field(
        None, ge=0, le=1, description="Estimated Jaccard similarity of duplicates; none: the profile's."
    )
    vetoes: bool = Field(
        default=True, description="Replaced numbers, dates or names keep a near article from being a duplicate."
    )
    window: Duration = Field(timedelta(hours=72), description="How long a kept article can be an original.")
    max_entries: int = Field(5_000_000, ge=1, description="Kept articles in the index; beyond it the oldest leave.")
    standby: int = Field(
        1, ge=0, le=100, description="Workers that hold the index ready to take over, beside the one that decides."
    )
    min_words: int = Field(8, ge=1, le=1000, description="An article with fewer words is never a duplicate.")
    text_fields: FieldPaths = Field(
        ("text", "content", "body"), description="Fields of the text, joined by commas; the first that is not blank."
    )
    title_field: FieldPath = Field("title", description="Field of the title, compared only where there is no text.")
    id_field: FieldPath = Field("id", description="Field of the article's id.")
    time_field: FieldPath | None = Field(None, description="Field of the event time; none: the record's timestamp.")
    source_field: FieldPath = Field("source", description="Field of the source, for statistics.")
    language_field: FieldPath = Field("lang", description="Field of the language, for statistics.")
    max_article_bytes: int = Field(1_048_576, ge=1024, le=100_000_000, description="A larger record is rejected.")
    future_skew: DurationOrZero = Field(
        timedelta(minutes=5), description="An event time further in the future is brought back to this."
    )
    routes: Routes = Field(
        {}, description="Kinds that go to another output than their verdict's: unique, duplicates or rejected."
    )
    batch_records: int = Field(1000, ge=1, le=100_000, description="Records in one transaction at most.")
    batch_bytes: int = Field(
        8_000_000, ge=1024, le=1_000_000_000, description="Bytes of records in one transaction at most."
    )
    batch_wait: Duration = Field(timedelta(milliseconds=50), description="How long a batch waits for its first record.")
    session_timeout: Duration = Field(
        timedelta(seconds=10),
        ge=timedelta(seconds=6),
        le=timedelta(minutes=30),
        description="A worker that is silent for so long has lost its partitions.",
    )
    transaction_timeout: Duration = Field(
        timedelta(seconds=60), le=timedelta(minutes=15), description="The broker ends a transaction open for so long."
    )
    call_timeout: Duration = Field(timedelta(seconds=20), description="Limit of each call to a broker.")
    raw_partitions: int = Field(4, ge=1, le=10_000, description="Partitions of article topics that are made.")
    replication_factor: int = Field(1, ge=1, le=100, description="Replicas of topics that are made.")
    web_host: str = Field("127.0.0.1", min_length=1, max_length=253, description="Address the web server listens on.")
    web_port: int = Field(6066, ge=0, le=MAX_PORT, description="Port of the web server; 0 takes a free one.")
    statistics_window: Duration = Field(
        timedelta(seconds=60), ge=timedelta(seconds=1), description="Length of the windows that figures are shown in."
    )
    log_format: Literal["auto", "console", "json"] = Field(
        "auto", description="console, json, or auto: console on a terminal and json elsewhere."
    )
    data_dir: Path = Field(Path(".stream-dedup"), description="Folder of the local broker.")

    @property
    def article_topics(self) -> tuple[str, ...]:
        """Names of the input and the three outputs, which are users' topics."""
        return self.raw_topic, self.unique_topic, self.duplicates_topic, self.rejected_topic

    @property
    def internal_topics(self) -> tuple[str, ...]:
        """Names of the topics that only the stages use."""
        return self.fingerprinted_topic, self.index_topic, self.statistics_topic

    def topic_of(self, kind: Kind) -> str:
        """The output topic that articles of a kind go to."""
        match self.routes.get(kind, _ROUTE_OF[VERDICT_OF[kind]]):
            case Route.UNIQUE:
                return self.unique_topic
            case Route.DUPLICATES:
                return self.duplicates_topic
            case Route.REJECTED:
                return self.rejected_topic

    @model_validator(mode="after")
    def _topics_differ(self) -> Self:
        topics = self.article_topics + self.internal_topics
        # Kafka's metrics write a dot as an underscore, so that it refuses names which differ in nothing else.
        seen = {topic.replace(".", "_") for topic in topics}
        if len(seen) < len(topics):
            raise ValueError(f"the seven topics need seven names that differ in more than . and _: {', '.join(topics)}")
        return self

    @model_validator(mode="after")
    def _limits_fit(self) -> Self:
        for shorter, longer, why in _ORDERED_LIMITS:
            least, most = getattr(self, shorter), getattr(self, longer)
            if least > most:
                raise ValueError(f"{shorter} ({_written(least)}) must not be above {longer} ({_written(most)}): {why}")
        return self


_ORDERED_LIMITS = (
    ("batch_wait", "call_timeout", "waiting for records is a call to a broker"),
    ("call_timeout", "transaction_timeout", "the broker would end a transaction whose commit is still awaited"),
    ("session_timeout", "transaction_timeout", "a slow worker would lose its transaction before its partitions"),
    ("max_article_bytes", "batch_bytes", "a batch must hold one article of the largest size"),
)
"""Pairs of settings, the first of which must not exceed the second, with the reason."""


def _written(value: object) -> str:
    return format_duration(value) if isinstance(value, timedelta) else str(value)
