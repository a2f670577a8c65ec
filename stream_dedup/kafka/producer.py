"""What aiokafka's producer (0.14) lacks: word of requests without an answer, and an end that does not wait."""

import asyncio

from aiokafka import AIOKafkaProducer
from aiokafka.client import ConnectionGroup
from aiokafka.errors import KafkaError, NodeNotReadyError, ProducerClosed
from aiokafka.protocol.produce import ProduceRequest
from aiokafka.protocol.transaction import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    TxnOffsetCommitRequest,
)

from stream_dedup.errors import TransactionFailedError
from stream_dedup.kafka.connection import CUT_OFF_TIMEOUT

OF_A_TRANSACTION = (
    AddPartitionsToTxnRequest,
    ProduceRequest,
    AddOffsetsToTxnRequest,
    TxnOffsetCommitRequest,
    EndTxnRequest,
)
"""Requests that carry the producer's epoch."""


async def started(producer: AIOKafkaProducer) -> None:
    """Start it; a broker that has just come back may name no broker yet, which aiokafka answers with an assertion."""
    try:
        await producer.start()
    except AssertionError as error:
        raise TransactionFailedError(f"the producer could not start: {error}") from error


def note_unanswered(producer: AIOKafkaProducer, unanswered: list[str]) -> None:
    """Write down each request of a transaction that was sent, and failed without an answer."""
    send = producer.client.send

    async def noting(node: int, request: object, *, group: object = ConnectionGroup.DEFAULT) -> object:
        try:
            return await send(node, request, group=group)
        except NodeNotReadyError:
            raise  # it was not sent
        except KafkaError:
            if isinstance(request, OF_A_TRANSACTION):
                unanswered.append(type(request).__name__)
            raise

    producer.client.send = noting


async def cut_off(producer: AIOKafkaProducer) -> None:
    """End a producer whose transaction failed, with all that it has not sent.

    aiokafka's `stop` would wait until all is sent, for ever where the broker is gone, and then leave its sender and
    its connections behind (aiokafka 0.14).
    """
    sender: asyncio.Task[None] = producer._sender.sender_task  # noqa: SLF001 - there is no other way
    sender.cancel()
    await producer.client.close()  # what is under way fails, and its batches go back to the others
    if (refresh := producer.client._md_update_fut) is not None and not refresh.done():  # noqa: SLF001 - as above
        refresh.set_result(False)  # else a task that waits for it is never done
    _, late = await asyncio.wait({sender}, timeout=CUT_OFF_TIMEOUT)
    for task in late:
        task.cancel()  # it awaits a request that nobody will answer
        await asyncio.wait({task})
    accumulator = producer._message_accumulator  # noqa: SLF001 - as above
    # aiokafka takes a batch off this set when it ends, also one that waits to be sent again and is not in it.
    accumulator._pending_batches.update(*accumulator._batches.values())  # noqa: SLF001 - as above
    accumulator.fail_all(ProducerClosed())
    await producer.stop()
    # asyncio prints the traceback of a future that nobody asks how it ended.
    end = producer._txn_manager.wait_for_transaction_end()  # noqa: SLF001 - as above
    if end.done() and not end.cancelled():
        end.exception()
