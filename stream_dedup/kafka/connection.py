"""How to reach a broker, and the limits on every call to it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import TypeVar

import structlog
from aiokafka import errors
from aiokafka.errors import KafkaError

from stream_dedup.errors import BrokerRefusedError, TransactionFailedError
from stream_dedup.kafka.transport import BATCH_BYTES

T = TypeVar("T")

RETRY_PAUSE = 0.1
"""Seconds between tries of a call that failed for a passing reason; aiokafka's own `retry_backoff_ms`."""
CLOSE_TIMEOUT = 1.0
"""Seconds that closing a connection may take before it is left alone; a stop has four such ends one after another."""
LEAST_REQUEST_TIMEOUT = 1.0
"""Seconds; a fetch that finds nothing is answered after half a second (aiokafka's `fetch_max_wait_ms`)."""
CUT_OFF_TIMEOUT = 0.2
"""Seconds that it may take on top of that once it is cut off."""
FINAL = (
    errors.TopicAuthorizationFailedError,
    errors.GroupAuthorizationFailedError,
    errors.ClusterAuthorizationFailedError,
    errors.TransactionalIdAuthorizationFailed,
    errors.AuthenticationFailedError,
    errors.AuthenticationMethodNotSupported,
    errors.SaslAuthenticationFailed,
    errors.UnsupportedSaslMechanismError,
    errors.IllegalSaslStateError,
    errors.SecurityDisabled,
    errors.UnsupportedVersionError,
    errors.UnsupportedForMessageFormatError,
    errors.IncompatibleBrokerVersion,
    errors.UnrecognizedBrokerVersion,
    errors.InvalidRequestError,
    errors.InvalidTopicError,
    errors.InvalidGroupIdError,
    errors.InvalidConfigurationError,
    errors.InvalidPartitionsError,
    errors.InvalidReplicationFactorError,
    errors.InvalidReplicationAssignmentError,
    errors.PolicyViolationError,
    errors.OffsetOutOfRangeError,
    errors.IllegalArgumentError,
    errors.IllegalStateError,
)
"""What trying again cannot mend: missing rights, unsupported versions, invalid requests. All else passes: a broker that
is starting or being replaced answers with UNKNOWN_SERVER_ERROR, too, which aiokafka does not call retriable."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach a broker, and how long it may take to answer."""

    bootstrap_servers: str
    client_id: str = "stream-dedup"
    call_timeout: float = 20.0
    """Seconds for one call, all tries included."""
    transaction_timeout: float = 60.0
    """Seconds after which the broker ends a transaction that its owner left open."""
    batch_bytes: int = BATCH_BYTES
    """Bytes that one fetch brings from a partition at most, and that a source hands out at once (after decompression,
    which may make a thousand times as much of them); one record may be larger."""

    @property
    def request_timeout_ms(self) -> int:
        """Limit of each single request of a call, ms: half of the call's leaves time to ask another broker."""
        return int(max(LEAST_REQUEST_TIMEOUT, self.call_timeout / 2) * 1000)


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
    """A handler for asyncio's "exception was never retrieved" that tells quietly what aiokafka does not retrieve.

    Each batch of a failed transaction holds a future of its own that nobody awaits (aiokafka 0.14); why the
    transaction failed is raised and told elsewhere.
    """
    error, future = context.get("exception"), context.get("future")
    if isinstance(error, KafkaError) and not isinstance(future, asyncio.Task):
        log.debug("a future of aiokafka's that nobody awaits has failed", error=repr(error))
    else:
        loop.default_exception_handler(context)


async def retried(call: Callable[[], Awaitable[T]], limit: float) -> T:
    """The result of a call, tried again while it fails for a passing reason, for at most `limit` seconds.

    Raises:
        TransactionFailedError: the limit has passed.
        BrokerRefusedError: the broker refuses the call for good.
    """
    last: KafkaError | OSError | None = None
    try:
        async with asyncio.timeout(limit):
            while True:
                try:
                    return await call()
                except FINAL as error:
                    raise BrokerRefusedError(f"the broker refuses: {error!r}") from error
                except (KafkaError, OSError) as error:
                    last = error
                    await asyncio.sleep(RETRY_PAUSE)
    except TimeoutError as error:
        raise TransactionFailedError(f"the broker gave no answer within {limit:g} s (last: {last!r})") from error
