"""One broker behind a proxy: workers reach it through the proxy, the tests' own clients directly."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from stream_dedup.kafka.broker_node import HOST, Node
from tests.faults.cluster import Cluster, cluster, free_ports
from tests.faults.proxy import Proxy


@dataclass(frozen=True, slots=True)
class Network:
    """A broker with two listeners, each of which advertises itself."""

    broker: Cluster
    proxy: Proxy
    proxied: str
    """Bootstrap servers of those who go through the proxy."""

    @property
    def direct(self) -> str:
        """Bootstrap servers of those who do not."""
        return self.broker.bootstrap_servers


@contextlib.asynccontextmanager
async def network() -> AsyncIterator[Network]:
    """A broker, and a proxy before its second listener."""
    behind, before = free_ports(2)

    def listeners(node: Node) -> str:
        return (
            f"listeners=BROKER://{node.bootstrap_server},CONTROLLER://{HOST}:{node.controller_port},"
            f"PROXIED://{HOST}:{behind}\n"
            f"advertised.listeners=BROKER://{node.bootstrap_server},PROXIED://{HOST}:{before}\n"
            "listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT\n"
        )

    proxy = Proxy(behind)
    async with cluster(1, listeners) as broker, proxy.listening(before):
        yield Network(broker, proxy, f"{HOST}:{before}")
