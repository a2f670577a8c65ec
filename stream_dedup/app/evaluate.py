"""What `evaluate` does: each profile's verdicts on articles with known pairs, scored side by side."""

import json
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table

from stream_dedup.app.archive import check_profile, decided, with_profile
from stream_dedup.app.connections import fields_of
from stream_dedup.app.console import console
from stream_dedup.app.formats import Format
from stream_dedup.app.pair_files import read_labels, read_pairs
from stream_dedup.app.plain_text import plain
from stream_dedup.app.progress import progress
from stream_dedup.app.rows import read_rows, stored_bytes
from stream_dedup.app.settings import Settings
from stream_dedup.app.spool import Spool
from stream_dedup.app.texts import Texts
from stream_dedup.core.scoring import BANDS, Score, Truth, score
from stream_dedup.core.yardstick import gram_jaccard
from stream_dedup.errors import StreamDedupError

_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is asked of `evaluate`."""

    articles: str
    form: Format | None
    pairs: Path
    labels: Path | None
    profiles: Sequence[str]
    processes: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One profile's figures."""

    profile: str
    score: Score
    seconds: float
    """From the first byte read to the last verdict."""

    @property
    def articles_per_second(self) -> int:
        """Speed."""
        return round(self.score.articles / max(self.seconds, 1e-9))

    def to_record(self) -> dict[str, object]:
        """One flat object of figures; shares are None where there is nothing to have a share of."""
        record: dict[str, object] = {"profile": self.profile, "articles": self.score.articles}
        for place, name in enumerate(_band_names()):
            recall = self.score.recall(place)
            record[f"missed_{name}"] = self.score.missed[place]
            record[f"of_{name}"] = self.score.of[place]
            record[f"recall_{name}"] = None if recall is None else round(recall, _DECIMALS)
        share = self.score.false_share
        return record | {
            "flagged": self.score.flagged,
            "false": self.score.false,
            "false_share": None if share is None else round(share, _DECIMALS),
            "grey": self.score.grey,
            "seconds": round(self.seconds, 3),
            "articles_per_second": self.articles_per_second,
        }


def evaluate_profiles(settings: Settings, asked: Evaluation, *, as_json: bool) -> int:
    """Measure all profiles and print their figures.

    Raises:
        StreamDedupError: an id stands twice, or no pair names an article.
        click.FileError: a file cannot be read.
    """
    measured = measure(settings, asked)
    if as_json:
        click.echo(json.dumps([one.to_record() for one in measured], indent=2))
    else:
        console().print(table(measured), _LEGEND)
    return 0


def measure(settings: Settings, asked: Evaluation) -> list[Measured]:
    """Each profile's figures, in the order asked for."""
    longest = settings.max_article_bytes
    pairs = read_pairs(asked.pairs)
    labels = read_labels(asked.labels) if asked.labels else {}
    with Spool() as spool:
        texts = Texts(read_rows([asked.articles], asked.form, longest), fields_of(settings), longest, spool)
        if pairs and not any(one in texts for pair in pairs for one in pair):
            raise StreamDedupError(
                f"none of {len(pairs):,} pairs names any of {len(texts):,} articles: do both files belong together?"
            )
        truth = Truth(pairs, labels, lambda left, right: _similarity(texts, left, right))
        return [_measure(with_profile(settings, name), asked, truth) for name in asked.profiles]


def _measure(settings: Settings, asked: Evaluation, truth: Truth) -> Measured:
    # Loading the dictionary is no part of the speed.
    check_profile(settings)
    lines = []
    with progress(settings.profile, stored_bytes([asked.articles])) as show:
        begun = time.perf_counter()
        rows = read_rows([asked.articles], asked.form, settings.max_article_bytes)
        with closing(decided(settings, rows, None, asked.processes)) as outcomes:
            for number, outcome in enumerate(outcomes, 1):
                lines.append(outcome.line)
                show(number, outcome.row.read)
        seconds = time.perf_counter() - begun
    return Measured(settings.profile, score(lines, truth), seconds)


def _similarity(texts: Texts, left: str, right: str) -> float:
    ours, theirs = texts.known(left), texts.known(right)
    return gram_jaccard(ours.text, theirs.text, chinese=(ours.language or "").startswith("zh"))


def _band_names() -> list[str]:
    """`90`, `70_90`, `50_70`."""
    return [f"{low * 100:.0f}" if high == 1 else f"{low * 100:.0f}_{high * 100:.0f}" for low, high in BANDS]


def table(measured: Sequence[Measured]) -> Table:
    """All figures side by side, a row for each one measured."""
    table = Table("profile", box=SIMPLE_HEAD)
    for low, high in BANDS:
        table.add_column(f"found of\n{low:g} to {high:g}", justify="right")
    for name in ("called\nduplicate", "false", "false\nshare", "grey", "articles\na second"):
        table.add_column(name, justify="right")
    for one in measured:
        found = zip(one.score.missed, one.score.of, strict=True)
        shares = [f"{of - missed:,} of {of:,}" + (f"\n{1 - missed / of:.1%}" if of else "") for missed, of in found]
        share = one.score.false_share
        table.add_row(
            plain(one.profile, 40),
            *shares,
            f"{one.score.flagged:,}",
            f"{one.score.false:,}",
            "-" if share is None else f"{share:.2%}",
            f"{one.score.grey:,}",
            f"{one.articles_per_second:,}",
        )
    return table


_LEGEND = (
    "found: of the articles whose closest earlier partner has such a Jaccard similarity, those called duplicate. "
    "false: the original's similarity is below .3, or the pair is labelled different, or it was not kept. "
    "grey: from .3 to .7, or labelled grey."
)
