"""Who decides, and who stands by."""

import pytest
from aiokafka.cluster import ClusterMetadata
from aiokafka.coordinator.protocol import ConsumerProtocol, ConsumerProtocolMemberMetadata

from stream_dedup.kafka.assignor import Role, StandbyAssignor, Standing, roles

OWNER, STANDBY, SPARE = Role.OWNER, Role.STANDBY, Role.SPARE


@pytest.mark.parametrize(
    ("members", "standbys", "expected"),
    [
        pytest.param({"a": (0, SPARE)}, 1, {"a": OWNER}, id="alone"),
        pytest.param({"a": (7, STANDBY), "b": (9, OWNER), "c": (0, SPARE)}, 1, {"b": OWNER, "a": STANDBY, "c": SPARE},
                     id="all stay what they are"),
        pytest.param({"a": (9, STANDBY), "b": (9, OWNER)}, 1, {"b": OWNER, "a": STANDBY}, id="caught up, it stands by"),
        pytest.param({"a": (0, SPARE), "c": (7, STANDBY)}, 1, {"c": OWNER, "a": STANDBY}, id="the owner is gone"),
        pytest.param({"a": (5, OWNER), "b": (9, OWNER)}, 1, {"b": OWNER, "a": STANDBY}, id="one was taken for dead"),
        pytest.param({"a": (9, OWNER), "b": (7, STANDBY)}, 0, {"a": OWNER, "b": SPARE}, id="no standby"),
        pytest.param({"c": (0, SPARE), "b": (0, SPARE), "a": (0, SPARE)}, 2, {"a": OWNER, "b": STANDBY, "c": STANDBY},
                     id="a first start"),
    ],
)  # fmt: skip
def test_the_partition_goes_where_the_index_is(
    members: dict[str, tuple[int, Role]], standbys: int, expected: dict[str, Role]
) -> None:
    """To the member that has followed furthest, an owner that lives before others; so the next ones stand by."""
    assert roles({name: Standing(*standing) for name, standing in members.items()}, standbys) == expected


def test_what_members_tell_and_are_told_passes_through_the_group() -> None:
    """As bytes, both ways; a member that tells nothing of use comes last."""
    ready, other = StandbyAssignor(1, lambda: 12), StandbyAssignor(1, lambda: 3)
    metadata = {name: assignor.metadata({"in"}).encode() for name, assignor in (("a", other), ("b", ready))}
    members = {name: ConsumerProtocol.METADATA.decode(told) for name, told in metadata.items()}
    members["strange"] = ConsumerProtocolMemberMetadata(0, ["in"], b"\xc1")
    shares = ready.assign(_Cluster(), members)
    told = {name: ConsumerProtocol.ASSIGNMENT.decode(share.encode()) for name, share in shares.items()}
    assert {name: len(share.partitions()) for name, share in told.items()} == {"a": 0, "b": 1, "strange": 0}
    ready.on_assignment(told["b"])
    other.on_assignment(told["a"])
    assert (ready.role, other.role, told["strange"].user_data) == (OWNER, STANDBY, b"spare")


class _Cluster(ClusterMetadata):  # type: ignore[misc]  # aiokafka has no types
    """One topic with one partition."""

    def partitions_for_topic(self, topic: str) -> set[int]:
        """Its partitions."""
        assert topic == "in"
        return {0}
