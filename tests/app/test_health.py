"""What /healthz and /readyz answer, and /metrics."""

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry

from stream_dedup.app.health import Health
from stream_dedup.app.metrics import AskedWhenRead, Metrics
from stream_dedup.app.observers import Observers
from stream_dedup.app.statistics import Statistics
from stream_dedup.app.web import Pages
from stream_dedup.core.verdict import Kind, Verdict
from stream_dedup.kafka.observer import CommittedBatch, Observer, Stage


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """The time in seconds."""
        return self.now


def test_healthy_as_long_as_every_loop_does_something() -> None:
    """A loop is stalled when it only failed for longer than the limit; another's work is no excuse."""
    clock = Clock()
    health = Health(clock, stalled_after=60)
    health.assigned(Stage.DECIDE, [])
    health.assigned(Stage.FINGERPRINT, [0, 1])
    health.lag(Stage.FINGERPRINT, 1, 7)
    for _ in range(7):
        clock.now += 10
        health.progressed(Stage.FINGERPRINT, 0)
        health.failed(Stage.FINGERPRINT, 1)
    assert health.stalled() == ["fingerprint 1: no progress for 70 s, 7 records wait"]
    assert health.progress_ages() == {Stage.FINGERPRINT: 70}
    health.committed(CommittedBatch(Stage.FINGERPRINT, 1, records=7, seconds=1))
    assert health.stalled() == []


def test_ready_when_all_that_is_owned_is_restored() -> None:
    """Not before both stages know what they own, and not while anything of it is restored; owning nothing is ready."""
    health = Health(Clock())
    health.assigned(Stage.FINGERPRINT, [])
    assert health.waiting() == ["decide: no partitions assigned yet"]
    health.assigned(Stage.DECIDE, [0])
    health.progressed(Stage.DECIDE, 0)
    assert health.waiting() == ["decide 0: restoring"]
    health.restored(Stage.DECIDE, 0)
    assert health.waiting() == []
    health.assigned(Stage.DECIDE, [0])
    assert health.waiting() == ["decide 0: restoring"]
    health.revoked(Stage.DECIDE)
    assert health.waiting() == ["decide: no partitions assigned yet"]


def test_a_standby_is_ready_once_it_has_caught_up() -> None:
    """Behind for the first time it is restoring; later it lags as followers do, and without progress it is stalled."""
    clock = Clock()
    health = Health(clock, stalled_after=60)
    for stage in Stage:
        health.assigned(stage, [])
    assert (health.standby_lag(), health.waiting()) == (None, [])
    health.following(3000)
    assert (health.standby_lag(), health.waiting()) == (3000, ["standby: restoring"])
    health.following(0)
    health.following(2)
    assert (health.standby_lag(), health.waiting()) == (2, [])
    clock.now += 61
    assert health.stalled() == ["standby: no progress for 61 s, 2 records wait"]
    health.assigned(Stage.DECIDE, [])
    assert (health.standby_lag(), health.stalled()) == (None, [])


def test_a_rebalance_is_no_progress() -> None:
    """Given and taken again and again without a batch, a partition is stalled; another owner's time is not counted."""
    clock = Clock()
    health = Health(clock, stalled_after=60)
    health.assigned(Stage.FINGERPRINT, [])
    for seconds_owned in (20, 20, 19):
        clock.now += 1000
        health.assigned(Stage.DECIDE, [0])
        clock.now += seconds_owned
        assert health.stalled() == []
        health.revoked(Stage.DECIDE)
    health.assigned(Stage.DECIDE, [0])
    clock.now += 2
    assert health.stalled() == ["decide 0: no progress for 61 s, 0 records wait"]
    health.progressed(Stage.DECIDE, 0)
    health.revoked(Stage.DECIDE)
    health.assigned(Stage.DECIDE, [0])
    clock.now += 60
    assert health.stalled() == []


def test_a_worker_that_its_groups_tell_nothing_is_not_healthy() -> None:
    """Whether it never joined or was put out: owning nothing is healthy only when the group has said so."""
    clock = Clock()
    health = Health(clock, stalled_after=60)
    clock.now += 61
    assert health.stalled() == [f"{stage}: no member of its group for 61 s" for stage in Stage]
    for stage in Stage:
        health.assigned(stage, [])
    clock.now += 1000
    assert health.stalled() == []
    health.revoked(Stage.DECIDE)
    clock.now += 60
    assert health.stalled() == []
    clock.now += 1
    assert health.stalled() == ["decide: no member of its group for 61 s"]


