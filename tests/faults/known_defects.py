"""Defects that would break a promise, as changes of the source, each with the tests that must fail with it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """A text that stands once in a file, and what would stand there instead."""

    file: str
    """Below the package."""
    right: str
    wrong: str


@dataclass(frozen=True, slots=True)
class Defect:
    """What somebody might do to the source."""

    name: str
    changes: tuple[Change, ...]
    tests: tuple[str, ...]
    """As pytest names them, below the tests; at least one must fail."""


LOOP, TRANSACTIONS, CLIENT = "kafka/loop.py", "kafka/transactions.py", "kafka/client.py"
LOOP_TESTS, CONTRACT = "kafka/test_loop.py", "kafka/test_transport_contract.py"

DEFECTS = (
    Defect(
        "apply before commit",
        (
            Change(
                LOOP,
                "        try:\n            ends = await transactions.commit(",
                "        await in_thread(self._processor.applied, batch, {})\n"
                "        try:\n            await transactions.commit(",
            ),
            Change(LOOP, "        await in_thread(self._processor.applied, batch, ends)\n", ""),
        ),
        (f"{LOOP_TESTS}::test_what_did_not_commit_is_not_applied",),
    ),
    Defect(
        "one transactional id for all partitions",
        (
            Change(
                "kafka/transport.py", 'f"{self.group}-{self.topic}-{self.partition}"', 'f"{self.group}-{self.topic}"'
            ),
        ),
        (f"{LOOP_TESTS}::test_owners_of_two_partitions_do_not_fence_each_other",),
    ),
    Defect(
        "offsets committed outside the transaction",
        (
            Change(
                TRANSACTIONS,
                "                await producer.begin_transaction()\n",
                "                from aiokafka import AIOKafkaConsumer\n"
                "                servers, group = self._connection.bootstrap_servers, self._of.group\n"
                "                async with AIOKafkaConsumer(bootstrap_servers=servers, group_id=group) as outside:\n"
                "                    at = {TopicPartition(of.topic, of.partition): at for of, at in offsets.items()}\n"
                "                    outside.assign(list(at))\n"
                "                    await outside.commit(at)\n"
                "                await producer.begin_transaction()\n",
            ),
            Change(TRANSACTIONS, "            await producer.send_offsets_to_transaction(committed, group)\n", ""),
        ),
        (f"{CONTRACT}::test_a_refused_message_takes_the_whole_commit_with_it",),
    ),
    Defect(
        "a failed batch's future not checked before commit",
        (
            Change(
                TRANSACTIONS,
                "        sent = delivery.result()\n",
                "        if delivery.exception() is not None:\n"
                "            written += count\n"
                "            continue\n"
                "        sent = delivery.result()\n",
            ),
        ),
        ("kafka/test_transactions.py::test_no_delivery_fails_unseen",),
    ),
    Defect(
        "offsets committed from position()",
        (Change(LOOP, "commit(batch.messages, records[-1].offset + 1,", "commit(batch.messages, source.position,"),),
        (f"{LOOP_TESTS}::test_offsets_are_last_record_plus_one",),
    ),
    Defect(
        "the committed offset read before fencing",
        (
            Change(
                LOOP,
                "            await transactions.start()\n",
                "            committed = (await self._broker.committed(self.of.group, self.of.topic))"
                ".get(self.of.partition)\n"
                "            await transactions.start()\n",
            ),
            Change(
                LOOP,
                "            # Only now: the id is fenced, so no earlier owner can move the offset any more.\n"
                "            committed = (await self._broker.committed(self.of.group, self.of.topic))"
                ".get(self.of.partition)\n",
                "",
            ),
        ),
        (f"{LOOP_TESTS}::test_no_earlier_owner_moves_an_offset_that_was_read",),
    ),
    Defect(
        "the chain unchecked",
        (
            Change("kafka/replica.py", "        if delta.start != self.decider.position:\n", "        if False:\n"),
            Change("core/decider.py", "        if delta.start != self._position:\n", "        if False:\n"),
        ),
        ("kafka/test_stages.py::test_a_broken_chain_is_refused",),
    ),
    Defect(
        "a restore that breaks off forgets what it has applied",
        (Change("kafka/replica.py", "        self.last, self.offset = record, end\n", "        self.last = record\n"),),
        ("kafka/test_stages.py::test_a_restore_that_breaks_off_goes_on_from_there",),
    ),
    Defect(
        "a takeover restores from the start",
        (
            Change(
                "kafka/replica.py",
                "        if self.last is None or self.offset < bounds.start:\n",
                "        if True:\n",
            ),
        ),
        ("kafka/test_standby.py::test_a_takeover_reads_what_the_standby_has_not_read",),
    ),
    Defect(
        "the partition goes to any member",
        (Change("kafka/assignor.py", "(-members[name].offset, _RANKS.index(members[name].role), name)", "name"),),
        ("kafka/test_assignor.py",),
    ),
    Defect(
        "half a reset is gone on with",
        (
            Change(
                "kafka/reset.py",
                "    await _commit(broker, of.decide, (), max(plan.position, plan.record.delta.start, "
                "standing.fingerprinted.end) + 1)\n",
                "",
            ),
        ),
        ("kafka/test_reset.py::test_nobody_goes_on_with_half_a_reset",),
    ),
    Defect(
        "an article of a topic made anew taken for a replay",
        (Change("kafka/records.py", 'f"{self.raw_topic_id} {self', 'f"{self'),),
        ("kafka/test_reset.py",),
    ),
    Defect(
        "restore from a read_uncommitted end",
        (
            Change(
                CLIENT,
                '        isolation_level="read_committed",\n'
                "        request_timeout_ms=connection.request_timeout_ms,\n",
                "        request_timeout_ms=connection.request_timeout_ms,\n",
            ),
        ),
        (f"{CONTRACT}::test_nothing_is_visible_of_a_transaction_that_is_open",),
    ),
    Defect(
        "a producer kept after a transaction timeout",
        (Change(TRANSACTIONS, "        self._failed = True  # until", "        self._failed = False  # until"),),
        ("kafka/test_transactions.py::test_a_producer_is_not_used_again_after_a_failure",),
    ),
    Defect(
        "the id taken again after having been fenced",
        (
            Change(
                LOOP,
                "            except TransactionFailedError as error:\n                log.warning(",
                "            except StreamDedupError as error:\n                log.warning(",
            ),
            Change(LOOP, "import OffsetGoneError, ", "import OffsetGoneError, StreamDedupError, "),
        ),
        (f"{LOOP_TESTS}::test_a_fenced_loop_ends_at_once",),
    ),
    Defect(
        "the clock taken once a batch",
        (Change("core/decider.py", "        return clocks\n", "        return [clock] * len(clocks)\n"),),
        ("core/test_decider.py", "core/test_decider_state.py"),
    ),
    Defect(
        "expiry by run instead of by entry",
        (
            Change(
                "core/index.py",
                "self.entries.times[self.rows] > horizons[self.queries]",
                "self.entries.times.max() > horizons[self.queries]",
            ),
        ),
        ("core/test_index.py::test_life_is_tested_for_each_entry_and_query",),
    ),
    Defect(
        "statistics counting aborted batches",
        (
            Change(
                CLIENT,
                '            isolation_level="read_committed",\n            auto_offset_reset="none",\n',
                '            auto_offset_reset="none",\n',
            ),
        ),
        (f"{CONTRACT}::test_a_refused_message_takes_the_whole_commit_with_it",),
    ),
    Defect(
        "metrics counting batches that did not commit",
        (
            Change(
                LOOP,
                "        try:\n            ends = await transactions.commit(",
                "        self._observer.committed(CommittedBatch(stage, partition, len(records), 0.0))\n"
                "        try:\n            ends = await transactions.commit(",
            ),
            Change(
                LOOP,
                "        self._observer.committed(\n            CommittedBatch(\n"
                "                stage, partition, len(records), seconds, batch.verdicts, batch.unparsable_times, "
                "batch.truncated\n            )\n        )\n",
                "",
            ),
        ),
        (f"{LOOP_TESTS}::test_only_what_is_committed_is_counted",),
    ),
    Defect(
        "the last changelog record trimmed",
        (
            Change(
                "kafka/trimming.py",
                "while self._marks and (len(self._marks) > 1 or self._unmarked):",
                "while self._marks:",
            ),
        ),
        ("kafka/test_trimming.py",),
    ),
    Defect(
        "leaders are not looked up anew after silence",
        (Change(CLIENT, "connection.close(reason=CloseReason.CONNECTION_TIMEOUT)", "connection.close()"),),
        ("kafka/test_client.py::test_after_silence_leaders_are_looked_up_anew",),
    ),
)
