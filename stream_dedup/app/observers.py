"""One observer made of several."""

from collections.abc import Collection

from stream_dedup.kafka.observer import CommittedBatch, Observer, Stage


class Observers:
    """Passes every report on to each of its observers."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def assigned(self, stage: Stage, partitions: Collection[int]) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.assigned(stage, partitions)

    def revoked(self, stage: Stage) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.revoked(stage)

    def restored(self, stage: Stage, partition: int) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.restored(stage, partition)

    def progressed(self, stage: Stage, partition: int) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.progressed(stage, partition)

    def committed(self, batch: CommittedBatch) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.committed(batch)

    def failed(self, stage: Stage, partition: int) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.failed(stage, partition)

    def lag(self, stage: Stage, partition: int, records: int) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.lag(stage, partition, records)

    def following(self, records: int) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.following(records)

    def index_size(self, entries: int, largest_block: int) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.index_size(entries, largest_block)