def test_a_report_that_comes_late_counts_for_nothing() -> None:
    """What a loop says of a partition that was just taken away changes nothing."""
    health = Health(Clock())
    health.assigned(Stage.FINGERPRINT, [])
    health.assigned(Stage.DECIDE, [0])
    health.assigned(Stage.DECIDE, [])
    health.restored(Stage.DECIDE, 0)
    health.lag(Stage.DECIDE, 0, 5)
    assert (health.stalled(), health.progress_ages()) == ([], {})


def report(observer: Observer) -> None:
    """A short life of a worker."""
    observer.assigned(Stage.FINGERPRINT, [0, 1])
    observer.assigned(Stage.DECIDE, [0])
    observer.restored(Stage.DECIDE, 0)
    observer.lag(Stage.FINGERPRINT, 0, 5)
    observer.lag(Stage.FINGERPRINT, 1, 6)
    observer.lag(Stage.FINGERPRINT, 2, 1000)  # not owned
    verdicts = {(Verdict.UNIQUE, Kind.NEW): 2, (Verdict.DUPLICATE, Kind.NEAR): 1}
    observer.committed(CommittedBatch(Stage.FINGERPRINT, 0, records=3, seconds=0.5, unparsable_times=1))
    observer.committed(CommittedBatch(Stage.DECIDE, 0, records=3, seconds=0.25, verdicts=verdicts, truncated=2))
    observer.failed(Stage.DECIDE, 0)
    observer.index_size(2, 1)
    observer.progressed(Stage.DECIDE, 0)


SHOWN_OF_A_STANDBY = "stream_dedup_standby_lag_records 7.0"
EXPECTED = """\
stream_dedup_articles_total{kind="new",verdict="unique"} 2.0
stream_dedup_articles_total{kind="near",verdict="duplicate"} 1.0
stream_dedup_records_total{stage="fingerprint"} 3.0
stream_dedup_transactions_total{result="committed",stage="decide"} 1.0
stream_dedup_transactions_total{result="failed",stage="decide"} 1.0
stream_dedup_transactions_total{result="failed",stage="fingerprint"} 0.0
stream_dedup_batch_seconds_total{stage="decide"} 0.25
stream_dedup_lag_records{stage="fingerprint"} 11.0
stream_dedup_lag_records{stage="decide"} 0.0
stream_dedup_index_entries 2.0
stream_dedup_index_largest_block 1.0
stream_dedup_event_time_unparsable_total 1.0
stream_dedup_candidates_truncated_total 2.0
stream_dedup_progress_age_seconds{stage="decide"} 3.0
stream_dedup_duplicate_rate NaN
"""


async def test_the_pages_show_what_the_stages_report() -> None:
    """Metrics under their promised names; health and readiness as status codes; nothing at /."""
    clock = Clock()
    health, registry, statistics = Health(clock, stalled_after=60), CollectorRegistry(), Statistics(60_000)
    registry.register(AskedWhenRead(health.progress_ages, health.standby_lag, statistics.duplicate_rate))
    observer = Observers(health, Metrics(registry))
    application = web.Application()
    application.add_routes(Pages(health, registry, statistics).routes())
    async with TestClient(TestServer(application)) as client:
        assert (await client.get("/readyz")).status == 503
        report(observer)
        clock.now += 3
        metrics = (await (await client.get("/metrics")).text()).splitlines()
        assert [line for line in EXPECTED.splitlines() if line not in metrics] == []
        assert (await client.get("/healthz")).status == 200
        observer.following(7)
        assert SHOWN_OF_A_STANDBY in (await (await client.get("/metrics")).text()).splitlines()
        clock.now += 60
        unhealthy = await client.get("/healthz")
        assert unhealthy.status == 503
        assert (await unhealthy.json())["healthy"] is False
        assert (await (await client.get("/stats")).json())["articles"]["unique"] == 0
        assert (await client.get("/")).status == 404
