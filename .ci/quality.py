"""Real news through real Kafka: every article once, as `dedup` judges it, and what is found and missed.

usage: quality.py SHARED SET:SCENARIO[:MISSED_90:MISSED_70_90:FALSE] ...

SHARED is the folder with data/ and tools/judge_verdicts.py. A scenario is one (worker), two, or killed (half-way, by
SIGKILL, then another). Exits 1 when an article is lost, repeated or changed, when a verdict differs from those of
`stream-dedup dedup` on the articles in order of sequence, or when more is missed or false than the numbers allow.
"""

import asyncio
import gzip
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from stream_dedup.kafka.local_broker import local_broker
from stream_dedup.kafka.transport import Record
from tests.flow.articles import Article
from tests.flow.deployment import PARTITIONS, Deployment, deployment
from tests.flow.outputs import header, read_outputs

COMMAND = str(Path(sys.executable).with_name("stream-dedup"))
COMPARED = ("verdict", "kind", "original_id", "distance", "similarity")


async def run(ready: Deployment, scenario: str, articles: int) -> None:
    """Let workers decide all articles, with what the scenario does to them."""
    match scenario:
        case "one":
            async with ready.worker():
                await ready.decided(articles)
        case "two":
            async with ready.worker("first"), ready.worker("second"):
                await ready.decided(articles)
        case "killed":
            async with ready.worker("killed") as killed:
                await ready.decided(articles // 2)
                killed.signal(signal.SIGKILL)
                await killed.ended()
            before = len(await read_outputs(ready.broker, ready.topics))
            print(f"  killed after {before} of {articles}")
            async with ready.worker("next"):
                await ready.decided(articles)


async def stream(bootstrap: str, name: str, scenario: str, lines: Sequence[bytes]) -> tuple[list[str], list[Record]]:
    """Publish the lines, let workers decide them; what is wrong with the outputs, and the outputs."""
    now = time.time_ns() // 1_000_000
    articles = [
        Article(number % PARTITIONS, now, json.loads(line)["id"].encode(), line, (("set", name.encode()),))
        for number, line in enumerate(lines)
    ]
    with tempfile.TemporaryDirectory() as logs:
        async with deployment(bootstrap, Path(logs)) as ready:
            await ready.publish(articles)
            await run(ready, scenario, len(articles))
            return await ready.differences(), await read_outputs(ready.broker, ready.topics)


def compare(shared: Path, name: str, outputs: Sequence[Record], limits: Sequence[int]) -> list[str]:
    """What is wrong with the verdicts: other than offline ones, or more missed and false than the limits allow."""
    verdicts = [_verdict(record.headers, record.value) for record in outputs]
    with tempfile.TemporaryDirectory() as folder:
        streamed, in_order = Path(folder) / "streamed.jsonl", Path(folder) / "in-order.jsonl"
        streamed.write_text("\n".join(map(json.dumps, verdicts)))
        in_order.write_bytes(b"\n".join(record.value or b"" for record in outputs))
        offline = subprocess.run([COMMAND, "dedup", str(in_order)], check=True, capture_output=True).stdout
        judge = [sys.executable, str(shared / "tools" / "judge_verdicts.py"), name, str(streamed)]
        score = json.loads(subprocess.run(judge, check=True, capture_output=True).stdout)
    wrong = [
        f"{ours['id']}: {ours} but offline {theirs}"
        for ours, theirs in zip(verdicts, map(json.loads, offline.splitlines()), strict=True)
        if any(ours[key] != theirs[key] for key in COMPARED)
    ]
    found = [score["missed_90"], score["missed_70_90"], score["false"]]
    if any(have > most for have, most in zip(found, limits, strict=False)):
        wrong.append(f"missed of .9 / missed of .7-.9 / false: {found}, at most {limits}")
    unfingerprintable = sum(verdict["kind"] == "unfingerprintable" for verdict in verdicts)
    if unfingerprintable > len(verdicts) / 1000:
        wrong.append(f"{unfingerprintable} of {len(verdicts)} unfingerprintable, at most one in 1,000")
    print(f"missed of .9 / missed of .7-.9 / false: {found}, unfingerprintable {unfingerprintable}")
    return wrong


def _verdict(headers: tuple[tuple[str, bytes | None], ...], value: bytes | None) -> dict[str, str | int | float | None]:
    """One line as `dedup` prints it."""

    def number(name: str) -> int | float | None:
        text = header(headers, name)
        return json.loads(text) if text else None

    return {
        "id": json.loads(value or b"")["id"],
        "verdict": header(headers, "dedup-verdict"),
        "kind": header(headers, "dedup-kind"),
        "original_id": header(headers, "dedup-original-id") or None,
        "distance": number("dedup-distance"),
        "similarity": number("dedup-similarity"),
        "sequence": number("dedup-sequence"),
    }


async def main() -> None:
    """All sets and scenarios, on one broker."""
    shared, failures = Path(sys.argv[1]), 0
    async with local_broker() as broker:
        for argument in sys.argv[2:]:
            name, scenario, *limits = argument.split(":")
            lines = gzip.decompress((shared / "data" / f"{name}.jsonl.gz").read_bytes()).splitlines()
            print(f"{name}, {scenario}: {len(lines)} articles")
            wrong, outputs = await stream(broker.bootstrap_servers, name, scenario, lines)
            if not wrong:
                wrong = await asyncio.to_thread(compare, shared, name, outputs, list(map(int, limits)))
            for problem in wrong[:5]:
                print(f"  WRONG {problem[:300]}")
            failures += bool(wrong)
    print(f"{len(sys.argv) - 2 - failures} passed, {failures} failed")
    sys.exit(bool(failures))


asyncio.run(main())
