"""Local Kafkas whose nodes can be killed, suspended and started again, each on the ports it had."""

import asyncio
import base64
import contextlib
import os
import random
import signal
import socket
import tempfile
import threading
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from stream_dedup.kafka.broker_node import HOST, Node
from stream_dedup.kafka.broker_process import Launcher, Process, find_java, last_words, stop, write_settings
from stream_dedup.kafka.kafka_jars import default_cache, fetch_jars, pinned_jars
from tests.flow.workers import DEADLINE

PORTS = range(20_000, 32_000)
"""Below those that the system gives to connections: nobody takes a node's port while it is down."""
GROUP, TRANSACTION = 0, 1
"""Types of coordinators (FindCoordinator, KIP-98)."""
NOTICED_SOON = "broker.session.timeout.ms=3000\nbroker.heartbeat.interval.ms=500\n"
"""The controller takes a silent node for dead after 3 s; Kafka's default is 9."""
POLL = 0.1
"""Seconds between two questions."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The nodes of one running Kafka, numbered from 1."""

    nodes: tuple[Node, ...]
    launcher: Launcher
    processes: dict[int, Process]
    """The last one of each node."""

    @property
    def bootstrap_servers(self) -> str:
        """Addresses for clients, joined by commas."""
        return ",".join(node.bootstrap_server for node in self.nodes)

    def kill(self, node: int) -> None:
        """SIGKILL: nothing is said, nothing is flushed."""
        os.killpg(self.processes[node].pid, signal.SIGKILL)
        self.processes[node].wait()

    async def end(self, node: int) -> None:
        """SIGTERM: a controlled shutdown, as in a rolling restart."""
        await asyncio.to_thread(stop, [self.processes[node]])

    @contextlib.contextmanager
    def suspended(self, node: int) -> Iterator[None]:
        """SIGSTOP until the block ends: connections stay open, nothing is answered."""
        os.killpg(self.processes[node].pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self.processes[node].pid, signal.SIGCONT)

    async def start(self, node: int) -> None:
        """Start a node that has ended, and wait until it is back in sync everywhere."""
        self.processes[node] = self.launcher.serve(self.nodes[node - 1])
        await self.complete()

    async def group_coordinator(self, group: str) -> int:
        """The node that keeps a group."""
        return await self._ask(lambda admin: admin.find_coordinator(group, GROUP))

    async def transaction_coordinator(self, transactional_id: str) -> int:
        """The node that keeps a transactional id."""
        return await self._ask(lambda admin: admin.find_coordinator(transactional_id, TRANSACTION))

    async def leader(self, topic: str, partition: int = 0) -> int:
        """The node that leads a partition."""

        async def asked(admin: AIOKafkaAdminClient) -> int:
            (description,) = await admin.describe_topics([topic])
            return next(int(part["leader"]) for part in description["partitions"] if part["partition"] == partition)

        return await self._ask(asked)

    async def complete(self) -> None:
        """Wait until every node is there and every partition has all of its replicas in sync."""

        async def asked(admin: AIOKafkaAdminClient) -> int:
            descriptions = await admin.describe_topics()
            parts = [part for description in descriptions for part in description["partitions"]]
            return sum(set(part["isr"]) != set(part["replicas"]) for part in parts)

        async with asyncio.timeout(DEADLINE):
            while await self._ask(asked) or await self._ask(_brokers) < len(self.nodes):
                for node in self.nodes:
                    process = self.processes[node.id]
                    assert process.poll() is None, f"node {node.id} has ended.{last_words(node)}"
                await asyncio.sleep(POLL)

    async def _ask(self, question: Callable[[AIOKafkaAdminClient], Awaitable[int]]) -> int:
        """The first answer that is no error, from whichever node gives one."""
        async with asyncio.timeout(DEADLINE):
            while True:
                admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap_servers, request_timeout_ms=5000)
                try:
                    await admin.start()
                    return int(await question(admin))
                except (KafkaError, OSError, TimeoutError):
                    await asyncio.sleep(POLL)
                finally:
                    await admin.close()


async def _brokers(admin: AIOKafkaAdminClient) -> int:
    return len((await admin.describe_cluster())["brokers"])


@contextlib.asynccontextmanager
async def cluster(nodes: int, further: Callable[[Node], str] = lambda _node: "") -> AsyncIterator[Cluster]:
    """A Kafka of so many nodes; topics and Kafka's own have as many replicas, three at most, and one may be missing.

    Args:
        nodes: how many.
        further: lines of a node's server.properties; what they name again holds.
    """
    class_path = fetch_jars(pinned_jars(), default_cache(), lambda _bytes: None, threading.Event())
    ports = free_ports(2 * nodes)
    with tempfile.TemporaryDirectory(prefix="cluster-") as name, (Path(name) / "lock").open("w") as lock:
        laid = tuple(
            Node(1 + number, ports[2 * number], ports[2 * number + 1], Path(name) / f"node-{1 + number}")
            for number in range(nodes)
        )
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        launcher = Launcher(find_java(), class_path, lock, cluster_id)
        for node in laid:
            write_settings(node, laid)
            with node.properties.open("a", encoding="ascii") as properties:
                properties.write(NOTICED_SOON + further(node))
        for formatting in [launcher.format(node) for node in laid]:
            assert await asyncio.to_thread(formatting.wait) == 0
        processes: dict[int, Process] = {}
        try:
            processes.update({node.id: launcher.serve(node) for node in laid})
            running = Cluster(laid, launcher, processes)
            await running.complete()
            yield running
        finally:
            await asyncio.to_thread(stop, list(processes.values()))


def free_ports(count: int) -> Sequence[int]:
    """Ports of this machine that nobody listens on and no connection is given."""
    found: list[int] = []
    while len(found) < count:
        port = random.choice(PORTS)  # noqa: S311 (no secret)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
            found += [port] if port not in found else []
    return found
