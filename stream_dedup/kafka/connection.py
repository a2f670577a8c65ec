"""How to reach a broker, and the limits on every call to it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import TypeVar

from aiokafka.errors import KafkaError

from stream_dedup.errors import BrokerRefusedError, TransactionFailedError

T = TypeVar("T")

RETRY_PAUSE = 0.1
"""Seconds between tries of a call that failed for a passing reason; aiokafka's own `retry_backoff_ms`."""
CLOSE_TIMEOUT = 1.0
"""Seconds that closing a connection may take before it is left alone; a stop has four such ends one after another."""
CUT_OFF_TIMEOUT = 0.2
"""Seconds that it may take on top of that once it is cut off."""


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach a broker, and how long it may take to answer."""

    bootstrap_servers: str
    client_id: str = "stream-dedup"
    call_timeout: float = 20.0
    """Seconds for one call, all tries included."""
    transaction_timeout: float = 60.0
    """Seconds after which the broker ends a transaction that its owner left open."""
    fetch_bytes: int = 8_000_000
    """Bytes fetched at once from a partition; one record may be larger."""


async def close_quietly(closing: Coroutine[None, None, None]) -> None:
    """Await a client's end for at most `CLOSE_TIMEOUT`; what a dying connection says then is of no use.

    aiokafka cancels its own tasks when it stops, and the CancelledError of one that has not begun yet comes out of
    `stop`, which then leaves the rest open: so tasks get a turn first, and the end is awaited in a task of its own,
    where such an error cannot pass for a cancellation of ours.
    """
    ending = asyncio.create_task(_after_a_turn(closing))
    _, late = await asyncio.wait({ending}, timeout=CLOSE_TIMEOUT)
    for task in late:
        task.cancel()
        await asyncio.wait({task}, timeout=CUT_OFF_TIMEOUT)
    error = ending.exception() if ending.done() and not ending.cancelled() else None
    if error is not None and not isinstance(error, KafkaError | TimeoutError | OSError):
        raise error


async def _after_a_turn(closing: Coroutine[None, None, None]) -> None:
    await asyncio.sleep(0)
    await closing


def without_aiokafkas_futures(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    """A handler for asyncio's "exception was never retrieved" that leaves out what aiokafka does not retrieve.

    Each batch of a failed transaction holds a future of its own that nobody awaits (aiokafka 0.14); why the
    transaction failed is raised and told elsewhere.
    """
    error, future = context.get("exception"), context.get("future")
    if not isinstance(error, KafkaError) or isinstance(future, asyncio.Task):
        loop.default_exception_handler(context)


async def retried(call: Callable[[], Awaitable[T]], limit: float) -> T:
    """The result of a call, tried again while it fails for a passing reason, for at most `limit` seconds.

    Raises:
        TransactionFailedError: the limit has passed.
        BrokerRefusedError: the broker refuses the call for good.
    """
    last: KafkaError | None = None
    try:
        async with asyncio.timeout(limit):
            while True:
                try:
                    return await call()
                except KafkaError as error:
                    if not error.retriable:
                        raise BrokerRefusedError(f"the broker refuses: {error!r}") from error
                    last = error
                    await asyncio.sleep(RETRY_PAUSE)
    except TimeoutError as error:
        raise TransactionFailedError(f"the broker gave no answer within {limit:g} s (last: {last!r})") from error
