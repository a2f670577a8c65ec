"""Closing clients."""

import asyncio
import gc

import pytest
from aiokafka.errors import ProducerFenced

from stream_dedup.kafka.connection import close_quietly, without_aiokafkas_futures


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
    """A failed batch has a future that nobody awaits; every other error that nobody awaits is told."""
    loop = asyncio.get_running_loop()
    seen: list[type[Exception]] = []
    default = loop.default_exception_handler
    loop.default_exception_handler = lambda context: seen.append(type(context["exception"]))  # type: ignore[method-assign]
    loop.set_exception_handler(without_aiokafkas_futures)
    try:
        loop.create_future().set_exception(error)
        gc.collect()
    finally:
        loop.default_exception_handler = default  # type: ignore[method-assign]
        loop.set_exception_handler(None)
    assert seen == told
