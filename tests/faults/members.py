"""The members of a deployment's groups, as the broker sees them."""

import asyncio

from aiokafka.protocol.group import LeaveGroupRequest

from stream_dedup.kafka.connection import RETRY_PAUSE, retried
from stream_dedup.kafka.observer import Stage
from tests.flow.deployment import Deployment
from tests.flow.workers import DEADLINE


async def _state(ready: Deployment, group: str) -> tuple[str, list[str]]:
    """A group's state and its members' ids."""
    admin, limit = ready.broker.admin, ready.broker.connection.call_timeout
    (response,) = await retried(lambda: admin.describe_consumer_groups([group]), limit)
    (found,) = response.to_object()["groups"]
    return found["state"], [member["member_id"] for member in found["members"]]


async def have_joined(ready: Deployment, members: int) -> None:
    """Wait until both groups have shared out their partitions among so many members at least."""
    async with asyncio.timeout(DEADLINE):
        for stage in Stage:
            while True:
                state, ids = await _state(ready, ready.group_of(stage))
                if state == "Stable" and len(ids) >= members:
                    break
                await asyncio.sleep(RETRY_PAUSE)


async def bury(ready: Deployment) -> None:
    """Tell the broker that all members have left: workers that are dead would keep the next one out for a while."""
    for stage in Stage:
        group = ready.group_of(stage)
        coordinator = await ready.broker.admin.find_coordinator(group)
        _, ids = await _state(ready, group)
        for member in ids:
            request = LeaveGroupRequest(group, member)
            await ready.broker.admin._send_request_to_node(coordinator, request)  # noqa: SLF001 - it has no such call
