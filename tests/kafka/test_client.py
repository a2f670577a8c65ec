"""The real transport where aiokafka's answers need a second look."""

from collections.abc import Mapping, Sequence

from aiokafka import TopicPartition
from aiokafka.structs import OffsetAndMetadata

from stream_dedup.kafka.client import KafkaBroker
from stream_dedup.kafka.connection import Connection


class LoadingCoordinator:
    """An admin client whose group coordinator is loading its offsets when it is first asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def describe_topics(self, topics: Sequence[str]) -> list[dict[str, object]]:
        """Topics of two partitions."""
        return [{"error_code": 0, "topic": topic, "partitions": [{}, {}]} for topic in topics]

    async def list_consumer_group_offsets(
        self, _group: str, partitions: Sequence[TopicPartition] | None = None
    ) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """Nothing at first, as aiokafka gives for a response that is an error; then -1 where nothing is committed."""
        self.asked += 1
        if self.asked == 1:
            return {}
        return {of: OffsetAndMetadata(7 if of.partition == 0 else -1, "") for of in partitions or ()}


async def test_a_coordinator_that_is_loading_has_not_lost_the_offsets() -> None:
    """After a broker's restart its offsets are unknown for a moment: it is asked again, and nothing begins anew."""
    admin = LoadingCoordinator()
    broker = KafkaBroker(Connection("localhost:1"), admin, None)
    assert await broker.committed("group", "topic") == {0: 7}
    assert admin.asked == 2
