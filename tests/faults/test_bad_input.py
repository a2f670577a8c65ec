"""Bad input on real Kafka: each record ends where it must, and the rest goes on."""

import json
import time
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer

from stream_dedup.kafka.transport import Headers
from tests.flow.articles import Article
from tests.flow.deployment import deployment
from tests.flow.outputs import header, read_outputs
from tests.kafka.test_tolerant import BAD, PLACEHOLDER, spoilt

pytestmark = pytest.mark.asyncio(loop_scope="session")

RAW_BYTES = 3_000_000
"""The raw topic takes larger records than the filter's limit for an article."""
TEXT = (
    "The river rose above its banks on {} after two days of heavy rain, and the lower town was flooded before the "
    "evening was over. Volunteers carried {} sandbags to the old bridge while the brigade pumped water out of cellars."
)
YEAR_2099, YEAR_1970 = 4_070_908_800_000, 1_000


def _json(text: str, **fields: str | int) -> bytes:
    return json.dumps({"text": text, **fields}).encode()


def _text(name: str) -> str:
    """A text that is like no other of this test."""
    return " ".join(f"{name}{number}" for number in range(60))


INPUTS: dict[str, tuple[bytes | None, Headers, str]] = {
    "broken JSON": (b'{"text": "half', (), "unreadable"),
    "not an object": (b'["text"]', (), "unreadable"),
    "no text": (b'{"id": "x"}', (), "unreadable"),
    "text is a list": (b'{"text": ["a"]}', (), "unreadable"),
    "blank text, a title": (_json(" \n", title=_text("title")), (), "new"),
    "blank text": (_json(" \n"), (), "unfingerprintable"),
    "null": (None, (), "tombstone"),
    "empty value": (b"", (), "unreadable"),
    "900 KB": (_json("".join(f"{n} " for n in range(130_000))), (), "new"),
    "over the limit": (_json("x" * 2_000_000), (), "unreadable"),
    "invalid UTF-8": (b'{"text": "\xff\xfe"}', (), "unreadable"),
    "lone surrogate": (b'{"text": "\\ud83d ' + _text("cut").encode() + b'"}', (), "new"),
    "byte order mark": (b"\xef\xbb\xbf" + _json(_text("mark")), (), "new"),
    "NaN": (b'{"text": "' + _text("nan").encode() + b'", "score": NaN}', (), "unreadable"),
    "nested deep": (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, (), "unreadable"),
    "id is a number": (_json(_text("number"), id=17), (), "new"),
    "id of 500 KB": (_json(_text("long"), id="i" * 500_000), (), "new"),
    "header key not UTF-8": (_json(_text("header")), ((PLACEHOLDER, b"x"),), "unreadable"),
    "forged evidence": (_json(_text("forged")), (("dedup-kind", b"exact"), ("dedup-handover", b"\x01")), "new"),
}


def _inputs(now: int) -> list[Article]:
    """A good article, then all bad input."""
    first = Article(0, now, b"first", _json(TEXT.format("Thursday", 400), id="first"))
    return [first, *(Article(0, now, name.encode(), value, headers) for name, (value, headers, _) in INPUTS.items())]


def _out_of_time(now: int) -> list[Article]:
    """Articles from the far future and past, then a repetition of the first good one."""
    future = [Article(0, YEAR_2099, b"2099-%d" % n, _json(_text(f"future{n}"))) for n in range(6)]
    past = Article(0, YEAR_1970, b"1970", _json(_text("past")))
    return [*future, past, Article(0, now, b"last", _json(TEXT.format("Thursday", 400), id="last"))]


async def _publish(bootstrap_servers: str, topic: str, articles: list[Article]) -> None:
    """One batch for each article, with the header key spoilt where its placeholder stands."""
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers) as producer:
        for article in articles:
            batch = producer.create_batch()
            batch.append(
                timestamp=article.timestamp, key=article.key, value=article.value, headers=list(article.headers)
            )
            if any(name == PLACEHOLDER for name, _ in article.headers):
                build = batch._build  # noqa: SLF001 (the client has no way to write what must be read here)
                batch._build = lambda build=build: spoilt(build())  # noqa: SLF001
            await (await producer.send_batch(batch, topic, partition=article.partition))


async def test_bad_input_ends_where_it_must(broker: str, tmp_path: Path) -> None:
    """Each bad record has its kind, bytes and reason; the articles around it are judged; the window is not emptied."""
    now = time.time_ns() // 1_000_000
    inputs, out_of_time = _inputs(now), _out_of_time(now)
    async with deployment(broker, tmp_path, raw_bytes=RAW_BYTES) as ready:
        await _publish(broker, ready.topics.raw, inputs)
        async with ready.worker():
            await ready.decided(len(inputs))
        # Compared now: times in the future are brought back to the worker's wall clock, which the oracle cannot know.
        assert await ready.differences() == []
        await _publish(broker, ready.topics.raw, out_of_time)
        async with ready.worker("second"):
            await ready.decided(len(inputs) + len(out_of_time))
        outputs = {record.key: record for record in await read_outputs(ready.broker, ready.topics)}
    for article in (*inputs, *out_of_time):
        assert article.key is not None
        assert outputs[article.key].value == article.value, article.key
        assert outputs[article.key].timestamp == article.timestamp, article.key
    kinds = {name: header(outputs[name.encode()].headers, "dedup-kind") for name in INPUTS}
    assert kinds == {name: kind for name, (_, _, kind) in INPUTS.items()}
    reasons = {name: header(outputs[name.encode()].headers, "dedup-reason") for name in INPUTS}
    assert [name for name, reason in reasons.items() if reason] == [n for n, k in kinds.items() if k == "unreadable"]
    assert outputs[b"header key not UTF-8"].headers[0] == (BAD.decode("utf-8", "backslashreplace"), b"x")
    assert header(outputs[b"1970"].headers, "dedup-kind") == "late"
    assert header(outputs[b"last"].headers, "dedup-original-id") == "first", "the articles from 2099 emptied the window"
