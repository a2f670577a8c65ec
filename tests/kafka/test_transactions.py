"""What a transaction's errors mean."""

import asyncio
import gc

import pytest
from aiokafka import AIOKafkaProducer, errors
from aiokafka.producer.message_accumulator import BatchBuilder

from stream_dedup.errors import (
    BrokerRefusedError,
    FencedError,
    RecordTooLargeError,
    StreamDedupError,
    TransactionFailedError,
)
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.transactions import PRODUCE_BATCH_BYTES, KafkaTransactions, _send_partition, error_of
from stream_dedup.kafka.transport import Input, Message


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (errors.MessageSizeTooLargeError(), RecordTooLargeError),
        (errors.RecordListTooLargeError(), RecordTooLargeError),
        (errors.ProducerFenced(), FencedError),
        (errors.InvalidProducerEpoch(), FencedError),
        (errors.TopicAuthorizationFailedError(), BrokerRefusedError),
        (errors.GroupAuthorizationFailedError(), BrokerRefusedError),
        (errors.ClusterAuthorizationFailedError(), BrokerRefusedError),
        (errors.TransactionalIdAuthorizationFailed(), BrokerRefusedError),
        (errors.NotEnoughReplicasError(), TransactionFailedError),
        (errors.OutOfOrderSequenceNumber(), TransactionFailedError),
        (TimeoutError(), TransactionFailedError),
        (ConnectionResetError(), TransactionFailedError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_each_error_has_its_meaning(error: BaseException, meaning: type[StreamDedupError]) -> None:
    """Passing failures are tried again; a denied right is not, for trying does not grant it."""
    ours = error_of(error, "the-id")
    assert type(ours) is meaning
    assert "the-id" in str(ours)


@pytest.mark.parametrize("error", [asyncio.CancelledError(), AssertionError("a bug")])
def test_what_is_no_brokers_error_stays_what_it_is(error: BaseException) -> None:
    """A cancellation or a bug is not dressed up as a failed transaction, nor made its own cause."""
    assert error_of(error, "the-id") is None


async def test_a_broker_that_names_no_broker_yet_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it looks for the coordinator aiokafka asserts that it knows a broker: no reason to end the worker."""

    async def start(_producer: AIOKafkaProducer) -> None:
        raise AssertionError("Did we not perform bootstrap?")

    monkeypatch.setattr(AIOKafkaProducer, "start", start)
    transactions = KafkaTransactions(Connection("localhost:1"), Input("group", "in", 0))
    with pytest.raises(TransactionFailedError, match="bootstrap"):
        await transactions.start()
    await transactions.close()


class _Stuck:
    """A producer whose transactions never get further than their beginning."""

    def __init__(self) -> None:
        self.begun = 0

    async def begin_transaction(self) -> None:
        """Wait for ever."""
        self.begun += 1
        await asyncio.Event().wait()


async def test_a_producer_is_not_used_again_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that took too long may still be answered, into the next transaction: only a new epoch is safe from it."""
    producer = _Stuck()
    transactions = KafkaTransactions(Connection("localhost:1", call_timeout=0), Input("group", "in", 0))
    monkeypatch.setattr(transactions, "_producer", producer)
    with pytest.raises(TransactionFailedError, match="did not commit"):
        await transactions.commit([], 1)
    with pytest.raises(TransactionFailedError, match="closed after an error"):
        await transactions.commit([], 1)
    assert producer.begun == 1


class _Failing:
    """A producer whose record batches all fail, and which takes only so many of them."""

    def __init__(self, taken: int) -> None:
        self.taken = taken
        self.deliveries: list[asyncio.Future[None]] = []

    def create_batch(self) -> BatchBuilder:
        """An empty one."""
        return BatchBuilder(PRODUCE_BATCH_BYTES, 0, is_transactional=True)

    async def send_batch(self, _builder: BatchBuilder, _topic: str, *, partition: int) -> "asyncio.Future[None]":
        """A future that fails in the next turn, or the error at once."""
        if len(self.deliveries) == self.taken:
            raise errors.ProducerClosed
        delivery = asyncio.get_running_loop().create_future()
        error = errors.ProducerFenced(f"batch {len(self.deliveries)} of partition {partition}")
        asyncio.get_running_loop().call_soon(delivery.set_exception, error)
        self.deliveries.append(delivery)
        return delivery


@pytest.mark.parametrize(
    ("taken", "told"),
    [
        pytest.param(99, errors.ProducerFenced, id="every batch fails"),
        pytest.param(2, errors.ProducerClosed, id="one cannot even be handed over"),
    ],
)
async def test_no_delivery_fails_unseen(taken: int, told: type[Exception]) -> None:
    """When several record batches fail, one error is raised and asyncio prints no traceback for the others."""
    loop = asyncio.get_running_loop()
    unseen: list[dict[str, object]] = []
    loop.set_exception_handler(lambda _loop, context: unseen.append(context))
    producer = _Failing(taken)
    messages = [Message("out", 0, 0, None, bytes(PRODUCE_BATCH_BYTES // 2 + 1)) for _ in range(4)]
    with pytest.raises(told):
        await _send_partition(producer, "out", 0, messages, lambda _point: None)
    await asyncio.wait(producer.deliveries)
    assert len(producer.deliveries) == min(taken, 4)
    producer.deliveries.clear()
    gc.collect()
    assert unseen == []
