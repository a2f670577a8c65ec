"""`publish` and `watch` on a real Kafka."""

import asyncio
import json
import os
import sys
import uuid
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

LINES = [
    b'{"id": "a", "text": "one", "date": "2024-01-02T03:04:05Z"}',
    b'  {"id": 17, "text":"\xe4\xba\x8c"}\r',
    b"{broken \xff\x00",
    b'{"text": "no id"}',
]
"""Lines to publish, among blank ones."""
KEYS = [b"a", b"17", None, None]


async def run(*arguments: str) -> tuple[int, str, str]:
    """Run a command; its exit code, output and errors."""
    process = await start(*arguments, stdout=asyncio.subprocess.PIPE)
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def start(*arguments: str, stdout: int) -> asyncio.subprocess.Process:
    """Start a command."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", "from stream_dedup.app.cli import main; main()"),
        *arguments,
        stdout=stdout,
        stderr=asyncio.subprocess.PIPE,
    )


async def make_topics(broker: str, topics: dict[str, int], **settings: str) -> None:
    """Make topics with so many partitions and these settings, their dots written as underscores."""
    configs = {name.replace("_", "."): value for name, value in settings.items()}
    admin = AIOKafkaAdminClient(bootstrap_servers=broker)
    await admin.start()
    try:
        await admin.create_topics(
            [NewTopic(name, partitions, 1, topic_configs=configs) for name, partitions in topics.items()]
        )
    finally:
        await admin.close()


async def test_every_line_is_published_as_it_is(broker: str, tmp_path: Path) -> None:
    """Bytes unchanged, bad lines too; the key is the id, the timestamp what --time-field names."""
    topic = f"raw.{uuid.uuid4().hex}"
    await make_topics(broker, {topic: 1}, retention_ms="-1")
    file = tmp_path / "articles.jsonl"
    file.write_bytes(b"\n" + b"\n".join(LINES) + b"\n\n")
    options = ("--bootstrap-servers", broker, "--raw-topic", topic, "--time-field", "date")
    code, _, err = await run("publish", *options, str(file))
    assert (code, "4 published" in err, "2 without an id" in err) == (0, True, True), err
    consumer = AIOKafkaConsumer(bootstrap_servers=broker, auto_offset_reset="earliest", enable_auto_commit=False)
    await consumer.start()
    try:
        consumer.assign([TopicPartition(topic, 0)])
        records = [await consumer.getone() for _ in LINES]
    finally:
        await consumer.stop()
    assert [record.value for record in records] == LINES
    assert [record.key for record in records] == KEYS
    assert records[0].timestamp == 1704164645000
    assert records[3].timestamp > records[0].timestamp


async def test_articles_that_kafka_would_delete_unread_are_not_published(broker: str, tmp_path: Path) -> None:
    """Retention goes by the records' timestamps: an archive with its own times is refused with what to do."""
    topic = f"raw.{uuid.uuid4().hex}"
    await make_topics(broker, {topic: 1}, retention_ms="86400000")
    file = tmp_path / "articles.jsonl"
    file.write_bytes(LINES[0])
    options = ("--bootstrap-servers", broker, "--raw-topic", topic)
    code, _, err = await run("publish", *options, "--time-field", "date", str(file))
    assert (code, "line 1 is" in err, "retention.ms=-1" in err) == (6, True, True), err
    code, _, err = await run("publish", *options, str(file))
    assert (code, "1 published" in err) == (0, True), err


async def test_verdicts_come_in_their_order_and_only_committed_ones(broker: str) -> None:
    """However sequences are spread over topics and partitions, they are printed in order, and aborted ones never."""
    name = uuid.uuid4().hex
    topics = {f"unique.{name}": 2, f"duplicates.{name}": 1, f"rejected.{name}": 1}
    await make_topics(broker, topics)
    unique, duplicates, rejected = topics
    committed = [(unique, 0), (unique, 1), (duplicates, 0), (unique, 1), (rejected, 0), (duplicates, 0), (unique, 0)]
    await write(broker, name, committed, first=0, commit=True)
    await write(broker, name, [(unique, 1), (rejected, 0)], first=7, commit=False)
    options = ("--unique-topic", unique, "--duplicates-topic", duplicates, "--rejected-topic", rejected)
    arguments = ("watch", "--json", "--from-start", "--idle-exit", "3", "--bootstrap-servers", broker, *options)
    code, out, err = await run(*arguments)
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert [line["sequence"] for line in lines] == list(range(len(committed)))
    assert lines[2] == {
        "id": "id-2",
        "verdict": "duplicate",
        "kind": "near",
        "original_id": "id-0",
        "distance": 3,
        "similarity": 0.875,
        "veto": None,
        "veto_original_id": None,
        "sequence": 2,
        "position": "raw-0-2",
        "reason": None,
    }


