"""What the guide for operators says, and what all the files name, exists in the code."""

import re
import shlex
from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from prometheus_client import CollectorRegistry

from stream_dedup import errors
from stream_dedup.app.cli import cli
from stream_dedup.app.health import Health
from stream_dedup.app.load_settings import CONFIG_VARIABLE, load_settings, variable_of
from stream_dedup.app.settings import Settings
from stream_dedup.app.statistics import Statistics
from stream_dedup.app.web import Pages
from stream_dedup.kafka.observer import Stage
from tests.deploy.files import (
    COMPOSE_FILE,
    DEFAULTS,
    GUIDE,
    ROOT,
    SCRAPED,
    TEXTS,
    TOPICS,
    WORKER,
    arguments,
    exec_form,
    table,
)

VARIABLES = {variable_of(name): name for name in Settings.model_fields}


def _commands() -> Iterator[list[str]]:
    """Every command line of ours in the files: what follows the program's name, or stands in for it in Compose."""
    yield from (WORKER.command, TOPICS.command, exec_form("CMD"))
    for line in re.findall(r"`stream-dedup ([^`]+)`", TEXTS[GUIDE]):
        yield shlex.split(line)
    for line in re.findall(r"^docker compose run --rm (?:-T )?worker (.+?)(?: < .+)?$", TEXTS[GUIDE], re.MULTILINE):
        yield shlex.split(line)


@pytest.mark.parametrize("command", _commands(), ids=" ".join)
def test_commands_exist(command: list[str]) -> None:
    """Every command that the files start or advise is one of ours, with options it has."""
    result = CliRunner().invoke(cli, [*command, "--help"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", TEXTS)
def test_variables_are_settings(name: str) -> None:
    """Every variable with our prefix is a setting's: a worker refuses to start on another."""
    found = set(re.findall(r"STREAM_DEDUP_\w+", TEXTS[name]))
    assert found <= VARIABLES.keys() | {CONFIG_VARIABLE}
    assert found or name not in {COMPOSE_FILE, GUIDE}


def test_variables_have_the_defaults_of_the_settings() -> None:
    """A default that Compose or the guide writes out is the setting's own."""
    shown = re.findall(r"\$\{(STREAM_DEDUP_\w+):-([^}]+)\}", TEXTS[COMPOSE_FILE])
    shown += [(row[0], row[1]) for row in table("variable") if row[1] != "none"]
    assert len(shown) > 10
    for variable, value in shown:
        setting = VARIABLES[variable]
        read = load_settings({setting: value})
        assert getattr(read, setting) == getattr(DEFAULTS, setting), variable


def test_paths_are_those_of_the_web_server() -> None:
    """The guide tells every path that a worker answers, and checks and scrapes ask for paths that it answers."""
    pages = Pages(Health(lambda: 0.0), CollectorRegistry(), Statistics(60_000))
    answered = {route.path for route in pages.routes()}
    assert {row[0] for row in table("path")} == answered
    (check,) = arguments("HEALTHCHECK")
    asked = re.findall(r"http://[^/]+(/\w+)", check) + [scrape.metrics_path for scrape in SCRAPED.scrape_configs]
    assert asked == ["/healthz", "/metrics"]
    assert answered.issuperset(asked)


def test_guide_links_to_files() -> None:
    """Every file that the guide links to exists."""
    links = re.findall(r"\]\(([^)#]+)\)", TEXTS[GUIDE])
    assert len(links) > 5
    assert [link for link in links if not (ROOT / "deploy" / link).is_file()] == []


def test_guide_tells_every_exit_code() -> None:
    """The guide's exit codes are those of the errors."""
    own = {error.exit_code: error.__name__ for error in errors.StreamDedupError.__subclasses__() if error.exit_code > 1}
    assert {int(code): name for code, name, _ in table("code") if int(code) > 2} == own


def test_guide_names_the_topics_and_groups() -> None:
    """The guide's topics are the settings' defaults, all of them, and its groups are those the stages join."""
    topics = [row[0] for row in table("topic")]
    assert topics == [*DEFAULTS.article_topics, *DEFAULTS.internal_topics]
    groups = {f"{DEFAULTS.group}.{stage}" for stage in Stage}
    named = set(re.findall(r"\b(?:articles|stream-dedup)\.[a-z]+\b", TEXTS[GUIDE]))
    assert named == {*topics, *groups}
