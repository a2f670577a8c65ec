"""One node of a local Kafka: its settings as the texts that Kafka and log4j read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
"""A local broker answers to this machine alone: it has no passwords."""
MAX_REPLICATION = 3
"""Copies of Kafka's internal topics where there are enough nodes, as in production."""
INTERNAL_PARTITIONS = 4
"""Kafka's default is 50 for offsets and for transactions: each one is a file to open at every start."""
HEAP = "512m"
"""Limit of the JVM's heap; a node takes about 240 MB in all at its start."""


@dataclass(frozen=True, slots=True)
class Node:
    """Broker and controller in one process (KRaft's combined mode)."""

    id: int
    port: int
    controller_port: int
    folder: Path
    """Its own folder: settings, data and logs."""

    @property
    def bootstrap_server(self) -> str:
        """Where clients find it."""
        return f"{HOST}:{self.port}"

    @property
    def data(self) -> Path:
        """Where topics lie."""
        return self.folder / "data"

    @property
    def formatted(self) -> bool:
        """Whether the data folder was made; Kafka writes this file last."""
        return (self.data / "meta.properties").exists()

    @property
    def properties(self) -> Path:
        """Kafka's settings."""
        return self.folder / "server.properties"

    @property
    def log(self) -> Path:
        """What Kafka has to say."""
        return self.folder / "kafka.log"

    @property
    def console(self) -> Path:
        """What the Java runtime has to say."""
        return self.folder / "console.log"

    @property
    def logging(self) -> Path:
        """log4j's settings."""
        return self.folder / "log4j2.properties"


def server_properties(node: Node, nodes: Sequence[Node]) -> str:
    """Kafka's settings for one node among all nodes of its cluster (itself included).

    Replication: as many copies as there are nodes, three at most, and one may be missing when there are three.
    """
    replication = min(MAX_REPLICATION, len(nodes))
    settings = {
        "process.roles": "broker,controller",
        "node.id": node.id,
        "controller.quorum.voters": ",".join(f"{other.id}@{HOST}:{other.controller_port}" for other in nodes),
        "listeners": f"BROKER://{HOST}:{node.port},CONTROLLER://{HOST}:{node.controller_port}",
        "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "BROKER",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": node.data,
        # A topic that is misspelt must be missed, not made.
        "auto.create.topics.enable": "false",
        "default.replication.factor": replication,
        "min.insync.replicas": max(1, replication - 1),
        # The default of 128 MB is taken from the heap at once; this is enough for 600,000 keys in a cleaner's pass.
        "log.cleaner.dedupe.buffer.size": 16 * 2**20,
        # The first member of a group need not wait for others.
        "group.initial.rebalance.delay.ms": 0,
    }
    for topic in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
        settings[f"{topic}.num.partitions"] = INTERNAL_PARTITIONS
        settings[f"{topic}.replication.factor"] = replication
    for topic in ("transaction.state.log", "share.coordinator.state.topic"):
        settings[f"{topic}.min.isr"] = max(1, replication - 1)
    return "".join(f"{name}={_escaped(str(value))}\n" for name, value in settings.items())


def log4j2_properties(node: Node) -> str:
    """log4j's settings: everything to one file, two at most, of 5 MB."""
    file = _escaped(str(node.log))
    return f"""\
status = error
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {file}
appender.file.filePattern = {file}.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %p %m (%c{{1}})%n
appender.file.policies.type = SizeBasedTriggeringPolicy
appender.file.policies.size = 5MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 1
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
"""


def java_options(node: Node, class_path: Sequence[Path]) -> list[str]:
    """Options of the Java runtime, before the name of the class to run."""
    return [
        f"-Xmx{HEAP}",
        "-XX:+UseSerialGC",
        f"-Dlog4j2.configurationFile={node.logging.as_uri()}",
        "-Djava.awt.headless=true",
        "-cp",
        ":".join(map(str, class_path)),
    ]


def _escaped(value: str) -> str:
    """A value of a Java properties file: the backslash escapes, what is not ASCII stands as UTF-16 code units."""
    units = value.replace("\\", "\\\\").encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[i : i + 2]) for i in range(0, len(units), 2)]
    return "".join(chr(code) if chr(code).isascii() else f"\\u{code:04x}" for code in codes)
