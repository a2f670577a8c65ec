"""`stream-dedup reset` on a real Kafka."""

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from stream_dedup.app.reset import CHANGELOG, parse_place
from stream_dedup.kafka.reset import Edge, Moment
from tests.faults.driver import stopped
from tests.faults.members import have_joined
from tests.flow.articles import flow
from tests.flow.deployment import PARTITIONS, Deployment, deployment
from tests.flow.outputs import read_outputs
from tests.flow.workers import RUN

ARTICLES = 60
RESET = (RUN[0], "reset")


@pytest_asyncio.fixture(loop_scope="session")
async def decided(broker: str, tmp_path: Path) -> AsyncIterator[Deployment]:
    """A deployment whose articles are decided, and whose worker has ended; a second one meanwhile learned nothing."""
    start = time.time_ns() // 1_000_000 - 3_600_000
    async with deployment(broker, tmp_path) as ready:
        await ready.publish(flow(ARTICLES, seed=1, partitions=PARTITIONS, start=start))
        async with ready.worker("first") as worker:
            await have_joined(ready, 1)
            code, said = await _reset(ready, "refused", "--from", "changelog", "--yes")
            assert code == 12, said
            assert "stop all workers first" in said
            await ready.decided(ARTICLES)
            assert await stopped([worker]) == [0]
        yield ready


async def _reset(ready: Deployment, name: str, *arguments: str) -> tuple[int, str]:
    async with ready.worker(name, (*RESET, *arguments)) as command:
        return await command.ended(), command.log.read_text()


@pytest.mark.asyncio(loop_scope="session")
async def test_a_reset_reads_again_what_it_says(decided: Deployment) -> None:
    """Nothing where nobody is asked, nothing from the changelog, all from the start, with sequences that go on."""
    code, said = await _reset(decided, "unasked", "--from", "earliest")
    assert code == 2, said
    assert "nobody to ask" in said
    code, said = await _reset(decided, "still", "--from", "changelog", "--yes", "--json")
    assert code == 0, said
    plan = json.loads(said.splitlines()[0])
    assert (plan["index"], plan["next_sequence"]) == ("kept", ARTICLES)
    assert {(step["again"], step["left_out"]) for step in plan["raw"]} == {(0, 0)}
    code, said = await _reset(decided, "all", "--from", "earliest", "--yes", "--json")
    assert code == 0, said
    plan = json.loads(said.splitlines()[0])
    assert (plan["index"], sum(step["next"] for step in plan["raw"])) == ("emptied", 0)
    async with decided.worker("second") as worker:
        await decided.decided(2 * ARTICLES)
        assert await stopped([worker]) == [0]
    outputs = await read_outputs(decided.broker, decided.topics)
    sequences = sorted(int(dict(record.headers)["dedup-sequence"] or b"") for record in outputs)
    assert sequences == list(range(2 * ARTICLES))


@pytest.mark.parametrize(
    ("written", "place"),
    [
        pytest.param("changelog", CHANGELOG, id="the changelog"),
        pytest.param("latest", Edge.LATEST, id="an end"),
        pytest.param("2026-01-31T06:00", Moment(1_769_839_200_000), id="a time, in UTC"),
        pytest.param("2026-01-31T06:00+08:00", Moment(1_769_810_400_000), id="a time with its zone"),
        pytest.param("yesterday", None, id="nothing known"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_places(written: str, place: object) -> None:
    """A name, or a time."""
    assert parse_place(written) == place
