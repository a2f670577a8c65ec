"""Bringing a replica up to the changelog's end."""

from collections.abc import Callable

from stream_dedup.kafka.replica import Replica
from stream_dedup.kafka.threads import in_thread
from stream_dedup.kafka.transport import Bounds, Broker

SLICE = 200
"""Records applied at a time, in a thread, so that heartbeats and health checks go on meanwhile."""
FETCH_WAIT = 0.5


async def restore(broker: Broker, topic: str, replica: Replica, progressed: Callable[[], None]) -> Bounds:
    """Let a replica take every committed record of the changelog; where the changelog stood.

    Args:
        broker: where the changelog stands.
        topic: the changelog; it has one partition.
        replica: as it was kept from an earlier ownership or as a standby, or one that has taken nothing.
        progressed: called after each slice; not while the broker gives nothing.

    Returns:
        What the changelog held: every record up to its end is taken, and nothing of what another owner may have written
        since.

    Raises:
        LogRefusedError: the chain is broken, a record is no delta, or the changelog ends before what was taken.
    """
    bounds = await broker.bounds(topic, 0)
    source = await broker.source(topic, 0, replica.begin(topic, bounds))
    try:
        while source.position < bounds.end:
            before = source.position
            records = await source.fetch(SLICE, FETCH_WAIT)
            if records:
                await in_thread(replica.take, records)
            if source.position > before:
                progressed()
    finally:
        await source.close()
    replica.passed(bounds.end)
    return bounds
