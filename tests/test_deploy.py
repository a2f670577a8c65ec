"""The files that operators start from agree with the code and with each other."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import msgspec
import pytest
import yaml
from click.testing import CliRunner
from prometheus_client import CollectorRegistry

from stream_dedup import errors
from stream_dedup.app.cli import cli
from stream_dedup.app.load_settings import CONFIG_VARIABLE, variable_of
from stream_dedup.app.metrics import AskedWhenRead, Metrics
from stream_dedup.app.settings import Settings
from stream_dedup.core.verdict import Kind, Verdict
from stream_dedup.kafka.observer import CommittedBatch, Stage

ROOT = Path(__file__).parent.parent
COMPOSE, DOCKERFILE, IGNORED = "docker-compose.yml", "deploy/Dockerfile", ".dockerignore"
SCRAPES, ALERTS, GUIDE = "deploy/prometheus.yml", "deploy/alerts.yml", "deploy/README.md"
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in (COMPOSE, DOCKERFILE, SCRAPES, ALERTS, GUIDE)}
DEFAULTS = Settings()
VARIABLES = {variable_of(name): name for name in Settings.model_fields}
EXACT_VERSION = re.compile(r"[\w./-]+:v?\d+\.\d+\.\d+(-[\w.-]+)?")


class Build(msgspec.Struct, forbid_unknown_fields=True):
    """Where an image comes from."""

    context: str
    dockerfile: str


class Dependency(msgspec.Struct, forbid_unknown_fields=True):
    """What a service waits for."""

    condition: str


class HealthCheck(msgspec.Struct, forbid_unknown_fields=True):
    """How Docker asks after a service, or that it does not."""

    test: list[str] = []
    interval: str = ""
    timeout: str = ""
    retries: int = 0
    start_period: str = ""
    start_interval: str = ""
    disable: bool = False


class Service(msgspec.Struct, forbid_unknown_fields=True):
    """A service, with the keys of the Compose specification that are used here; a misspelt one is refused."""

    image: str
    restart: str
    build: Build | None = None
    pull_policy: str = ""
    hostname: str = ""
    environment: dict[str, str | int] = {}
    command: list[str] = []
    depends_on: dict[str, Dependency] = {}
    healthcheck: HealthCheck | None = None
    ports: list[str] = []
    volumes: list[str] = []
    init: bool = False
    cap_drop: list[str] = []
    security_opt: list[str] = []
    stop_grace_period: str = ""
    container_name: str = ""


class Compose(msgspec.Struct):
    """The whole of docker-compose.yml."""

    services: dict[str, Service]
    volumes: dict[str, None]


class Discovery(msgspec.Struct, forbid_unknown_fields=True):
    """Names that Prometheus looks up."""

    names: list[str]
    type: str
    port: int
    refresh_interval: str


class Scrape(msgspec.Struct, forbid_unknown_fields=True):
    """One job of Prometheus."""

    job_name: str
    metrics_path: str
    dns_sd_configs: list[Discovery]


class Prometheus(msgspec.Struct):
    """The part of prometheus.yml that names other files and workers."""

    rule_files: list[str]
    scrape_configs: list[Scrape]


class Alert(msgspec.Struct, forbid_unknown_fields=True, rename={"hold": "for"}):
    """One alerting rule."""

    alert: str
    expr: str
    hold: str
    labels: dict[str, str]
    annotations: dict[str, str]


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of the Dockerfile, its continued lines joined."""

    name: str
    arguments: str


def _dockerfile() -> list[Instruction]:
    lines = [line for line in TEXTS[DOCKERFILE].splitlines() if line and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Instruction(*line.split(" ", 1)) for line in joined.splitlines()]


SERVICES = msgspec.convert(yaml.safe_load(TEXTS[COMPOSE]), Compose).services
WORKER, TOPICS, KAFKA = (SERVICES[name] for name in ("worker", "topics", "kafka"))
SCRAPED = msgspec.convert(yaml.safe_load(TEXTS[SCRAPES]), Prometheus)
RULES = msgspec.convert(yaml.safe_load(TEXTS[ALERTS])["groups"][0]["rules"], list[Alert])
IMAGE = _dockerfile()


def _json_arguments(name: str) -> list[list[str]]:
    """The arguments of all instructions of a name, which must be in exec form (a JSON array)."""
    found = (instruction.arguments for instruction in IMAGE if instruction.name == name)
    return [msgspec.json.decode(arguments, type=list[str]) for arguments in found]


def _table(heading: str) -> list[list[str]]:
    """The rows of the guide's table whose first column has this heading, without back quotes."""
    after = TEXTS[GUIDE].split(f"\n| {heading} |", 1)[1]
    rows = after.split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip().replace("`", "") for cell in row.strip("|").split(" | ")] for row in rows]


