"""Prometheus finds the workers, and its alerts ask for what workers tell."""

import re
from collections.abc import Mapping

import pytest
from prometheus_client import CollectorRegistry

from stream_dedup.app.health import STALLED_AFTER
from stream_dedup.app.metrics import AskedWhenRead, Metrics
from stream_dedup.core.verdict import Kind, Verdict
from stream_dedup.kafka.observer import CommittedBatch, Stage
from tests.deploy.files import COMPOSE, RULES, SCRAPED, Alert, table


def _samples() -> Mapping[str, dict[str, set[str]]]:
    """What a worker that has done everything tells Prometheus: the names, their labels, the labels' values."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    verdicts = {(Verdict.UNIQUE, Kind.NEW): 1, (Verdict.REJECTED, Kind.UNREADABLE): 1}
    metrics.committed(CommittedBatch(Stage.DECIDE, 0, 2, 0.1, verdicts))
    registry.register(AskedWhenRead(lambda: dict.fromkeys(Stage, 0.0), lambda: 0, lambda: 0.5))
    found: dict[str, dict[str, set[str]]] = {}
    for sample in (sample for metric in registry.collect() for sample in metric.samples):
        labels = found.setdefault(sample.name, {})
        for label, value in sample.labels.items():
            labels.setdefault(label, set()).add(value)
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.alert)
def test_alerts_ask_for_metrics_that_exist(rule: Alert) -> None:
    """An alert on a name or a label's value that no worker gives would never be raised."""
    told = _samples()
    for name in re.findall(r"\bstream_dedup_\w+", rule.expr):
        assert name in told
    for name, label, value in re.findall(r"\b(stream_dedup_\w+)\{(\w+)=\"(\w+)\"", rule.expr):
        assert value in told[name][label]
    for label in re.findall(r"\$labels\.(\w+)", " ".join(rule.annotations.values())):
        assert label in {"instance", "stage"}
    assert re.findall(r'job="([\w-]+)"', rule.expr) in ([], [SCRAPED.scrape_configs[0].job_name])


def test_prometheus_finds_every_worker() -> None:
    """The name that is looked up is the service's, and Compose answers it with one address a worker."""
    (scrape,) = SCRAPED.scrape_configs
    assert [(found.names, found.type) for found in scrape.dns_sd_configs] == [(["worker"], "A")]
    assert "worker" in COMPOSE.services


def test_guide_tells_metrics_as_they_are() -> None:
    """Each metric of the guide exists, with the labels named there."""
    told = _samples()
    for name, *_ in table("metric"):
        metric, _, labels = name.rstrip("}").partition("{")
        assert metric in told
        assert told[metric].keys() == set(filter(None, labels.split(",")))


def test_guide_tells_what_to_do_for_each_alert() -> None:
    """The guide's alerts are those of the rules."""
    assert [row[0] for row in table("alert")] == [rule.alert for rule in RULES]


def test_the_alert_and_the_health_check_agree() -> None:
    """What the health check calls standing still, the alert does."""
    (rule,) = [rule for rule in RULES if rule.alert == "StreamDedupNoProgress"]
    assert rule.expr == f"stream_dedup_progress_age_seconds > {STALLED_AFTER:.0f}"