async def test_watching_ends_quietly_when_nobody_reads_it(broker: str) -> None:
    """`watch | head` ends as other programs do, and closes what it opened."""
    name = uuid.uuid4().hex
    topics = {f"unique.{name}": 1, f"duplicates.{name}": 1, f"rejected.{name}": 1}
    await make_topics(broker, topics)
    unique, duplicates, rejected = topics
    await write(broker, name, [(unique, 0)], first=0, commit=True)
    options = ("--unique-topic", unique, "--duplicates-topic", duplicates, "--rejected-topic", rejected)
    reading, writing = os.pipe()
    os.close(reading)
    process = await start("watch", "--from-start", "--bootstrap-servers", broker, *options, stdout=writing)
    os.close(writing)
    _, err = await process.communicate()
    assert (process.returncode, err) == (1, b"")


async def write(broker: str, name: str, where: list[tuple[str, int]], *, first: int, commit: bool) -> None:
    """Write verdicts to these partitions in one transaction, from the sequence `first` on."""
    producer = AIOKafkaProducer(bootstrap_servers=broker, transactional_id=name)
    await producer.start()
    try:
        await producer.begin_transaction()
        for sequence, (topic, partition) in enumerate(where, first):
            headers = [("dedup-sequence", b"%d" % sequence), ("dedup-position", b"raw-0-%d" % sequence)]
            if topic.startswith("duplicates"):
                headers += [("dedup-verdict", b"duplicate"), ("dedup-kind", b"near"), ("dedup-distance", b"3")]
                headers += [("dedup-original-id", b"id-0"), ("dedup-similarity", b"0.875")]
            else:
                headers += [("dedup-verdict", b"unique"), ("dedup-kind", b"new")]
            value = json.dumps({"id": f"id-{sequence}", "text": "text"}).encode()
            await producer.send_and_wait(topic, value=value, partition=partition, headers=headers)
        await (producer.commit_transaction() if commit else producer.abort_transaction())
    finally:
        await producer.stop()


@pytest.mark.parametrize(("command", "option"), [(("publish", "-"), "--raw-topic"), (("watch",), "--unique-topic")])
async def test_a_missing_topic_is_told_in_one_line(broker: str, command: tuple[str, ...], option: str) -> None:
    """It is never made in passing: the line says how to make it, and the exit code is its own."""
    missing = f"missing.{uuid.uuid4().hex}"
    for _ in range(2):
        code, out, err = await run(*command, option, missing, "--bootstrap-servers", broker)
        (line,) = err.splitlines()
        assert (code, out) == (5, "")
        assert missing in line
        assert "stream-dedup topics create" in line


async def test_a_broker_that_cannot_start_is_told_in_one_line(tmp_path: Path) -> None:
    """The line names the folder; nothing of a download that never began stands before it."""
    (tmp_path / "file").touch()
    code, out, err = await run("broker", "--data-dir", str(tmp_path / "file"))
    (line,) = err.splitlines()
    assert (code, out) == (8, "")
    assert str(tmp_path / "file") in line


@pytest.mark.parametrize("command", [("publish", "-"), ("watch",), ("run",), ("topics", "create")])
async def test_an_unreachable_broker_is_told_in_one_line(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line names the address and what to do, and the exit code is its own."""
    monkeypatch.setenv("STREAM_DEDUP_CALL_TIMEOUT", "2s")
    code, out, err = await run(*command, "--bootstrap-servers", "127.0.0.1:9")
    (line,) = err.splitlines()
    assert (code, out) == (4, "")
    assert "127.0.0.1:9" in line
    assert "stream-dedup broker" in line
