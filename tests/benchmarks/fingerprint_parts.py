"""What each part of fingerprinting costs, in microseconds an article, beside bare segmenting of the same texts.

usage: python -m tests.benchmarks.fingerprint_parts [--profile NAME] [--json] FILE.jsonl[.gz]...

All parts and the segmenter take turns, and of each the best turn counts: other work on the machine makes some turns
slow, and all of them alike. Nothing here fails by time.
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import rjieba

from stream_dedup.core import minhash
from stream_dedup.core.article import Article, Fields, parse_article
from stream_dedup.core.folding import fold_all
from stream_dedup.core.prepared import digests_of, hash_runs, minima_of, prepare, sketch_facts
from stream_dedup.core.runs import runs_of
from stream_dedup.core.scheme import Scheme, profile
from stream_dedup.core.words import count_words

BATCH = 500
T = TypeVar("T")


class Clock:
    """The best time of each part, in seconds."""

    def __init__(self) -> None:
        self.best: dict[str, float] = {}
        self.turn: dict[str, float] = {}

    def measure(self, part: str, work: Callable[[], T]) -> T:
        """Do a part of this turn."""
        begun = time.perf_counter()
        result = work()
        self.turn[part] = self.turn.get(part, 0.0) + time.perf_counter() - begun
        return result

    def end_turn(self) -> None:
        """All parts were done once."""
        for part, seconds in self.turn.items():
            self.best[part] = min(seconds, self.best.get(part, seconds))
        self.turn.clear()


def measure_batch(clock: Clock, scheme: Scheme, values: Sequence[bytes]) -> None:
    """Each part on one batch, with what the parts before gave."""
    fields = Fields()
    read = clock.measure("parse", lambda: [parse_article(value, fields, 1 << 30) for value in values])
    texts = [article.text for article in read if isinstance(article, Article)]
    clock.measure("rjieba.cut", lambda: [rjieba.cut(one) for one in texts])
    clock.measure("rjieba.cut_all", lambda: [rjieba.cut_all(one) for one in texts])
    folded = clock.measure("fold", lambda: fold_all(texts))
    runs = clock.measure("runs", lambda: runs_of(folded))
    hashes = clock.measure("hash runs", lambda: hash_runs(runs, scheme.memory))
    counts = clock.measure("count words", lambda: count_words(runs, scheme.segmenter))
    clock.measure("digest", lambda: digests_of(folded))
    clock.measure("facts", lambda: sketch_facts(texts, folded, runs.mostly_unspaced, counts))
    clock.measure("minhash", lambda: minhash.signatures(minima_of(runs, hashes)))
    batch = prepare(texts, scheme.segmenter, scheme.memory)
    clock.measure("words", batch.words)
    clock.measure("words, weights, fingerprints", lambda: scheme.recipe.fingerprint(batch))
    clock.measure("total without parsing", lambda: scheme.fingerprint(texts))


def _read(path: Path, limit: int) -> list[bytes]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        return lines.readlines()[:limit]


def measure_file(path: Path, name: str, limit: int, turns: int) -> dict[str, float]:
    """Microseconds an article of each part, and the total as a ratio to bare segmenting."""
    values, scheme, clock = _read(path, limit), profile(name).scheme, Clock()
    for _ in range(turns + 1):
        for first in range(0, len(values), BATCH):
            measure_batch(clock, scheme, values[first : first + BATCH])
        clock.end_turn()
    found = {part: 1e6 * seconds / len(values) for part, seconds in clock.best.items()}
    total = found["total without parsing"]
    return found | {f"total / {part}": total / found[part] for part in ("rjieba.cut", "rjieba.cut_all")}


def _main(arguments: argparse.Namespace) -> None:
    found = {
        path.name: measure_file(path, arguments.profile, arguments.articles, arguments.turns) for path in arguments.file
    }
    if arguments.json:
        sys.stdout.write(json.dumps({"profile": arguments.profile, "files": found}) + "\n")
        return
    for name, parts in found.items():
        sys.stdout.write(f"{name}, {arguments.profile}\n")
        for part, value in parts.items():
            sys.stdout.write(f"  {part:30}{value:9.2f}{'' if ' / ' in part else ' us'}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="+", help="articles, one JSON object a line")
    parser.add_argument("--profile", default="strict")
    parser.add_argument("--articles", type=int, default=2_000, help="of each file at most")
    parser.add_argument("--turns", type=int, default=5, help="beside a first one that loads what is needed")
    parser.add_argument("--json", action="store_true")
    _main(parser.parse_args())