def _commands() -> Iterator[list[str]]:
    """Every command line of ours in the files: what follows the program's name, or stands in for it in Compose."""
    yield from (WORKER.command, TOPICS.command, *(_json_arguments("CMD")))
    for line in re.findall(r"`stream-dedup ([^`]+)`", TEXTS[GUIDE]):
        yield shlex.split(line)
    for line in re.findall(r"^docker compose run --rm (?:-T )?worker (.+?)(?: < .+)?$", TEXTS[GUIDE], re.MULTILINE):
        yield shlex.split(line)


@pytest.mark.parametrize("name", TEXTS)
def test_variables_are_settings(name: str) -> None:
    """Every variable with our prefix is a setting's: a worker refuses to start on another."""
    found = set(re.findall(r"STREAM_DEDUP_\w+", TEXTS[name]))
    assert found <= VARIABLES.keys() | {CONFIG_VARIABLE}
    assert found or name not in {COMPOSE, GUIDE}


def test_variables_have_the_defaults_of_the_settings() -> None:
    """A default that Compose or the guide writes out is the setting's own."""
    shown = re.findall(r"\$\{(STREAM_DEDUP_\w+):-([^}]+)\}", TEXTS[COMPOSE])
    shown += [(row[0], row[1]) for row in _table("variable") if row[1] != "none"]
    assert len(shown) > 10
    for variable, value in shown:
        setting = VARIABLES[variable]
        read = Settings.model_validate({setting: value if setting != "routes" else msgspec.json.decode(value)})
        assert getattr(read, setting) == getattr(DEFAULTS, setting), variable


@pytest.mark.parametrize("command", _commands(), ids=" ".join)
def test_commands_exist(command: list[str]) -> None:
    """Every command that the files start or advise is one of ours, with options it has."""
    result = CliRunner().invoke(cli, [*command, "--help"])
    assert result.exit_code == 0, result.output


def test_images_are_pinned() -> None:
    """Images have a whole version, so that the same files start the same programs next year."""
    bases = [instruction.arguments.removesuffix(" AS build") for instruction in IMAGE if instruction.name == "FROM"]
    for image in [*bases, *(service.image for service in SERVICES.values())]:
        assert EXACT_VERSION.fullmatch(image), image
    assert len(set(bases)) == 1, "the environment is built by the Python that runs it"


def test_workers_scale() -> None:
    """Several workers can run on one machine: no name and no port of the host is taken by the first."""
    assert WORKER.container_name == ""
    assert WORKER.hostname == ""
    assert all(port.split(":")[1] == "" for port in WORKER.ports)


def test_ports_are_open_to_this_machine_alone() -> None:
    """Kafka and Prometheus have no password here, so nothing listens beyond the host."""
    published = [port for service in SERVICES.values() for port in service.ports]
    assert len(published) == 3
    assert all(re.fullmatch(r"127\.0\.0\.1:\d*:\d+", port) for port in published)


def test_web_port_is_one() -> None:
    """Image, Compose, health check and Prometheus mean the port that the worker listens on."""
    (check,) = [instruction.arguments for instruction in IMAGE if instruction.name == "HEALTHCHECK"]
    (exposed,) = [instruction.arguments for instruction in IMAGE if instruction.name == "EXPOSE"]
    (command,) = _json_arguments("CMD")
    assert WORKER.command == command == ["run", "--web-host", "0.0.0.0", "--web-port", str(DEFAULTS.web_port)]
    ports = [exposed, WORKER.ports[0].split(":")[2], *re.findall(r"127\.0\.0\.1:(\d+)/healthz", check)]
    ports += [str(found.port) for found in SCRAPED.scrape_configs[0].dns_sd_configs]
    assert ports == [str(DEFAULTS.web_port)] * 4


def test_services_wait_for_each_other() -> None:
    """Topics are made when Kafka answers, workers start when the topics are there."""
    assert KAFKA.healthcheck is not None
    assert KAFKA.healthcheck.test[0] == "CMD"
    assert TOPICS.command == ["topics", "create"]
    assert TOPICS.restart == "no"
    ready = Dependency("service_healthy")
    assert TOPICS.depends_on == {"kafka": ready}
    assert WORKER.depends_on == {"kafka": ready, "topics": Dependency("service_completed_successfully")}


