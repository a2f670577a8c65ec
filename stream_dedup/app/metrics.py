"""What a worker tells Prometheus; the names are part of what operators rely on."""

from collections.abc import Callable, Collection, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from stream_dedup.kafka.observer import CommittedBatch, Stage


class Metrics:
    """Counts what the stages report, in a registry of its own."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._articles = Counter(
            "stream_dedup_articles", "Articles decided by this worker.", ["verdict", "kind"], registry=registry
        )
        self._records = Counter(
            "stream_dedup_records", "Input records that a stage has committed.", ["stage"], registry=registry
        )
        self._transactions = Counter(
            "stream_dedup_transactions", "Transactions of this worker.", ["stage", "result"], registry=registry
        )
        self._seconds = Counter(
            "stream_dedup_batch_seconds", "Time from fetch to commit, over all batches.", ["stage"], registry=registry
        )
        self._lag = Gauge(
            "stream_dedup_lag_records", "Records that wait in what this worker owns.", ["stage"], registry=registry
        )
        self._entries = Gauge("stream_dedup_index_entries", "Kept articles in the index.", registry=registry)
        self._largest_block = Gauge(
            "stream_dedup_index_largest_block",
            "Kept articles that share one block of their fingerprints, all of which a lookup may compare.",
            registry=registry,
        )
        self._unparsable = Counter(
            "stream_dedup_event_time_unparsable", "Articles whose time field could not be read.", registry=registry
        )
        self._truncated = Counter(
            "stream_dedup_candidates_truncated",
            "Articles that had more near entries than are verified.",
            registry=registry,
        )
        self._lags: dict[Stage, dict[int, int]] = {stage: {} for stage in Stage}
        for stage in Stage:
            self._records.labels(stage)
            self._lag.labels(stage)
            for result in ("committed", "failed"):
                self._transactions.labels(stage, result)

    def assigned(self, stage: Stage, partitions: Collection[int]) -> None:
        """Only the lag of what is owned counts."""
        self._lags[stage] = dict.fromkeys(partitions, 0)
        self._show_lag(stage)

    def revoked(self, stage: Stage) -> None:
        """Nothing is owned, nothing lags."""
        self.assigned(stage, ())

    def restored(self, stage: Stage, partition: int) -> None:
        """Has no metric."""

    def progressed(self, stage: Stage, partition: int) -> None:
        """Shown by `stream_dedup_progress_age_seconds`, which asks when it is read."""

    def committed(self, batch: CommittedBatch) -> None:
        """Count a transaction and its articles."""
        self._transactions.labels(batch.stage, "committed").inc()
        self._records.labels(batch.stage).inc(batch.records)
        self._seconds.labels(batch.stage).inc(batch.seconds)
        self._unparsable.inc(batch.unparsable_times)
        self._truncated.inc(batch.truncated)
        for (verdict, kind), articles in batch.verdicts.items():
            self._articles.labels(verdict, kind).inc(articles)

    def failed(self, stage: Stage, partition: int) -> None:  # noqa: ARG002 - a partition each would be many series
        """Count a transaction that did not commit."""
        self._transactions.labels(stage, "failed").inc()

    def lag(self, stage: Stage, partition: int, records: int) -> None:
        """Take the number of waiting records, as long as the partition is owned."""
        if partition in self._lags[stage]:
            self._lags[stage][partition] = records
            self._show_lag(stage)

    def following(self, records: int) -> None:
        """Shown by `stream_dedup_standby_lag_records`, which asks when it is read."""

    def index_size(self, entries: int, largest_block: int) -> None:
        """Take the size of the index."""
        self._entries.set(entries)
        self._largest_block.set(largest_block)

    def _show_lag(self, stage: Stage) -> None:
        self._lag.labels(stage).set(sum(self._lags[stage].values()))


class AskedWhenRead(Collector):
    """Figures that change by themselves, and so are taken when Prometheus asks."""

    def __init__(
        self,
        progress_ages: Callable[[], Mapping[Stage, float]],
        standby_lag: Callable[[], int | None],
        duplicate_rate: Callable[[], float | None],
    ) -> None:
        """Take what to ask: `Health.progress_ages`, `Health.standby_lag` and `Statistics.duplicate_rate`."""
        self._progress_ages = progress_ages
        self._standby_lag = standby_lag
        self._duplicate_rate = duplicate_rate

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """The gauges as they stand now; a rate only where there is one."""
        ages = GaugeMetricFamily(
            "stream_dedup_progress_age_seconds", "Since the stage's slowest loop last did something.", labels=["stage"]
        )
        for stage, age in self._progress_ages().items():
            ages.add_metric([stage], age)
        yield ages
        if (lag := self._standby_lag()) is not None:
            yield GaugeMetricFamily(
                "stream_dedup_standby_lag_records",
                "Offsets of the changelog that this standby has still to read; absent where the worker is none.",
                value=lag,
            )
        rate = self._duplicate_rate()
        yield GaugeMetricFamily(
            "stream_dedup_duplicate_rate",
            "duplicates / (unique + duplicates) of the whole deployment over the windows that /stats shows.",
            value=rate if rate is not None else float("nan"),
        )
