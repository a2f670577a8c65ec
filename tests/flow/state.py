"""What a deployment's internal topics must hold: the index that comes back from them, and the statistics."""

from collections import Counter
from collections.abc import Sequence

from stream_dedup.core.decider import Decider
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.rules import Rules
from stream_dedup.kafka.client import KafkaBroker
from stream_dedup.kafka.replica import Replica
from stream_dedup.kafka.restore import restore
from stream_dedup.kafka.statistics_record import decode_statistics
from stream_dedup.kafka.transport import Record
from tests.flow.differences import Difference, Kind


async def restored(broker: KafkaBroker, changelog: str, rules: Rules) -> Decider:
    """The decider that the next worker would begin with; an empty one where nothing was ever decided."""
    replica = Replica(rules, estimated_jaccard)
    await restore(broker, changelog, replica, lambda: None)
    return replica.decider


def index_differences(came: Decider, must: Decider, committed: int) -> list[Difference]:
    """How a restored decider differs from the oracle's, and from the group's committed offset."""
    found = []
    if came.position != committed:
        found.append(f"the changelog ends at position {came.position}, the committed offset is {committed}")
    if came.digest() != must.digest():
        found.append(
            f"the restored index has {len(came)} entries and ends at sequence {came.sequence}, the oracle's "
            f"{len(must)} and {must.sequence}; their digests differ"
        )
    return [Difference(Kind.DIFFERENT, what) for what in found]


def statistics_differences(records: Sequence[Record], outputs: Counter[tuple[str, str]]) -> list[Difference]:
    """How the statistics differ from the outputs, which are counted by verdict and kind."""
    totals: Counter[tuple[str, str]] = Counter()
    found, following = [], 0
    for record in records:
        batch = decode_statistics(record.value or b"")
        if batch is None:
            found.append(f"offset {record.offset} of the statistics is of another version")
            continue
        if batch.first_sequence != following:
            found.append(f"statistics go on at sequence {batch.first_sequence} instead of {following}")
        following = batch.last_sequence + 1
        totals.update({(count.verdict.value, count.kind.value): count.articles for count in batch.kinds})
    if totals != outputs:
        found.append(f"statistics count {dict(totals)}, the outputs hold {dict(outputs)}")
    return [Difference(Kind.DIFFERENT, what) for what in found]
