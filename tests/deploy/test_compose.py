"""docker-compose.yml agrees with the code, with the other files and with itself."""

import re
from collections.abc import Mapping

from tests.deploy.files import COMPOSE, DEFAULTS, KAFKA, ROOT, SCRAPED, TOPICS, WORKER, Dependency


def test_workers_scale() -> None:
    """Several workers can run on one machine: no name and no port of the host is taken by the first."""
    assert WORKER.container_name == ""
    assert WORKER.hostname == ""
    assert all(port.split(":")[1] == "" for port in WORKER.ports)


def test_ports_are_open_to_this_machine_alone() -> None:
    """Kafka and Prometheus have no password here, so nothing listens beyond the host."""
    published = [port for service in COMPOSE.services.values() for port in service.ports]
    assert len(published) == 3
    assert all(re.fullmatch(r"127\.0\.0\.1:\d*:\d+", port) for port in published)


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
    """Every file that is mounted, built from or included exists; other volumes are declared."""
    sources = [volume.split(":")[0] for service in COMPOSE.services.values() for volume in service.volumes]
    assert {source for source in sources if not source.startswith("./")} == COMPOSE.volumes.keys()
    files = [ROOT / source for source in sources if source.startswith("./")]
    files += [ROOT / service.build.context / service.build.dockerfile for service in (WORKER, TOPICS) if service.build]
    files += [ROOT / "deploy" / name for name in SCRAPED.rule_files]
    assert len(files) == 5
    assert [str(file) for file in files if not file.is_file()] == []
