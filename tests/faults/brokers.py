"""Brokers that die, hang and are restarted under load: `python -m tests.faults.brokers --seeds 1 2 3`."""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TypeAlias

from stream_dedup.kafka.transport import Input
from tests.faults.cluster import Cluster, cluster
from tests.faults.command import Options, judged, options
from tests.flow.articles import flow
from tests.flow.deployment import PARTITIONS, Deployment, deployment

HOUR_MS = 3_600_000
ARTICLES = 2000
"""For each fault, from the command line."""

Find: TypeAlias = Callable[[Cluster, Deployment], Awaitable[int]]
"""The node with some task, as of now."""
Fault: TypeAlias = Callable[[Cluster, Deployment], AbstractAsyncContextManager[None]]
"""Holds as long as its block; after it the cluster is whole again."""


def killed(find: Find) -> Fault:
    """The node is killed, and started again at the end."""

    @contextlib.asynccontextmanager
    async def fault(brokers: Cluster, ready: Deployment) -> AsyncIterator[None]:
        node = await find(brokers, ready)
        brokers.kill(node)
        yield
        await brokers.start(node)

    return fault


def suspended(find: Find) -> Fault:
    """The node hangs: its connections stay open, and nothing is answered."""

    @contextlib.asynccontextmanager
    async def fault(brokers: Cluster, ready: Deployment) -> AsyncIterator[None]:
        with brokers.suspended(await find(brokers, ready)):
            yield
        await brokers.complete()

    return fault


@contextlib.asynccontextmanager
async def rolled(brokers: Cluster, _ready: Deployment) -> AsyncIterator[None]:
    """One node after another is restarted."""
    for node in brokers.nodes:
        await brokers.end(node.id)
        await brokers.start(node.id)
    yield


async def _group_coordinator(brokers: Cluster, ready: Deployment) -> int:
    return await brokers.group_coordinator(f"{ready.group}.decide")


async def _transaction_coordinator(brokers: Cluster, ready: Deployment) -> int:
    decides = Input(f"{ready.group}.decide", ready.topics.fingerprinted, 0)
    return await brokers.transaction_coordinator(decides.transactional_id)


def _leader_of(role: str) -> Find:
    async def find(brokers: Cluster, ready: Deployment) -> int:
        return await brokers.leader(getattr(ready.topics, role))

    return find


FAULTS: Mapping[str, Fault] = {
    "the decide group's coordinator is killed": killed(_group_coordinator),
    "the decide transactions' coordinator is killed": killed(_transaction_coordinator),
    "the leader of fingerprinted is killed": killed(_leader_of("fingerprinted")),
    "the leader of index is killed": killed(_leader_of("index")),
    "the leader of statistics is killed": killed(_leader_of("statistics")),
    "the leader of index is suspended": suspended(_leader_of("index")),
    "all brokers are restarted one after another": rolled,
}


async def endure(brokers: Cluster, logs: Path, faults: Mapping[str, Fault], *, seed: int, articles: int) -> list[str]:
    """Two workers meet each fault in the middle of so many articles; what is wrong with the outcome.

    What is published during a fault is decided before the cluster is whole again. Differences from the oracle are
    looked for at the end, over all articles.
    """
    # Small batches, so that a fault meets many transactions; short limits, so that it is soon over.
    async with deployment(
        brokers.bootstrap_servers, logs, replication=3, batch_records="20", call_timeout="5s", session_timeout="6s"
    ) as ready:
        async with ready.worker("first") as first, ready.worker("second") as second:
            start = time.time_ns() // 1_000_000 - HOUR_MS
            published = 0
            for number, (name, fault) in enumerate(faults.items()):
                await ready.publish(flow(articles, seed=seed + number, partitions=PARTITIONS, start=start))
                await ready.decided(published + articles // 4)
                published += articles
                async with fault(brokers, ready):
                    await ready.decided(published)
                for one in (first, second):
                    if one.process.returncode is not None:
                        return [f"{name}: a worker has ended, see {one.log}"]
        return [difference.what for difference in await ready.differences()]


async def _all(chosen: Options) -> int:
    """Each fault by itself with each seed; how many ended badly."""
    good = []
    async with cluster(3) as brokers:
        for seed in chosen.seeds:
            for name, fault in FAULTS.items():
                outcome = endure(brokers, chosen.logs, {name: fault}, seed=seed, articles=ARTICLES)
                good.append(await judged(f"seed {seed}: {name}", outcome))
    return good.count(False)


if __name__ == "__main__":
    sys.exit(asyncio.run(_all(options("Kill, hang and restart brokers under load.", "brokers"))) > 0)
