"""Publishes articles as they are: acknowledged by all replicas, each once, many on their way at a time."""

import contextlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from stream_dedup.errors import BrokerUnreachableError
from stream_dedup.kafka.connection import Connection, close_quietly

LINGER_MS = 5
"""How long a record waits for others of its batch."""
BATCH_BYTES = 256 * 1024
LARGEST_REQUEST = 128 * 1024 * 1024
"""The client's own limit, above any that a broker is set to: whether a record is too large is the broker's to say."""
ON_THE_WAY = 5000
"""Records that are sent and not acknowledged yet."""


class Publisher:
    """Sends records to one topic. Keyed ones go where Kafka's default partitioner puts the key."""

    def __init__(self, producer: AIOKafkaProducer, topic: str) -> None:
        self._producer = producer
        self._topic = topic
        self._on_the_way: deque[Awaitable[object]] = deque()
        self.too_large = 0
        """Records that the broker refused for their size."""

    async def publish(self, key: bytes | None, value: bytes, timestamp: int) -> None:
        """Send one record; waits only when too many are on their way.

        Raises:
            BrokerUnreachableError: this record, or one sent before, could not be delivered.
        """
        if len(self._on_the_way) >= ON_THE_WAY:
            await self._acknowledged(self._on_the_way.popleft())
        try:
            sent = await self._producer.send(self._topic, key=key, value=value, timestamp_ms=timestamp)
        except MessageSizeTooLargeError:
            self.too_large += 1
        except KafkaError as error:
            raise _undelivered(self._topic, error) from error
        else:
            self._on_the_way.append(sent)

    async def flush(self) -> None:
        """Wait until every record is acknowledged.

        Raises:
            BrokerUnreachableError: one could not be delivered.
        """
        while self._on_the_way:
            await self._acknowledged(self._on_the_way.popleft())

    async def _acknowledged(self, sent: Awaitable[object]) -> None:
        try:
            await sent
        except MessageSizeTooLargeError:
            self.too_large += 1
        except KafkaError as error:
            raise _undelivered(self._topic, error) from error


def _undelivered(topic: str, error: KafkaError) -> BrokerUnreachableError:
    return BrokerUnreachableError(f"an article could not be delivered to {topic}: {error!r}; publish again")


@contextlib.asynccontextmanager
async def publisher(connection: Connection, topic: str) -> AsyncIterator[Publisher]:
    """A publisher to a topic that exists; what is on its way at the end is waited for."""
    producer = AIOKafkaProducer(
        bootstrap_servers=connection.bootstrap_servers,
        client_id=connection.client_id,
        acks="all",
        enable_idempotence=True,
        linger_ms=LINGER_MS,
        max_batch_size=BATCH_BYTES,
        max_request_size=LARGEST_REQUEST,
        request_timeout_ms=int(connection.call_timeout * 1000),
    )
    await producer.start()
    try:
        publishing = Publisher(producer, topic)
        yield publishing
        await publishing.flush()
    finally:
        await close_quietly(producer.stop())