def test_kafka_is_reached_where_it_listens() -> None:
    """Containers and programs of the host each find a listener that advertises the address they use."""
    kafka = {name: str(value) for name, value in KAFKA.environment.items()}
    advertised = _addresses(kafka["KAFKA_ADVERTISED_LISTENERS"])
    listening = _addresses(kafka["KAFKA_LISTENERS"])
    (on_host,) = DEFAULTS.bootstrap_servers
    assert set(advertised.values()) == {WORKER.environment["STREAM_DEDUP_BOOTSTRAP_SERVERS"], on_host}
    assert {name: address.split(":")[1] for name, address in advertised.items()}.items() <= {
        name: address.split(":")[1] for name, address in listening.items()
    }.items()
    assert KAFKA.ports == [f"127.0.0.1:{on_host.split(':')[1]}:{on_host.split(':')[1]}"]
    assert kafka["KAFKA_CONTROLLER_QUORUM_VOTERS"] == f"1@{KAFKA.hostname}{listening['CONTROLLER']}"
    protocols = dict(pair.split(":") for pair in kafka["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(","))
    assert protocols.keys() == listening.keys()


def _addresses(listeners: str) -> Mapping[str, str]:
    return dict(listener.split("://") for listener in listeners.split(","))


def test_kafka_keeps_its_data_and_makes_no_topics() -> None:
    """The log lies in a named volume, and a misspelt topic is an error."""
    mounted = dict(volume.split(":")[:2] for volume in KAFKA.volumes)
    assert mounted == {"kafka-data": KAFKA.environment["KAFKA_LOG_DIRS"]}
    assert KAFKA.environment["KAFKA_AUTO_CREATE_TOPICS_ENABLE"] == "false"


def test_paths_exist() -> None:
    """Every file that is mounted, built from, included or linked to is in the repository; other volumes are declared."""
    compose = msgspec.convert(yaml.safe_load(TEXTS[COMPOSE]), Compose)
    sources = [volume.split(":")[0] for service in SERVICES.values() for volume in service.volumes]
    assert {source for source in sources if not source.startswith("./")} == compose.volumes.keys()
    files = [ROOT / source for source in sources if source.startswith("./")]
    files += [ROOT / service.build.context / service.build.dockerfile for service in (WORKER, TOPICS) if service.build]
    files += [ROOT / "deploy" / name for name in SCRAPED.rule_files]
    files += [ROOT / "deploy" / link for link in re.findall(r"\]\(([^)#]+)\)", TEXTS[GUIDE])]
    assert len(files) > 8
    assert [str(file) for file in files if not file.is_file()] == []


def test_image_is_built_from_what_reaches_the_builder() -> None:
    """All that the Dockerfile copies exists and is let through by .dockerignore, and nothing else is."""
    sources = [
        source
        for instruction in IMAGE
        if instruction.name == "COPY" and not instruction.arguments.startswith("--from=")
        for source in instruction.arguments.split()[:-1]
    ]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    rules = (ROOT / IGNORED).read_text(encoding="utf-8").splitlines()
    let_through = {rule[1:] for rule in rules if rule.startswith("!")}
    assert rules[1] == "*"
    assert let_through == set(sources)
    assert not any(fnmatch(source, pattern) for pattern in rules[2:] for source in sources)


def test_image_runs_without_rights_and_hears_sigterm() -> None:
    """Hashes are required, a user without rights runs, no shell stands before the worker, no compiler is added."""
    last = IMAGE[max(index for index, instruction in enumerate(IMAGE) if instruction.name == "FROM") :]
    assert any("--require-hashes --requirement requirements.lock" in instruction.arguments for instruction in IMAGE)
    assert _json_arguments("ENTRYPOINT") == [["stream-dedup"]]
    (user,) = [instruction.arguments for instruction in last if instruction.name == "USER"]
    assert int(user) > 0
    assert [instruction.arguments.split()[0] for instruction in last if instruction.name == "RUN"] == ["useradd"]


def _samples() -> Mapping[str, dict[str, set[str]]]:
    """What a worker that has done everything tells Prometheus: the names, their labels, the labels' values."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    verdicts = {(Verdict.UNIQUE, Kind.NEW): 1, (Verdict.REJECTED, Kind.UNREADABLE): 1}
    metrics.committed(CommittedBatch(Stage.DECIDE, 0, 2, 0.1, verdicts))
    registry.register(AskedWhenRead(lambda: dict.fromkeys(Stage, 0.0), lambda: 0.5))
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
    assert "worker" in SERVICES


def test_guide_tells_metrics_as_they_are() -> None:
    """Each metric of the guide exists, with the labels named there."""
    told = _samples()
    for name, *_ in _table("metric"):
        metric, _, labels = name.rstrip("}").partition("{")
        assert metric in told
        assert told[metric].keys() == set(filter(None, labels.split(",")))


def test_guide_tells_what_to_do_for_each_alert() -> None:
    """The guide's alerts are those of the rules."""
    assert [row[0] for row in _table("alert")] == [rule.alert for rule in RULES]


def test_guide_tells_every_exit_code() -> None:
    """The guide's exit codes are those of the errors."""
    own = {error.exit_code: error.__name__ for error in errors.StreamDedupError.__subclasses__() if error.exit_code > 1}
    assert {int(code): name for code, name, _ in _table("code") if int(code) > 2} == own


def test_guide_names_the_topics_and_groups() -> None:
    """The guide's topics are the settings' defaults, all of them, and its groups are those the stages join."""
    topics = [row[0] for row in _table("topic")]
    assert topics == [*DEFAULTS.article_topics, *DEFAULTS.internal_topics]
    groups = {f"{DEFAULTS.group}.{stage}" for stage in Stage}
    named = set(re.findall(r"\b(?:articles|stream-dedup)\.[a-z]+\b", TEXTS[GUIDE]))
    assert named == {*topics, *groups}
