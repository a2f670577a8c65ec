"""A Kafka of one's own: `async with local_broker(folder) as broker: broker.bootstrap_servers`.

The same Apache Kafka that production runs, one process a node, which ends with the process that started it, however
that ends.
"""

import asyncio
import base64
import fcntl
import os
import socket
import tempfile
import threading
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

from aiokafka.conn import create_conn
from aiokafka.errors import KafkaError
from aiokafka.protocol.metadata import MetadataRequest

from stream_dedup.errors import LocalBrokerError
from stream_dedup.kafka.broker_node import HOST, Node
from stream_dedup.kafka.broker_process import Launcher, Process, find_java, last_words, log_text, stop, write_settings
from stream_dedup.kafka.kafka_jars import Progress, default_cache, fetch_jars, pinned_jars

START_SECONDS = 60.0
"""Until every node answers; about 3 s on an idle machine with two cores."""
POLL_SECONDS = 0.1
"""Between two questions whether the nodes answer."""
ANSWER_MS = 2000
"""For one answer; where somebody else has the port, none may come."""
PORT_ATTEMPTS = 3
"""A free port can be taken by somebody else before Kafka takes it."""


LOOK_SECONDS = 0.5
"""Between two looks at whether the nodes still run."""


@dataclass(frozen=True, slots=True)
class LocalBroker:
    """A running Kafka."""

    nodes: tuple[Node, ...]
    processes: tuple[Process, ...]

    @property
    def pids(self) -> tuple[int, ...]:
        """Process groups of the nodes, in order: SIGTERM to the process of that number stops its node."""
        return tuple(process.pid for process in self.processes)

    @property
    def bootstrap_servers(self) -> str:
        """Addresses for clients, joined by commas."""
        return ",".join(node.bootstrap_server for node in self.nodes)

    async def lost(self) -> NoReturn:
        """Wait for a node to end without having been told to.

        Raises:
            LocalBrokerError: it has.
        """
        while True:
            for node, process in zip(self.nodes, self.processes, strict=True):
                if process.poll() is not None:
                    raise LocalBrokerError(f"Kafka has ended, by a signal or an error of its own.{last_words(node)}")
            await asyncio.sleep(LOOK_SECONDS)


def _no_progress(_count: int) -> None:
    """Nobody looks."""


@asynccontextmanager
async def local_broker(
    data_dir: Path | None = None,
    *,
    port: int | None = None,
    nodes: int = 1,
    progress: Progress = _no_progress,
    cache: Path | None = None,
) -> AsyncIterator[LocalBroker]:
    """Start a Kafka, stop it at the end.

    Args:
        data_dir: kept, with its topics and articles, for the next start; None: a temporary folder, deleted at the end.
        port: of the first node; None: a free one.
        nodes: how many; a folder keeps the number that it was made with.
        progress: told the bytes of the first fetch.
        cache: folder of the jars; None: the user's.

    Raises:
        LocalBrokerError: it could not be fetched or started, or one runs in that folder already.
    """
    class_path = await _fetched(cache or default_cache(), progress)
    with _folder(data_dir) as folder, _locked(folder) as lock:
        launcher = Launcher(find_java(), class_path, lock, _cluster_id(folder, nodes))
        async with _started(launcher, folder, nodes, port) as broker:
            yield broker


async def _fetched(cache: Path, progress: Progress) -> Sequence[Path]:
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(fetch_jars, pinned_jars(), cache, progress, cancelled)
    finally:
        cancelled.set()


@contextmanager
def _folder(data_dir: Path | None) -> Iterator[Path]:
    if data_dir is None:
        with tempfile.TemporaryDirectory(prefix="stream-dedup-broker-") as temporary:
            yield Path(temporary)
    else:
        yield data_dir.resolve()


