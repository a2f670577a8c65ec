"""Transactions on aiokafka, where it does what a broker alone would not show."""

import pytest
from aiokafka import AIOKafkaProducer

from stream_dedup.errors import TransactionFailedError
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.transactions import KafkaTransactions
from stream_dedup.kafka.transport import Input


async def test_a_broker_that_names_no_broker_yet_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it looks for the coordinator aiokafka asserts that it knows a broker: no reason to end the worker."""

    async def start(_producer: AIOKafkaProducer) -> None:
        raise AssertionError("Did we not perform bootstrap?")

    monkeypatch.setattr(AIOKafkaProducer, "start", start)
    transactions = KafkaTransactions(Connection("localhost:1"), Input("group", "in", 0))
    with pytest.raises(TransactionFailedError, match="bootstrap"):
        await transactions.start()
