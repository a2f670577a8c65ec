"""Reading the changelog back."""

from collections.abc import Sequence

from stream_dedup.core.decider import Decider
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.rules import Rules
from stream_dedup.kafka.changelog import ChangelogRecord, RawProgress, encode_record
from stream_dedup.kafka.memory import MemoryBroker, MemorySource
from stream_dedup.kafka.replica import Replica
from stream_dedup.kafka.restore import restore
from stream_dedup.kafka.transport import Message, Record

RULES = Rules(radius=3, threshold=0.55, window=None, max_entries=10, keep_revisions=False, vetoes=True)


class _SilentSource(MemorySource):
    """Gives nothing a few times, as one does whose broker is away."""

    silent = 3

    async def fetch(self, max_records: int, wait: float) -> Sequence[Record]:
        """Nothing at first."""
        if self.silent:
            self.silent -= 1
            return ()
        return await super().fetch(max_records, wait)


class _SilentBroker(MemoryBroker):
    async def source(self, topic: str, partition: int, offset: int) -> MemorySource:
        """A reader that is silent at first."""
        return _SilentSource(self, topic, partition, offset)


async def test_waiting_for_a_broker_is_no_progress() -> None:
    """A restore that stands still must be seen to stand still: only what was read counts."""
    broker = _SilentBroker()
    broker.create_topic("index", 1)
    decider, progress = Decider(RULES, estimated_jaccard), list[None]()
    for end in (3, 5):
        delta = decider.decide((), end).delta
        decider.apply(delta)
        value = encode_record(ChangelogRecord(delta, {}, "", RawProgress("", {})))
        await broker.publish(Message("index", 0, 0, None, value))
    replica = Replica(RULES, estimated_jaccard)
    await restore(broker, "index", replica, lambda: progress.append(None))
    assert replica.decider.digest() == decider.digest()
    assert len(progress) == 1
