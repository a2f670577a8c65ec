"""Reads the files that operators start from, strictly: a key that is not known here is refused."""

import re
from dataclasses import dataclass
from pathlib import Path

import msgspec
import yaml

from stream_dedup.app.load_settings import load_settings

ROOT = Path(__file__).parent.parent.parent
COMPOSE_FILE, DOCKERFILE, IGNORED = "docker-compose.yml", "deploy/Dockerfile", ".dockerignore"
SCRAPES, ALERTS, GUIDE = "deploy/prometheus.yml", "deploy/alerts.yml", "deploy/README.md"
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in (COMPOSE_FILE, DOCKERFILE, SCRAPES, ALERTS, GUIDE)}
DEFAULTS = load_settings({})


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


def _instructions() -> list[Instruction]:
    lines = [line for line in TEXTS[DOCKERFILE].splitlines() if line and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Instruction(*line.split(" ", 1)) for line in joined.splitlines()]


IMAGE = _instructions()
COMPOSE = msgspec.convert(yaml.safe_load(TEXTS[COMPOSE_FILE]), Compose)
WORKER, TOPICS, KAFKA = (COMPOSE.services[name] for name in ("worker", "topics", "kafka"))
SCRAPED = msgspec.convert(yaml.safe_load(TEXTS[SCRAPES]), Prometheus)
RULES = msgspec.convert(yaml.safe_load(TEXTS[ALERTS])["groups"][0]["rules"], list[Alert])


def arguments(name: str) -> list[str]:
    """What follows the Dockerfile's instructions of a name."""
    return [instruction.arguments for instruction in IMAGE if instruction.name == name]


def exec_form(name: str) -> list[str]:
    """The arguments of the one instruction of a name, which must be in exec form (a JSON array)."""
    (found,) = arguments(name)
    return msgspec.json.decode(found, type=list[str])


def table(heading: str) -> list[list[str]]:
    """The rows of the guide's table whose first column has this heading, without back quotes."""
    after = TEXTS[GUIDE].split(f"\n| {heading} |", 1)[1]
    rows = after.split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip().replace("`", "") for cell in row.strip("|").split(" | ")] for row in rows]
