"""What people would write instead, beside each profile, on the same articles in the same run.

usage: python -m tests.quality.peers ARTICLES PAIRS [--labels LABELS] [--json]

The peers see the shingles of the yardstick (character 5-grams, word 3-grams) or frequencies of words, keep what they
do not call a duplicate, and judge one article after another in file order; one process each. Their packages come with
`pip install --group peers` (pip 25.1 or later).
"""

import argparse
import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import click
import jieba
from datasketch import MinHash, MinHashLSH
from rensa import RMinHash, RMinHashLSH
from simhash import Simhash, SimhashIndex

from stream_dedup.app.connections import fields_of
from stream_dedup.app.console import console
from stream_dedup.app.evaluate import Evaluation, Measured, measure, table
from stream_dedup.app.load_settings import load_settings
from stream_dedup.app.pair_files import read_labels, read_pairs
from stream_dedup.app.rows import read_rows
from stream_dedup.app.settings import Settings
from stream_dedup.core.article import Article, parse_article
from stream_dedup.core.scoring import Truth, score
from stream_dedup.core.verdict import Verdict
from stream_dedup.core.yardstick import gram_jaccard, grams

PROFILES = ("strict", "balanced", "thorough", "minhash")
PERMUTATIONS = 128
SEED = 42
RENSA_BANDS = 32
LARGEST_WEIGHT = 255
"""The simhash package keeps weights in eight bits: a word that stands more often raises OverflowError (2.1.2)."""


@dataclass(frozen=True, slots=True)
class Text:
    """One article."""

    id: str
    text: str
    chinese: bool

    @property
    def shingles(self) -> list[bytes]:
        """What the yardstick compares."""
        return [gram.encode() for gram in grams(self.text, chinese=self.chinese)]


@dataclass(frozen=True, slots=True)
class Called:
    """What a peer said of one article."""

    id: str
    original_id: str | None

    @property
    def verdict(self) -> Verdict:
        """Unique, where it names no original."""
        return Verdict.UNIQUE if self.original_id is None else Verdict.DUPLICATE


Judge: TypeAlias = Callable[[Text], str | None]
"""The original's id, or None after the article was kept."""


def datasketch(threshold: float) -> Judge:
    """MinHashLSH as its documentation has it: whoever shares a band is a duplicate."""
    index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)

    def judge(article: Text) -> str | None:
        signature = MinHash(num_perm=PERMUTATIONS)
        signature.update_batch(article.shingles)
        if found := index.query(signature):
            return str(found[0])
        index.insert(article.id, signature)
        return None

    return judge


def rensa(threshold: float) -> Judge:
    """R-MinHash with bands, candidates verified by the estimated similarity."""
    index = RMinHashLSH(threshold=threshold, num_perm=PERMUTATIONS, num_bands=RENSA_BANDS)
    kept: list[tuple[str, RMinHash]] = []

    def judge(article: Text) -> str | None:
        signature = RMinHash(num_perm=PERMUTATIONS, seed=SEED)
        signature.update([gram.decode() for gram in article.shingles])
        for candidate in index.query(signature):
            name, theirs = kept[candidate]
            if theirs.jaccard(signature) >= threshold:
                return str(name)
        index.insert(len(kept), signature)
        kept.append((article.id, signature))
        return None

    return judge


def simhash_package(radius: int) -> Judge:
    """SimhashIndex over the frequencies of jieba's full mode, or of the words between spaces."""
    index = SimhashIndex([], k=radius)

    def judge(article: Text) -> str | None:
        words = jieba.cut(article.text, cut_all=True) if article.chinese else re.findall(r"\w+", article.text.lower())
        counts = Counter(filter(str.strip, words)) or {"": 1}
        fingerprint = Simhash({word: min(count, LARGEST_WEIGHT) for word, count in counts.items()})
        if found := index.get_near_dups(fingerprint):
            return str(found[0])
        index.add(article.id, fingerprint)
        return None

    return judge


PEERS: Mapping[str, Callable[[], Judge]] = {
    "datasketch MinHashLSH at .5": lambda: datasketch(0.5),
    "datasketch MinHashLSH at .7": lambda: datasketch(0.7),
    "rensa R-MinHash, verified at .5": lambda: rensa(0.5),
    "simhash package, radius 3": lambda: simhash_package(3),
}


def read_texts(settings: Settings, path: str) -> list[Text]:
    """All articles that can be read, in file order."""
    longest = settings.max_article_bytes
    texts = []
    for row in read_rows([path], None, longest):
        article = parse_article(row.value, fields_of(settings), longest) if isinstance(row.value, bytes) else row.value
        if isinstance(article, Article):
            chinese = (article.language or "").startswith("zh")
            texts.append(Text(article.id or row.position, article.text, chinese))
    return texts


def measure_peer(name: str, texts: Sequence[Text], truth: Truth) -> Measured:
    """One peer's figures."""
    judge = PEERS[name]()
    begun = time.perf_counter()
    called = [Called(text.id, judge(text)) for text in texts]
    return Measured(name, score(called, truth), time.perf_counter() - begun)


def main() -> None:
    """Measure all and print them side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles")
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    jieba.setLogLevel(logging.WARNING)
    logging.getLogger("simhash").setLevel(logging.ERROR)  # a warning for each full bucket
    jieba.initialize()
    settings = load_settings({})
    measured = measure(settings, Evaluation(asked.articles, None, asked.pairs, asked.labels, PROFILES, processes=1))
    texts = read_texts(settings, asked.articles)
    by_id = {text.id: text for text in texts}
    labels = read_labels(asked.labels) if asked.labels else {}
    truth = Truth(
        read_pairs(asked.pairs),
        labels,
        lambda left, right: gram_jaccard(by_id[left].text, by_id[right].text, chinese=by_id[left].chinese),
    )
    for name in PEERS:
        click.echo(f"{name} ...", err=True)
        measured.append(measure_peer(name, texts, truth))
    if asked.json:
        click.echo(json.dumps([one.to_record() for one in measured], indent=2))
    else:
        console().print(table(measured))


if __name__ == "__main__":
    main()
