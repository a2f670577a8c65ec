"""Each kind of request loses its answer, in each way: `python -m tests.faults.lost_answers --seeds 1 2 3`."""

import asyncio
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.faults.command import Options, judged, options
from tests.faults.network import Network, network
from tests.faults.proxy import Api, Fate, Rule
from tests.flow.articles import flow
from tests.flow.deployment import PARTITIONS, deployment

TIMES: Mapping[Api, int] = {Api.END_TXN: 4, Api.METADATA: 2, Api.HEARTBEAT: 2}
"""How many connections a fate befalls; one where nothing is said."""
GROUP_APIS = frozenset({Api.FIND_COORDINATOR, Api.JOIN_GROUP, Api.SYNC_GROUP, Api.HEARTBEAT})
"""What a member of a group asks. It waits 40 s for an answer, for a rebalance may take 30."""
ALL_APIS = frozenset(Api) - {Api.LEAVE_GROUP}
QUICK: Mapping[Fate, frozenset[Api]] = {
    Fate.CUT: ALL_APIS,
    Fate.SILENT: ALL_APIS - GROUP_APIS,
    Fate.LATE_REQUEST: ALL_APIS,
}
"""Fates, and the requests that they can befall without a long wait."""
PORTION = 300
"""Articles published at once."""
HOUR_MS = 3_600_000


async def endure(between: Network, logs: Path, fates: Mapping[Api, Fate], *, seed: int) -> list[str]:
    """One worker meets the fates of all these requests while articles come; what is wrong with the outcome.

    What is late goes on when the next portion of articles is decided.
    """
    # Small batches, so that a fault meets many transactions; short limits, so that it is soon over.
    async with deployment(between.direct, logs, batch_records="20", call_timeout="3s", session_timeout="6s") as ready:
        start = time.time_ns() // 1_000_000 - HOUR_MS
        published = 0
        try:
            rules = _rules(between, fates, at_start=True)
            async with ready.worker(bootstrap_servers=between.proxied) as worker:
                while not published or not all(rule.happened.is_set() for rule in rules):
                    await ready.publish(flow(PORTION, seed=seed + published, partitions=PARTITIONS, start=start))
                    published += PORTION
                    await ready.decided(published)
                    rules += _rules(between, fates, at_start=False) if published == PORTION else []
                    for rule in rules:
                        rule.released.set()
                if worker.process.returncode is not None:
                    return [f"the worker has ended, see {worker.log}"]
        finally:
            between.proxy.lift()
        return [difference.what for difference in await ready.differences()]


def _rules(between: Network, fates: Mapping[Api, Fate], *, at_start: bool) -> list[Rule]:
    """A worker that cannot learn of the cluster at its start ends, as it should."""
    return [
        between.proxy.rule([api], fate, times=TIMES.get(api, 1))
        for api, fate in fates.items()
        if (api is not Api.METADATA) is at_start
    ]


async def _all(chosen: Options) -> int:
    """Each kind of request in each way by itself; how many ended badly."""
    good = []
    async with network() as between:
        for seed in chosen.seeds:
            for fate in (Fate.CUT, Fate.SILENT, Fate.LATE_ANSWER, Fate.LATE_REQUEST):
                for api in sorted(ALL_APIS):
                    outcome = endure(between, chosen.logs, {api: fate}, seed=seed)
                    good.append(await judged(f"seed {seed}: {fate.name} {api.name}", outcome))
    return good.count(False)


if __name__ == "__main__":
    sys.exit(asyncio.run(_all(options("Lose and delay answers under load.", "answers"))) > 0)
