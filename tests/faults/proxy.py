"""A TCP proxy between clients and one broker that knows Kafka's requests apart, and loses or delays what it is told to.

    request  = length (4 bytes), API key (2), API version (2), correlation id (4), ...
    response = length (4 bytes), correlation id (4), ...

TCP loses no single answer: what goes missing is the rest of a connection. So a fate befalls a connection, from a chosen
request or its answer on.
"""

import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from stream_dedup.kafka.broker_node import HOST

LENGTH = struct.Struct(">i")
REQUEST = struct.Struct(">hhi")
CORRELATION = struct.Struct(">i")


class Api(IntEnum):
    """API keys of the requests that a worker makes (https://kafka.apache.org/protocol#protocol_api_keys)."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    TXN_OFFSET_COMMIT = 28


class Fate(Enum):
    """What becomes of a connection."""

    CUT = "the broker has handled the request, and the connection ends instead of its answer"
    SILENT = "the broker has handled the request, and nothing comes any more"
    LATE_ANSWER = "its answer, and all after it, waits until it is released"
    LATE_REQUEST = "the connection ends, and the request reaches the broker when it is released"
    HELD = "the request and all after it wait until they are released, as where a network is split and heals"


@dataclass(slots=True)
class Rule:
    """One fate for some kinds of requests."""

    apis: frozenset[Api]
    fate: Fate
    left: int | None = 1
    """How many more connections it befalls; None: all."""
    befallen: int = 0
    """How many connections it has befallen."""
    released: asyncio.Event = field(default_factory=asyncio.Event)
    """What it holds back goes on."""
    happened: asyncio.Event = field(default_factory=asyncio.Event)
    """It has befallen one."""
    handled: asyncio.Event = field(default_factory=asyncio.Event)
    """The broker has answered a request that it has befallen."""

    def befalls(self, api: int) -> bool:
        """Whether it befalls the connection of this request; it counts as one."""
        if api not in self.apis or self.left == 0:
            return False
        self.left = None if self.left is None else self.left - 1
        self.befallen += 1
        self.happened.set()
        return True


class Proxy:
    """Forwards connections to one broker."""

    def __init__(self, target: int) -> None:
        """Forward to this port of this machine; nothing is listened to yet."""
        self.rules: list[Rule] = []
        self.answered: dict[int, int] = {}
        """How many answers came through, by API key."""
        self._target = target
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    def rule(self, apis: Iterable[Api], fate: Fate, *, times: int | None = 1) -> Rule:
        """From now on such a fate befalls the next connections that make such a request."""
        made = Rule(frozenset(apis), fate, times)
        self.rules.append(made)
        return made

    def lift(self) -> None:
        """No fate befalls anybody any more; what was held back goes on."""
        for rule in self.rules:
            rule.released.set()
        self.rules.clear()

    def cut_all(self) -> None:
        """Every connection ends."""
        for writer in self._writers:
            writer.transport.abort()

    @contextlib.asynccontextmanager
    async def listening(self, port: int) -> AsyncIterator[None]:
        """Forward what comes to this port."""
        server = await asyncio.start_server(self._accept, HOST, port)
        try:
            yield
        finally:
            server.close()
            self.lift()
            self.cut_all()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        ends = {writer}
        try:
            broker = await asyncio.open_connection(HOST, self._target)
            ends.add(broker[1])
            self._writers |= ends
            await _Connection(self, reader, writer, *broker).run()
        except OSError:
            pass  # the broker is not there: the client's connection ends as well
        finally:
            self._tasks.discard(task)
            self._writers -= ends
            for end in ends:
                end.transport.abort()

    def rule_for(self, api: int) -> Rule | None:
        """The fate of a connection that makes such a request, if any."""
        return next((rule for rule in self.rules if rule.befalls(api)), None)


class _Connection:
    """One client's connection, forwarded to a connection of our own."""

    def __init__(
        self,
        proxy: Proxy,
        client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        broker: asyncio.StreamReader,
        to_broker: asyncio.StreamWriter,
    ) -> None:
        self._proxy = proxy
        self._client, self._to_client = client, to_client
        self._broker, self._to_broker = broker, to_broker
        self._waiting: dict[int, tuple[int, Rule | None]] = {}
        """API key and fate of the requests without an answer, by correlation id."""

    async def run(self) -> None:
        """Forward until one of the two ends closes."""
        pumps = {asyncio.create_task(self._requests()), asyncio.create_task(self._answers())}
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            for result in await asyncio.gather(*pumps, return_exceptions=True):
                if not isinstance(result, OSError | EOFError | asyncio.CancelledError | None):
                    raise result

    async def _requests(self) -> None:
        while True:
            frame = await _frame(self._client)
            api, _version, correlation = REQUEST.unpack_from(frame, LENGTH.size)
            rule = self._proxy.rule_for(api)
            if rule is not None and rule.fate is Fate.HELD:
                await rule.released.wait()
            self._waiting[correlation] = api, rule
            if rule is not None and rule.fate is Fate.LATE_REQUEST:
                self._to_client.transport.abort()
                await rule.released.wait()
                self._to_broker.write(frame)
                await self._to_broker.drain()
                await rule.handled.wait()
                return
            self._to_broker.write(frame)
            await self._to_broker.drain()

    async def _answers(self) -> None:
        silent = False
        while True:
            frame = await _frame(self._broker)
            (correlation,) = CORRELATION.unpack_from(frame, LENGTH.size)
            api, rule = self._waiting.pop(correlation)
            if rule is not None:
                rule.handled.set()
            match rule.fate if rule is not None else None:
                case Fate.CUT | Fate.LATE_REQUEST:
                    return
                case Fate.SILENT:
                    silent = True
                case Fate.LATE_ANSWER:
                    assert rule is not None
                    await rule.released.wait()
            if not silent:
                self._to_client.write(frame)
                await self._to_client.drain()
                self._proxy.answered[api] = self._proxy.answered.get(api, 0) + 1


async def _frame(reader: asyncio.StreamReader) -> bytes:
    """The next request or answer, with its length."""
    length = await reader.readexactly(LENGTH.size)
    return length + await reader.readexactly(*LENGTH.unpack(length))
