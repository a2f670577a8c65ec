"""Closing clients, and calls that fail."""

import asyncio
import gc

import pytest
from aiokafka import errors
from aiokafka.errors import ProducerFenced
from structlog.testing import capture_logs

from stream_dedup.errors import BrokerRefusedError, TransactionFailedError
from stream_dedup.kafka.connection import close_quietly, retried, without_aiokafkas_futures


async def test_a_clients_own_cancellation_is_not_ours() -> None:
    """A client cancels its tasks when it stops and lets that through: whoever closes it has not been cancelled."""

    async def stop() -> None:
        raise asyncio.CancelledError

    await close_quietly(stop())


async def test_our_cancellation_is_not_lost() -> None:
    """Cancelled while a client is closed, the task is cancelled."""
    stopping = asyncio.Event()

    async def stop() -> None:
        stopping.set()
        await asyncio.Event().wait()

    closing = asyncio.create_task(close_quietly(stop()))
    await stopping.wait()
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing


async def test_closing_is_limited_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that does not end is left alone."""
    monkeypatch.setattr("stream_dedup.kafka.connection.CLOSE_TIMEOUT", 0.01)

    async def stop() -> None:
        await asyncio.Event().wait()

    await close_quietly(stop())


@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(ProducerFenced(), [], id="a batch of a failed transaction"),
        pytest.param(ValueError("ours"), [ValueError], id="anything else"),
    ],
)
async def test_only_aiokafkas_own_futures_may_fail_unseen(error: Exception, told: list[type[Exception]]) -> None:
    """A failed batch has a future that nobody awaits: only a debug line; all else that nobody awaits is told."""
    loop = asyncio.get_running_loop()
    seen: list[type[Exception]] = []
    default = loop.default_exception_handler
    loop.default_exception_handler = lambda context: seen.append(type(context["exception"]))  # type: ignore[method-assign]
    loop.set_exception_handler(without_aiokafkas_futures)
    try:
        with capture_logs() as logs:
            loop.create_future().set_exception(error)
            gc.collect()
    finally:
        loop.default_exception_handler = default  # type: ignore[method-assign]
        loop.set_exception_handler(None)
    assert seen == told
    assert [line["log_level"] for line in logs] == ([] if told else ["debug"])


@pytest.fixture
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stream_dedup.kafka.connection.RETRY_PAUSE", 0)


@pytest.mark.usefixtures("_no_pause")
@pytest.mark.parametrize(
    "error",
    [
        errors.UnknownError(),
        errors.KafkaConnectionError(),
        errors.NotLeaderForPartitionError(),
        errors.KafkaTimeoutError(),
        ConnectionResetError(),
        TimeoutError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_passing_error_is_tried_again(error: Exception) -> None:
    """A broker that is being replaced says it does not know, or nothing at all; a moment later it answers."""
    answers = iter([error, error, None])

    async def call() -> str:
        if (answer := next(answers)) is not None:
            raise answer
        return "answered"

    assert await retried(call, 60) == "answered"


@pytest.mark.usefixtures("_no_pause")
async def test_a_passing_error_is_not_tried_for_ever() -> None:
    """After the limit the failure names what the broker said last."""

    async def call() -> str:
        raise errors.UnknownError

    with pytest.raises(TransactionFailedError, match="UnknownError"):
        await retried(call, 0.05)


@pytest.mark.usefixtures("_no_pause")
@pytest.mark.parametrize(
    "error",
    [errors.TopicAuthorizationFailedError(), errors.UnsupportedVersionError(), errors.InvalidRequestError()],
    ids=lambda error: type(error).__name__,
)
async def test_what_trying_cannot_mend_is_told_at_once(error: Exception) -> None:
    """Rights, versions, invalid requests."""
    calls = []

    async def call() -> str:
        calls.append(1)
        raise error

    with pytest.raises(BrokerRefusedError, match=type(error).__name__):
        await retried(call, 60)
    assert calls == [1]
