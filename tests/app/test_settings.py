"""Settings: where values come from, and how a wrong one is told."""

from datetime import timedelta
from pathlib import Path

import pytest

from stream_dedup.app.load_settings import load_settings
from stream_dedup.app.setting_types import Route, format_duration, parse_duration
from stream_dedup.app.settings import Settings
from stream_dedup.app.settings_table import render_settings
from stream_dedup.app.stages import profile_of, rules_of
from stream_dedup.core.verdict import Kind
from stream_dedup.errors import SettingsError

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"STREAM_DEDUP_{name.upper()}", raising=False)
    monkeypatch.delenv("STREAM_DEDUP_CONFIG", raising=False)


def test_each_source_is_stronger_than_the_next(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An option beats the environment, that beats the file, that beats the default."""
    file = tmp_path / "settings.toml"
    file.write_text('group = "file"\nraw_topic = "file"\nwindow = "1h"\n[routes]\nrevision = "unique"\n')
    monkeypatch.setenv("STREAM_DEDUP_CONFIG", str(file))
    monkeypatch.setenv("STREAM_DEDUP_GROUP", "environment")
    monkeypatch.setenv("STREAM_DEDUP_RAW_TOPIC", "environment")
    settings = load_settings({"raw_topic": "option"})
    assert (settings.raw_topic, settings.group, settings.window) == ("option", "environment", timedelta(hours=1))
    assert settings.unique_topic == "articles.unique"
    assert settings.topic_of(Kind.REVISION) == "articles.unique"


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("WINDOW", "3 days", ["STREAM_DEDUP_WINDOW", '"3 days"', "72h"]),
        ("WINDOW", "0s", ["STREAM_DEDUP_WINDOW", '"0s"', "longer than 0s"]),
        ("WINDOW", "99999d", ["STREAM_DEDUP_WINDOW", "at most 3650d"]),
        ("BATCH_RECORDS", "\x1b[31mten\u202e", ["STREAM_DEDUP_BATCH_RECORDS", r"\x1b[31mten\u202e", "integer"]),
        ("BATCH_RECORDS", "0", ["STREAM_DEDUP_BATCH_RECORDS", '"0"', "greater than or equal to 1"]),
        ("SESSION_TIMEOUT", "5s", ["STREAM_DEDUP_SESSION_TIMEOUT", '"5s"', "6 seconds"]),
        ("RAW_TOPIC", "two words", ["STREAM_DEDUP_RAW_TOPIC", '"two words"', "letters, digits"]),
        ("RAW_TOPIC", "articles_unique", ["articles_unique", "articles.unique", "seven names"]),
        ("BOOTSTRAP_SERVERS", "one:9092,two", ["STREAM_DEDUP_BOOTSTRAP_SERVERS", '"two"', "host:port"]),
        ("BOOTSTRAP_SERVERS", "one:99999", ["STREAM_DEDUP_BOOTSTRAP_SERVERS", "65535"]),
        ("ROUTES", '{"revison": "unique"}', ["STREAM_DEDUP_ROUTES", "revision"]),
        ("ROUTES", '{"revision": "uniqe"}', ["STREAM_DEDUP_ROUTES", "unique, duplicates, rejected"]),
        ("ROUTES", "revision", ["STREAM_DEDUP_ROUTES", "JSON object"]),
        ("PROFILE", "x" * 5000, ["STREAM_DEDUP_PROFILE", "xxx…", "'strict'"]),
        ("TEXT_FIELDS", "text,,body", ["STREAM_DEDUP_TEXT_FIELDS", "single dots"]),
        ("CALL_TIMEOUT", "61s", ["call_timeout (61s)", "transaction_timeout (1m)"]),
        ("MAX_ARTICLE_BYTES", "9000000", ["max_article_bytes (9000000)", "batch_bytes (8000000)"]),
        ("WINDWO", "72h", ["STREAM_DEDUP_WINDWO", "did you mean STREAM_DEDUP_WINDOW?"]),
        ("QQQQ", "1", ["STREAM_DEDUP_QQQQ", "docs/settings.md"]),
        ("CONFIG", "/no/such/file.toml", ["/no/such/file.toml", "No such file"]),
    ],
)
def test_a_wrong_value_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, told: list[str]
) -> None:
    """The line names the variable, the value and what is allowed; it is short and nothing in it moves a terminal."""
    monkeypatch.setenv(f"STREAM_DEDUP_{variable}", value)
    with pytest.raises(SettingsError) as caught:
        load_settings({})
    line = str(caught.value)
    assert [part for part in told if part not in line] == []
    assert line.isprintable()
    assert len(line) < 400


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('windwo = "72h"', ["windwo", "did you mean window?"]),
        ('window = "3 days"', ["window in", '"3 days"', "72h"]),
        ("window =", ["no TOML file"]),
        ("max_entries = 1.5", ["max_entries in", '"1.5"', "integer"]),
    ],
)
def test_a_wrong_file_is_told_in_one_line(tmp_path: Path, content: str, told: list[str]) -> None:
    """The line names the key, the file and what is allowed."""
    file = tmp_path / "settings.toml"
    file.write_text(content)
    with pytest.raises(SettingsError) as caught:
        load_settings({}, config=file)
    assert [part for part in [*told, str(file)] if part not in str(caught.value)] == []


@pytest.mark.parametrize("written", ["50ms", "90s", "15m", "72h", "7d", "3650d"])
def test_durations_are_written_as_they_are_read(written: str) -> None:
    """A duration comes back in the form in which one would write it."""
    assert format_duration(parse_duration(written)) == written


def test_every_kind_has_an_output() -> None:
    """Without routes each kind goes to the topic of its verdict; a route moves one kind and no other."""
    settings = load_settings({"routes": {"near": Route.UNIQUE}})
    topics = {kind: settings.topic_of(kind) for kind in Kind}
    assert {kind for kind, topic in topics.items() if topic == "articles.duplicates"} == {Kind.EXACT, Kind.REVISION}
    assert {kind for kind, topic in topics.items() if topic == "articles.rejected"} == {Kind.UNREADABLE}
    assert topics[Kind.NEAR] == topics[Kind.NEW] == "articles.unique"


def test_the_profile_has_the_radius_and_threshold_of_the_settings() -> None:
    """Where they are given they stand in place of the profile's own; text from a variable is a number."""
    default = profile_of(load_settings({}))
    assert (default.name, default.radius, default.threshold) == ("strict", 3, 0.55)
    chosen = profile_of(load_settings({"profile": "thorough", "radius": "5", "threshold": "0.7"}))
    assert (chosen.name, chosen.radius, chosen.threshold) == ("thorough", 5, 0.7)
    assert rules_of(load_settings({"profile": "balanced"}), None).radius == 7


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"radius": "8"}, "--radius.*7"),
        ({"radius": "-1"}, "--radius.*0"),
        ({"threshold": "1.01"}, "--threshold.*1"),
        ({"threshold": "nan"}, "--threshold"),
        ({"profile": "loose"}, "--profile.*loose.*'strict', 'balanced', 'thorough'"),
        ({"profile": "minhash", "radius": "3"}, "minhash .*equal bands.* 3 bits"),
    ],
)
def test_a_profile_that_cannot_be_is_refused(options: dict[str, str], said: str) -> None:
    """A value out of its range, an unknown name, and a radius where there is none, in one sentence."""
    with pytest.raises(SettingsError, match=said):
        profile_of(load_settings(options))


def test_the_page_of_settings_is_up_to_date() -> None:
    """docs/settings.md is what `python -m stream_dedup.app.settings_table` prints."""
    assert PAGE.read_text() == render_settings()
