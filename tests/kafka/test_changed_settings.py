"""Settings that change between two lives of a deployment."""

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from stream_dedup.core.verdict import Kind, Verdict
from stream_dedup.kafka.changelog import ChangelogRecord, decode_record
from stream_dedup.testing import CHANGELOG, HOUR, StreamDriver, Trial
from tests.kafka.test_stages import NEAR, NEWS, OTHER

TRIAL = Trial(partitions=1, window=24 * HOUR)


def _changelog(driver: StreamDriver) -> list[ChangelogRecord]:
    return [decode_record(record.value, "here") for record in driver.broker.log(CHANGELOG, 0).records]


def _kinds(driver: StreamDriver) -> list[str | None]:
    return [output.header("dedup-kind") for output in driver.read()]


def _decide(driver: StreamDriver, *texts: str) -> list[str | None]:
    for text in texts:
        driver.pipe({"text": text})
    return _kinds(driver)


def _pass(driver: StreamDriver, hours: int) -> None:
    """Let event time go on: the clock is the fifth highest."""
    driver.advance(hours * HOUR)
    words = ("harbour", "council", "bridge", "library", "river")
    _decide(driver, *(" ".join(f"{word}{driver.now}x{n}" for n in range(60)) for word in words))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (replace(TRIAL, window=HOUR), {"window": "1 day, 0:00:00 -> 1:00:00"}),
        (replace(TRIAL, window=None), {"window": "1 day, 0:00:00 -> none"}),
        (replace(TRIAL, max_entries=7), {"max_entries": "5000000 -> 7"}),
        (replace(TRIAL, vetoes=False), {"vetoes": "True -> False"}),
        (
            replace(TRIAL, routes={Kind.LATE: Verdict.DUPLICATE}),
            {"topic of late": "articles.unique -> articles.duplicates"},
        ),
        (
            replace(TRIAL, routes={Kind.REVISION: Verdict.UNIQUE}),
            {"keep_revisions": "False -> True", "topic of revision": "articles.duplicates -> articles.unique"},
        ),
        (TRIAL, {}),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, dict) else "",
)
def test_a_change_is_an_event_of_the_changelog(changed: Trial, told: dict[str, str]) -> None:
    """One record without articles, told with old and new value, made once; the index and the sequence go on."""
    with StreamDriver(TRIAL) as driver:
        assert _decide(driver, NEWS) == ["new"]
        driver.restart(changed)
        with capture_logs() as logs:
            assert _decide(driver, NEAR) == ["near"]
        events = [line for line in logs if line["log_level"] == "warning"]
        assert [{name: line[name] for name in told} for line in events] == ([told] if told else [])
        driver.restart()
        assert _decide(driver, OTHER) == ["new"]
        records = _changelog(driver)
    assert [record.delta.end == record.delta.start for record in records] == [False, *[True] * bool(told), False, False]
    assert [record.delta.sequence for record in records] == ([1, 1, 2, 3] if told else [1, 2, 3])
    assert records[-1].delta.rules == changed.rules()


def test_an_event_is_made_durable_before_anything_is_decided_under_it() -> None:
    """A worker that dies between the event and its first batch leaves the event, and the next one makes no other."""
    with StreamDriver(TRIAL) as driver:
        _decide(driver, NEWS)
        driver.restart(replace(TRIAL, window=HOUR))
        assert _kinds(driver) == []
        driver.restart()
        assert _kinds(driver) == []
        assert [record.delta.rules.window for record in _changelog(driver)] == [24 * HOUR, HOUR]


@pytest.mark.parametrize("trimmed", [False, True])
def test_a_longer_window_brings_nobody_back(monkeypatch: pytest.MonkeyPatch, *, trimmed: bool) -> None:
    """What the shorter window had left behind is gone, whether it still stood in the changelog or not."""
    monkeypatch.setattr("stream_dedup.kafka.replica.MARK_EVERY", 1)
    monkeypatch.setattr("stream_dedup.kafka.decide_stage.TIDY_EVERY", 0.0 if trimmed else 1e12)
    with StreamDriver(replace(TRIAL, batch_records=1)) as driver:
        _decide(driver, NEWS)
        _pass(driver, 25)
        _decide(driver, OTHER)
        assert (driver.broker.log(CHANGELOG, 0).start > 0) is trimmed
        driver.restart(replace(driver.trial, window=1000 * HOUR))
        assert _decide(driver, NEWS, OTHER) == ["new", "exact"]
        before = driver.decide_stage.decider.digest()
        driver.restart()
        driver.read()
        assert driver.decide_stage.decider.digest() == before


def test_a_shorter_window_holds_at_once() -> None:
    """An entry that the new window has left behind is nobody's original any more."""
    with StreamDriver(TRIAL) as driver:
        _decide(driver, NEWS)
        _pass(driver, 2)
        driver.restart(replace(TRIAL, window=HOUR))
        assert _decide(driver, NEWS) == ["new"]


def test_the_state_after_an_event_comes_back_as_it_was() -> None:
    """Restored from the changelog, through changes there and back, it is the state that was."""
    with StreamDriver(TRIAL) as driver:
        _decide(driver, NEWS)
        for window in (HOUR, None, 24 * HOUR):
            _pass(driver, 2)
            driver.restart(replace(TRIAL, window=window))
            _decide(driver, OTHER)
        before = driver.decide_stage.decider.digest()
        driver.restart()
        driver.read()
        assert driver.decide_stage.decider.digest() == before
