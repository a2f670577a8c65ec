"""Connections that are cut, fall silent or bring things late: nothing is lost, repeated or held up by it."""

import asyncio
import contextlib
import re
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from aiokafka.admin import NewTopic

from stream_dedup.errors import TransactionFailedError
from stream_dedup.kafka.client import KafkaBroker, connect
from stream_dedup.kafka.connection import Connection
from stream_dedup.kafka.topics import wait_until_known
from stream_dedup.kafka.transport import Input, Message, Transactions
from tests.faults.lost_answers import GROUP_APIS, HOUR_MS, PORTION, QUICK, endure
from tests.faults.network import Network, network
from tests.faults.proxy import Api, Fate
from tests.flow.articles import Article, flow
from tests.flow.deployment import PARTITIONS, Deployment, deployment
from tests.flow.outputs import read_topic
from tests.flow.workers import DEADLINE, Worker

pytestmark = pytest.mark.asyncio(loop_scope="session")

FENCINGS = PARTITIONS + 1
"""At most, while one worker takes over from another: one for each loop."""
POLL = 0.1
"""Seconds between two looks."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def between() -> AsyncIterator[Network]:
    """A broker behind a proxy."""
    async with network() as made:
        yield made


@pytest.mark.parametrize("fate", QUICK, ids=lambda fate: fate.name)
async def test_every_kind_of_request_may_lose_its_answer(between: Network, tmp_path: Path, fate: Fate) -> None:
    """Whatever is lost, once or several times: the worker works on, and every output is the oracle's."""
    assert await endure(between, tmp_path, dict.fromkeys(QUICK[fate], fate), seed=30) == []


@pytest.mark.parametrize(
    "late",
    [Api.ADD_PARTITIONS_TO_TXN, Api.PRODUCE, Api.ADD_OFFSETS_TO_TXN, Api.TXN_OFFSET_COMMIT, Api.END_TXN],
    ids=lambda api: api.name,
)
async def test_a_late_request_of_an_earlier_transaction_changes_nothing(between: Network, late: Api) -> None:
    """Sent for one transaction, tried again with success, it arrives in the next one's middle: that stays whole."""
    name = uuid.uuid4().hex[:8]
    of = Input(f"{name}-group", f"{name}-in", 0)
    proxied = Connection(between.proxied, call_timeout=10)
    async with connect(Connection(between.direct)) as reader, connect(proxied) as writer:
        await reader.admin.create_topics([NewTopic(of.topic, 1, 1), NewTopic(f"{name}-out", 1, 1)])
        await asyncio.gather(*(wait_until_known(reader, topic) for topic in (of.topic, f"{name}-out")))
        transactions = writer.transactions(of)
        await transactions.start()
        delayed = between.proxy.rule([late], Fate.LATE_REQUEST)
        await transactions.commit([Message(f"{name}-out", 0, 0, None, b"first")], 1)
        held = between.proxy.rule([Api.TXN_OFFSET_COMMIT], Fate.LATE_ANSWER)
        second = asyncio.create_task(_commit(transactions, Message(f"{name}-out", 0, 0, None, b"second"), 2))
        async with asyncio.timeout(DEADLINE):
            await held.happened.wait()
            delayed.released.set()
            await delayed.handled.wait()
        assert await _committed(reader, of, f"{name}-out") == ([b"first"], 1)
        held.released.set()
        await second
        assert await _committed(reader, of, f"{name}-out") == ([b"first", b"second"], 2)
        await transactions.close()


async def test_a_member_cut_off_from_its_group_alone(between: Network, tmp_path: Path) -> None:
    """Its partitions go to another, who fences it once; the two do not take the ids from each other again and again."""
    limits = {"call_timeout": "5s", "session_timeout": "6s"}
    async with deployment(between.direct, tmp_path, batch_records="20") as ready:
        async with contextlib.AsyncExitStack() as running:
            cut_off = ready.worker("cut off", bootstrap_servers=between.proxied, **limits)
            one = await running.enter_async_context(cut_off)
            await _assigned(ready, one, raw=PARTITIONS)
            other = await running.enter_async_context(ready.worker("other", **limits))
            await _assigned(ready, other, raw=PARTITIONS // 2)
            await ready.publish(_portion(1))
            await ready.decided(PORTION)
            cut = between.proxy.rule(GROUP_APIS, Fate.HELD, times=None)
            await ready.publish(_portion(2))
            await ready.decided(PORTION * 2)
            await _assigned(ready, other, raw=PARTITIONS)
            await ready.publish(_portion(3))
            await ready.decided(PORTION * 3)
            between.proxy.lift()
            await ready.publish(_portion(4))
            await ready.decided(PORTION * 4)
            assert one.process.returncode is None
            assert other.process.returncode is None
        assert cut.befallen
        fenced = sum(worker.log.read_text().count("another owner has taken") for worker in (one, other))
        assert fenced <= FENCINGS, fenced
        assert await ready.differences() == []


@pytest.mark.parametrize("silent", [Api.LIST_OFFSETS, Api.DELETE_RECORDS, Api.METADATA], ids=lambda api: api.name)
async def test_a_connection_that_has_fallen_silent_is_given_up(between: Network, silent: Api) -> None:
    """A call whose caller waits no longer leaves nothing behind that the next call would wait on."""
    topic = uuid.uuid4().hex[:8]
    async with connect(Connection(between.proxied)) as broker:
        await broker.admin.create_topics([NewTopic(topic, 1, 1)])
        await wait_until_known(broker, topic)

        async def call() -> None:
            await broker.delete_before(topic, 0, 0)
            await broker.bounds(topic, 0)

        await call()
        rule = between.proxy.rule([silent], Fate.SILENT)
        calling = asyncio.create_task(call())
        await rule.happened.wait()
        calling.cancel()
        await asyncio.wait({calling})
        async with asyncio.timeout(broker.connection.call_timeout / 2 - 1):
            await call()


async def _assigned(ready: Deployment, worker: Worker, *, raw: int) -> None:
    """Wait until a worker has been given so many raw partitions, and the one of the decide stage with all of them."""
    some = rf'"topic": "{ready.topics.raw}", "partitions": \[\d(, \d){{{raw - 1}}}\]'
    one = rf'"topic": "{ready.topics.fingerprinted}", "partitions": \[0\]' if raw == PARTITIONS else ""
    async with asyncio.timeout(DEADLINE):
        while not all(re.search(wanted, worker.log.read_text()) for wanted in (some, one)):  # noqa: ASYNC110 - a file
            await asyncio.sleep(POLL)


def _portion(seed: int) -> Sequence[Article]:
    """Articles of the last hour."""
    return flow(PORTION, seed=seed, partitions=PARTITIONS, start=time.time_ns() // 1_000_000 - HOUR_MS)


async def _commit(transactions: Transactions, message: Message, next_offset: int) -> None:
    """As the loop does: after a failure from the start."""
    while True:
        try:
            await transactions.commit([message], next_offset)
        except TransactionFailedError:
            await transactions.close()
            await transactions.start()
        else:
            return


async def _committed(broker: KafkaBroker, of: Input, out: str) -> tuple[list[bytes | None], int | None]:
    """Values that are committed, and the group's offset."""
    values = [record.value for record in await read_topic(broker, out)]
    return values, (await broker.committed(of.group, of.topic)).get(0)
