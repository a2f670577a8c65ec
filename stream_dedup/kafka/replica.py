"""The state of deciding as the changelog tells it: the same for the owner, a standby and the tests' oracle."""

from collections.abc import Mapping, Sequence

from stream_dedup.core.candidates import Similarity
from stream_dedup.core.decider import Decider
from stream_dedup.core.delta import Delta
from stream_dedup.core.rules import Rules
from stream_dedup.core.verdict import Kind
from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.changelog import ChangelogRecord, RawProgress, decode_record
from stream_dedup.kafka.raw_progress import NO_PROGRESS
from stream_dedup.kafka.transport import Bounds, Record
from stream_dedup.kafka.trimming import Trimmer
from stream_dedup.kafka.ways_out import WITHOUT_THE_INDEX

MARK_EVERY = 1000
"""Changelog records between two marks: those of ten million records stay under a megabyte."""


class Replica:
    """What the changelog's records up to an offset come to. It changes by committed records alone, in order."""

    def __init__(self, rules: Rules, similarity: Similarity) -> None:
        """Nothing is taken yet.

        Args:
            rules: the decider's, until a record brings others.
            similarity: its estimate of the Jaccard similarity.
        """
        self.rules = rules
        self._similarity = similarity
        self.forget()

    def forget(self) -> None:
        """Begin anew, and let go of the index."""
        self.decider = Decider(self.rules, self._similarity)
        self.offset = 0
        """The changelog offset up to which records are taken. Not the log's end: another owner may write before this
        one is told that it lost the partition."""
        self.last: ChangelogRecord | None = None
        self.outlived: int | None = None
        """The changelog offset below which all may be deleted, None where nothing more may."""
        self._trimmer = Trimmer()

    @property
    def routes(self) -> Mapping[Kind, str] | None:
        """Where each kind went with the last record, None where none is taken."""
        return None if self.last is None else self.last.routes

    @property
    def raw(self) -> RawProgress:
        """How far articles are decided."""
        return NO_PROGRESS if self.last is None else self.last.raw

    def begin(self, topic: str, bounds: Bounds) -> int:
        """The offset to go on reading the changelog from. What was taken is forgotten where it no longer helps.

        Args:
            topic: the changelog.
            bounds: what it holds.

        Raises:
            LogRefusedError: it ends before what was taken.
        """
        if self.last is None or self.offset < bounds.start:
            # The next records are deleted: only the whole of what is left still makes a chain.
            self.forget()
            return bounds.start
        # One record at least was taken, and the last one is never deleted.
        if bounds.end < max(self.offset, 1):
            raise LogRefusedError(
                f"{topic} ends at offset {bounds.end}, but the index was brought up to {self.offset}: the changelog "
                "was made anew or has lost its end, and the index could not be restored from it after the next start. "
                f"To go on without what it held: {WITHOUT_THE_INDEX}"
            )
        return self.offset

    def take(self, records: Sequence[Record]) -> None:
        """Apply committed records of the changelog, each of which must start where the one before ended.

        Raises:
            LogRefusedError: one does not, or is no record of a changelog.
        """
        for record in records:
            where = f"{record.topic}-{record.partition} offset {record.offset}"
            taken = decode_record(record.value, where)
            if self.last is None:
                self.decider = Decider(self.rules, self._similarity, taken.delta.start)
            self._check_chain(record.topic, taken.delta, where)
            self.committed(taken, record.offset + 1)

    def committed(self, record: ChangelogRecord, end: int) -> None:
        """Apply one record that is committed, after which the changelog ends at the offset `end`."""
        self.decider.apply(record.delta)
        self._trimmer.follow(record.delta)
        self.last, self.offset = record, end
        if self._trimmer.unmarked >= MARK_EVERY:
            self._trimmer.mark(end)

    def passed(self, end: int) -> None:
        """All committed records below an offset are taken; what else stands there are commit markers."""
        self.offset = end
        self._trimmer.mark(end)

    def outlive(self) -> None:
        """See what of the changelog may be deleted by now."""
        horizon = self.decider.clock.horizon(self.decider.rules.window)
        below = self._trimmer.outlived(horizon, self.decider.evicted_below)
        self.outlived = self.outlived if below is None else below

    def _check_chain(self, topic: str, delta: Delta, where: str) -> None:
        if delta.start != self.decider.position:
            raise LogRefusedError(
                f"the chain of {topic} is broken: {where} starts at position {delta.start}, but the records "
                f"before it end at {self.decider.position}. A part of the changelog is missing or foreign: the index "
                f"cannot be restored from it. To go on without: {WITHOUT_THE_INDEX}"
            )
