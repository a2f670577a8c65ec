"""The whole path on real Kafka, as a share of bare `rjieba.cut` on the same texts in the same run.

usage: python -m tests.benchmarks.whole_path [--articles N] [--workers N] [FILE.jsonl[.gz]]

Articles come from FILE, or are made of a Chinese syllable stock, 1,000 characters each. The rate is taken from the
statistics records: articles between the first and the last decided batch, by the wall clock of their decisions, so that
start-up is not part of it. Nothing here fails by time.
"""

import argparse
import asyncio
import contextlib
import gzip
import json
import random
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import rjieba

from stream_dedup.kafka.local_broker import local_broker
from stream_dedup.kafka.statistics_record import StatisticsRecord, decode_statistics
from tests.flow.articles import SYLLABLES, Article
from tests.flow.deployment import PARTITIONS, Deployment, deployment
from tests.flow.outputs import read_topic

TEXT_LENGTH = 1_000


def _made(count: int) -> list[str]:
    dice = random.Random(1)  # noqa: S311 - a benchmark's texts, nothing secret
    return ["".join(dice.choices(SYLLABLES + "，。", k=TEXT_LENGTH)) for _ in range(count)]


def _read(path: Path) -> list[str]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        return [json.loads(line)["text"] for line in lines]


def bare_cut(texts: list[str]) -> float:
    """Articles a second that one core segments, doing nothing else."""
    rjieba.cut(texts[0])
    begun = time.perf_counter()
    for text in texts:
        rjieba.cut(text)
    return len(texts) / (time.perf_counter() - begun)


async def whole_path(ready: Deployment, texts: list[str], workers: int) -> float:
    """Articles a second from the raw topic to committed verdicts, once under way."""
    now = time.time_ns() // 1_000_000
    values = [msgspec.json.encode({"id": f"{number}", "text": text}) for number, text in enumerate(texts)]
    await ready.publish([Article(number % PARTITIONS, now, None, value) for number, value in enumerate(values)])
    async with contextlib.AsyncExitStack() as stack:
        for number in range(workers):
            await stack.enter_async_context(ready.worker(f"worker-{number}"))
        await ready.decided(len(texts))
    records = [decode_statistics(r.value or b"") for r in await read_topic(ready.broker, ready.topics.statistics)]
    batches = [record for record in records if record is not None]
    return _rate(batches)


def _rate(batches: list[StatisticsRecord]) -> float:
    first, last = batches[0], batches[-1]
    return (last.last_sequence - first.last_sequence) / ((last.decided - first.decided) / 1000)


async def _main(arguments: argparse.Namespace) -> None:
    texts = _read(arguments.file) if arguments.file else _made(arguments.articles)
    before = bare_cut(texts)
    with tempfile.TemporaryDirectory() as folder:
        async with local_broker() as broker, deployment(broker.bootstrap_servers, Path(folder)) as ready:
            rate = await whole_path(ready, texts, arguments.workers)
    cut = (before + bare_cut(texts)) / 2
    result = {
        "articles": len(texts),
        "workers": arguments.workers,
        "articles_a_second": round(rate),
        "bare_cut_a_second": round(cut),
        "share": round(rate / cut, 3),
    }
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", help="articles, one JSON object a line")
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=1)
    asyncio.run(_main(parser.parse_args()))
