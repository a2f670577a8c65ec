"""Who of a group decides, and who stands by: a partition assignor that knows how far each worker's index has come.

Like the task assignor of Kafka Streams (KIP-441), it gives the partition to a worker that can begin at once. Each
member tells how far it has followed the changelog; the leader answers with each one's role.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

import msgspec
from aiokafka.cluster import ClusterMetadata
from aiokafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment, ConsumerProtocolMemberMetadata


class Role(StrEnum):
    """What a member does in its group."""

    OWNER = "owner"
    """It decides."""
    STANDBY = "standby"
    """It follows the changelog."""
    SPARE = "spare"
    """It waits, and holds nothing."""


class Standing(msgspec.Struct, frozen=True, array_like=True):
    """How ready a member is to decide."""

    offset: int
    """Of the changelog, up to which its index has been brought."""
    role: Role
    """Its role so far."""


_VERSION = 0
_RANKS = tuple(Role)
_UNKNOWN = Standing(-1, Role.SPARE)


def roles(members: Mapping[str, Standing], standbys: int) -> dict[str, Role]:
    """The role of each member: those that have followed furthest come first, then by the roles that they had.

    An owner that lives has written the changelog's end, so it stays the owner. One taken for dead has not.

    Args:
        members: at least one, by their ids.
        standbys: how many members stand by, if there are as many.
    """
    ranked = sorted(members, key=lambda name: (-members[name].offset, _RANKS.index(members[name].role), name))
    owner, *others = ranked
    return {
        owner: Role.OWNER,
        **dict.fromkeys(others[:standbys], Role.STANDBY),
        **dict.fromkeys(others[standbys:], Role.SPARE),
    }


class StandbyAssignor(AbstractPartitionAssignor):  # type: ignore[misc]  # aiokafka has no types
    """Gives all partitions, of which there is one, to one member, and some of the others a standby's role."""

    name = "stream-dedup"

    def __init__(self, standbys: int, followed: Callable[[], int]) -> None:
        """One for each member, which asks `followed` for the changelog offset that its index has been brought to."""
        self._standbys = standbys
        self._followed = followed
        self.role = Role.SPARE

    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolMemberMetadata:
        """What this member tells when it joins."""
        standing = Standing(self._followed(), self.role)
        return ConsumerProtocolMemberMetadata(_VERSION, list(topics), msgspec.msgpack.encode(standing))

    def assign(
        self, cluster: ClusterMetadata, members: Mapping[str, ConsumerProtocolMemberMetadata]
    ) -> dict[str, ConsumerProtocolMemberAssignment]:
        """What the group's leader decides for all members."""
        topics = {topic for member in members.values() for topic in member.subscription}
        owned = [(topic, sorted(cluster.partitions_for_topic(topic) or ())) for topic in sorted(topics)]
        shares = roles({name: _standing(member.user_data) for name, member in members.items()}, self._standbys)
        return {
            name: ConsumerProtocolMemberAssignment(
                _VERSION, owned if role is Role.OWNER else [], role.value.encode("ascii")
            )
            for name, role in shares.items()
        }

    def on_assignment(self, assignment: ConsumerProtocolMemberAssignment) -> None:
        """Take this member's role."""
        self.role = Role(assignment.user_data.decode("ascii"))


def _standing(user_data: bytes) -> Standing:
    """What a member has told; one that tells nothing of use comes last."""
    try:
        return msgspec.msgpack.decode(user_data, type=Standing)
    except msgspec.DecodeError:
        return _UNKNOWN
