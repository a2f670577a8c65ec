"""A consumer that reads records whose header keys are not UTF-8.

Kafka's brokers take any bytes as a header key; aiokafka decodes keys strictly. One such record raises
UnicodeDecodeError inside the consumer, again and again, and what was parsed before it in the same call is lost while
the position has moved past it. Here such a key comes as a str with surrogate escapes (PEP 383), from which
`key.encode("utf-8", "surrogateescape")` gives the bytes back.

How it is hooked in: `AIOKafkaConsumer.start` makes a `Fetcher`, whose `_proc_fetch_request` makes a `MemoryRecords`
from the bytes of a response. Both look these classes up by name and have no other place where one could be passed in.
`TolerantConsumer` has the same two methods, with these two names bound to classes of ours. So nothing of aiokafka is
copied, and no other consumer of the process is changed, as it would be by replacing the names in aiokafka's modules.
A version of aiokafka whose methods do not use these names any more is noticed at import.
"""

import types
from collections.abc import Awaitable, Callable, Iterator

from aiokafka import AIOKafkaConsumer
from aiokafka.consumer.fetcher import Fetcher
from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import DefaultRecordBatch
from aiokafka.record.memory_records import MemoryRecords

from stream_dedup.kafka.record_batch import BatchRecord, parse_batch

LENGTH_AT = 8
"""Of a batch, after the eight bytes of its base offset; big endian, four bytes, which counts what follows."""
RECORDS_AT = LENGTH_AT + 4
"""Where the counted bytes begin."""


class TolerantBatch:
    """One batch, with aiokafka's own properties and its speed unless a header key is not UTF-8."""

    def __init__(self, batch: DefaultRecordBatch, data: memoryview) -> None:
        self._batch = batch
        self._data = data

    def __getattr__(self, name: str) -> object:
        return getattr(self._batch, name)

    def __next__(self) -> object:
        # Only control batches are read this way, for the kind of their marker; they have no headers.
        return next(self._batch)

    def __iter__(self) -> Iterator[object]:
        """All records of the batch; nothing is handed out before the whole batch is known to be readable."""
        try:
            return iter(list(self._batch))
        except (UnicodeDecodeError, CorruptRecordException) as error:
            # Without its C extension aiokafka wraps the former in the latter.
            if not isinstance(error, UnicodeDecodeError) and not isinstance(error.__cause__, UnicodeDecodeError):
                raise
            return iter(self._parsed())

    def _parsed(self) -> list[BatchRecord]:
        return parse_batch(bytes(self._data))


class TolerantRecords:
    """The batches of one partition in a fetch response; a drop-in for aiokafka's class of that task."""

    def __init__(self, data: bytes) -> None:
        self._records = MemoryRecords(data)
        self._data = memoryview(data)
        self._position = 0

    def size_in_bytes(self) -> int:
        """Size of the response's part, an incomplete batch at its end included."""
        return int(self._records.size_in_bytes())

    def has_next(self) -> bool:
        """Whether a whole batch is left."""
        return bool(self._records.has_next())

    def next_batch(self) -> object:
        """The next batch; None after the last one."""
        batch = self._records.next_batch()
        start, length_at = self._position, self._position + LENGTH_AT
        if batch is not None:
            length = int.from_bytes(self._data[length_at : length_at + 4])
            self._position = start + RECORDS_AT + length
        # Formats before 2 have no headers.
        if isinstance(batch, DefaultRecordBatch):
            return TolerantBatch(batch, self._data[start : self._position])
        return batch


def _bound(method: Callable[..., Awaitable[object]], name: str, replacement: type) -> Callable[..., Awaitable[object]]:
    """The same method, in which a global name means another class.

    Raises:
        ImportError: the method does not use that name.
    """
    if not isinstance(method, types.FunctionType) or name not in method.__code__.co_names:
        raise ImportError(f"{method!r} of this version of aiokafka does not use {name}: 0.14 is needed")
    names = {**method.__globals__, name: replacement}
    bound = types.FunctionType(method.__code__, names, method.__name__, method.__defaults__, method.__closure__)
    bound.__kwdefaults__ = method.__kwdefaults__
    bound.__doc__ = method.__doc__
    return bound


class TolerantFetcher(Fetcher):  # type: ignore[misc]  # aiokafka has no types
    """aiokafka's fetcher, on `TolerantRecords`."""

    _proc_fetch_request = _bound(Fetcher._proc_fetch_request, "MemoryRecords", TolerantRecords)  # noqa: SLF001 (above)


class TolerantConsumer(AIOKafkaConsumer):  # type: ignore[misc]  # aiokafka has no types
    """aiokafka's consumer, on `TolerantFetcher`; takes the same arguments."""

    start = _bound(AIOKafkaConsumer.start, "Fetcher", TolerantFetcher)
