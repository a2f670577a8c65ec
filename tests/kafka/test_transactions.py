"""What a transaction's errors mean."""

import asyncio

import pytest
from aiokafka import AIOKafkaProducer, errors

from stream_dedup.errors import (
    BrokerRefusedError,
    FencedError,
    RecordTooLargeError,
    StreamDedupError,
    TransactionFailedError,
)
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.transactions import KafkaTransactions, error_of
from stream_dedup.kafka.transport import Input


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