@contextmanager
def _locked(folder: Path) -> Iterator[IO[str]]:
    """A lock that the nodes inherit: it is held as long as any of them lives, even without us."""
    if "," in str(folder):
        raise LocalBrokerError(
            f"Kafka would take {folder} for several folders: choose one without a comma in its name."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "lock").open("a+", encoding="ascii")
    except OSError as error:
        raise LocalBrokerError(f"The broker cannot write to its folder {folder}: {error.strerror}.") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise LocalBrokerError(
                f"A broker runs in {folder} already (started by process {file.read()}): use that one, stop it, "
                "or choose another folder."
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield file


def _cluster_id(folder: Path, nodes: int) -> str:
    """Made at the first start and kept, with the number of nodes."""
    file = folder / "cluster"
    if not file.exists():
        # Kafka writes the UUID in URL-safe base64, without padding.
        made = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        new = folder / "cluster.new"
        new.write_text(f"{made} {nodes}", encoding="ascii")
        new.replace(file)
    cluster, kept = file.read_text(encoding="ascii").split()
    if int(kept) != nodes:
        raise LocalBrokerError(f"The broker in {folder} has {kept} nodes, not {nodes}: choose another folder.")
    return cluster


@asynccontextmanager
async def _started(launcher: Launcher, folder: Path, count: int, port: int | None) -> AsyncIterator[LocalBroker]:
    processes: list[Process] = []
    try:
        nodes = await _start(launcher, folder, count, port, processes)
        yield LocalBroker(nodes, tuple(processes))
    finally:
        stop(processes)


async def _start(
    launcher: Launcher, folder: Path, count: int, port: int | None, processes: list[Process]
) -> tuple[Node, ...]:
    """Start all nodes and wait until they answer; `processes` has what was started, whatever happens."""
    attempts = 0
    while True:
        attempts += 1
        nodes = _nodes(folder, count, port)
        for node in nodes:
            write_settings(node, nodes)
        await _format(launcher, [node for node in nodes if not node.formatted], processes)
        processes += [launcher.serve(node) for node in nodes]
        try:
            await _wait_until_ready(nodes, processes, launcher.cluster_id)
        except LocalBrokerError:
            if attempts == PORT_ATTEMPTS or not any(_port_was_taken(node) for node in nodes):
                raise
            stop(processes)
            processes.clear()
        else:
            return nodes


async def _format(launcher: Launcher, nodes: Sequence[Node], processes: list[Process]) -> None:
    processes += [launcher.format(node) for node in nodes]
    for node, process in zip(nodes, processes, strict=True):
        if await asyncio.to_thread(process.wait) != 0:
            raise LocalBrokerError(f"The broker's folder {node.data} could not be formatted.{last_words(node)}")
    processes.clear()


def _nodes(folder: Path, count: int, port: int | None) -> tuple[Node, ...]:
    ports = _free_ports(2 * count)
    if port is not None:
        _check_free(port)
        ports[0] = port
    return tuple(Node(i + 1, ports[2 * i], ports[2 * i + 1], folder / f"node-{i + 1}") for i in range(count))


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        # As Java does: a connection that has just ended is no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise LocalBrokerError(
                f"Port {port} of {HOST} is taken ({error.strerror}): stop what listens there, or choose another port."
            ) from error


async def _wait_until_ready(nodes: Sequence[Node], processes: Sequence[Process], cluster_id: str) -> None:
    """Return when every node answers and knows all of them.

    Raises:
        LocalBrokerError: one ended, or the time is over.
    """
    deadline = time.monotonic() + START_SECONDS
    while True:
        for node, process in zip(nodes, processes, strict=True):
            if process.poll() is not None:
                raise LocalBrokerError(
                    f"The broker in {node.folder} ended with code {process.returncode} at its start.{last_words(node)}"
                )
        if all([await _brokers_known_to(node, cluster_id) == len(nodes) for node in nodes]):
            return
        if time.monotonic() > deadline:
            words = "".join(map(last_words, nodes))
            raise LocalBrokerError(f"The broker did not answer within {START_SECONDS:.0f} s.{words}")
        await asyncio.sleep(POLL_SECONDS)


async def _brokers_known_to(node: Node, cluster_id: str) -> int:
    """How many brokers a node tells its clients of; 0 while it does not answer, or where somebody else does."""
    try:
        connection = await create_conn(HOST, node.port, request_timeout_ms=ANSWER_MS)
    except (OSError, TimeoutError, KafkaError):
        return 0
    try:
        metadata = await connection.send(MetadataRequest([]))
    except (OSError, TimeoutError, KafkaError):
        return 0
    finally:
        await connection.close()
    return len(metadata.brokers) if metadata.cluster_id == cluster_id else 0


def _port_was_taken(node: Node) -> bool:
    return "Address already in use" in log_text(node.log)
