"""Closing clients."""

import asyncio

import pytest

from stream_dedup.kafka.connection import close_quietly


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
