"""A node's settings as texts."""

from pathlib import Path

import pytest

from stream_dedup.kafka.broker_node import Node, log4j2_properties, server_properties


def cluster(count: int, folder: Path = Path("/data")) -> tuple[Node, ...]:
    """Nodes on ports 9001, 9002 (controller of the first), 9003 and so on."""
    return tuple(Node(i + 1, 9001 + 2 * i, 9002 + 2 * i, folder / f"node-{i + 1}") for i in range(count))


def settings(text: str) -> dict[str, str]:
    """The settings of a properties file without escapes."""
    return dict(line.split("=", 1) for line in text.splitlines())


def test_a_node_knows_itself_and_all_controllers() -> None:
    """Every node listens on its own ports and has the same voters."""
    nodes = cluster(3)
    second = settings(server_properties(nodes[1], nodes))
    assert second["node.id"] == "2"
    assert second["listeners"] == "BROKER://127.0.0.1:9003,CONTROLLER://127.0.0.1:9004"
    assert second["controller.quorum.voters"] == "1@127.0.0.1:9002,2@127.0.0.1:9004,3@127.0.0.1:9006"
    assert second["log.dirs"] == "/data/node-2/data"


@pytest.mark.parametrize(("count", "copies", "in_sync"), [(1, "1", "1"), (2, "2", "1"), (3, "3", "2"), (5, "3", "2")])
def test_internal_topics_have_as_many_copies_as_nodes_allow(count: int, copies: str, in_sync: str) -> None:
    """Three copies of which two must be in sync where there are three nodes; one node serves alone."""
    nodes = cluster(count)
    found = settings(server_properties(nodes[0], nodes))
    replication = [name for name in found if name.endswith("replication.factor")]
    assert {found[name] for name in replication} == {copies}
    assert len(replication) == 4
    needed = [name for name in found if name.endswith(("min.isr", "min.insync.replicas"))]
    assert {found[name] for name in needed} == {in_sync}
    assert len(needed) == 3


def test_topics_are_never_made_by_a_misspelt_name() -> None:
    """A client that names a topic which is not there gets an error."""
    nodes = cluster(1)
    assert settings(server_properties(nodes[0], nodes))["auto.create.topics.enable"] == "false"


@pytest.mark.parametrize(
    ("name", "escaped"),
    [("plain", "plain"), ("a\\b", "a\\\\b"), ("é", "\\u00e9"), ("新闻", "\\u65b0\\u95fb"), ("😀", "\\ud83d\\ude00")],
)
def test_folder_names_are_escaped_as_java_reads_them(name: str, escaped: str) -> None:
    """Both files are ASCII, whatever the folder is called, with UTF-16 units as in Java's properties."""
    nodes = cluster(1, Path("/") / name)
    assert f"log.dirs=/{escaped}/node-1/data\n" in server_properties(nodes[0], nodes)
    logging = log4j2_properties(nodes[0])
    assert f"appender.file.fileName = /{escaped}/node-1/kafka.log\n" in logging
    assert logging.isascii()
