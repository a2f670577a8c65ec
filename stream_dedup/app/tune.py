"""What `tune` finds out on a sample without labels: what each profile would merge, pairs at its border, a choice."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from stream_dedup.app.archive import Outcome, ReadBatch, check_profile, judged, read_in_processes, with_profile
from stream_dedup.app.connections import fields_of
from stream_dedup.app.formats import Format
from stream_dedup.app.progress import progress
from stream_dedup.app.rows import read_rows, stored_bytes
from stream_dedup.app.settings import Settings
from stream_dedup.app.spool import Spool
from stream_dedup.app.stages import rules_of
from stream_dedup.app.texts import Texts
from stream_dedup.core.block_table import MAX_RADIUS
from stream_dedup.core.jaccard import jaccard, shingles
from stream_dedup.core.rules import Rules
from stream_dedup.core.scoring import OTHER, SAME
from stream_dedup.core.simhash import HashMemory, xxh3
from stream_dedup.core.verdict import Kind, Verdict

WIDER_RADIUS = 4
"""Bits by which the radius is widened to see what a profile just leaves apart."""
LOWER_THRESHOLD = 0.2
"""Similarity by which the threshold is lowered for the same."""
TOLERATED = 0.02
"""Share of merges of unlike texts (below OTHER) up to which a profile can be recommended: one in fifty."""
AS_GOOD = 0.01
"""Share of all reposts by which a profile may find fewer than the best, and be recommended for its speed."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What is asked of `tune`."""

    articles: str
    form: Format | None
    profiles: Sequence[str]
    examples: int
    """Pairs shown on each side of each profile's border."""
    processes: int


class Pair(NamedTuple):
    """An article and the earlier one that a profile compares it with."""

    article: str
    original: str


@dataclass(frozen=True, slots=True)
class Example:
    """A pair at the border, with what decided about it."""

    article: str
    original: str
    distance: int
    similarity: float
    """Estimated Jaccard similarity."""
    jaccard: float
    """Exact."""
    veto: str | None
    """Which facts keep the pair apart, where nothing else does."""
    article_text: str
    original_text: str


@dataclass(frozen=True, slots=True)
class Merges:
    """What one profile makes of the sample."""

    profile: str
    articles: int
    exact: int
    """Duplicates that are the same text."""
    bands: tuple[int, int, int]
    """Other duplicates by exact Jaccard similarity: SAME and more, between, below OTHER."""
    reposts_left: int
    """Articles it left apart although a profile knows an earlier one of similarity SAME or more."""
    articles_per_second: int
    above: tuple[Example, ...]
    """Pairs that are just merged, the least similar first."""
    below: tuple[Example, ...]
    """Pairs that are just left apart, the most similar first."""

    @property
    def duplicates(self) -> int:
        """Articles called duplicate."""
        return self.exact + sum(self.bands)

    @property
    def reposts(self) -> int:
        """Duplicates of similarity SAME or more."""
        return self.exact + self.bands[0]

    @property
    def unlike_share(self) -> float:
        """Share of duplicates of texts below OTHER."""
        return self.bands[-1] / max(1, self.duplicates)


@dataclass(frozen=True, slots=True)
class Advice:
    """The profile to take, and why."""

    profile: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Run:
    """One profile's verdicts, and those it would give with a wider radius, a lower threshold and no vetoes."""

    profile: str
    outcomes: Sequence[Outcome]
    wider: Sequence[Outcome]
    seconds: float


def try_profiles(settings: Settings, sample: Sample) -> list[Merges]:
    """What each profile would merge, in the order asked for.

    Raises:
        StreamDedupError: an id stands twice.
        click.FileError: the sample cannot be read.
    """
    longest = settings.max_article_bytes
    with Spool() as spool:
        texts = Texts(read_rows([sample.articles], sample.form, longest), fields_of(settings), longest, spool)
        runs = [_run(with_profile(settings, name), sample) for name in sample.profiles]
        pairs = {pair for run in runs for pair in _pairs(chain(run.outcomes, run.wider))}
        known = _similarities(pairs, texts)
        reposts = {pair.article for pair, similarity in known.items() if similarity >= SAME}
        return [_merges(run, known, reposts, texts, sample.examples) for run in runs]


def _run(settings: Settings, sample: Sample) -> _Run:
    check_profile(settings)
    batches: list[ReadBatch] = []
    articles = 0
    with progress(settings.profile, stored_bytes([sample.articles])) as show:
        begun = time.perf_counter()
        rows = read_rows([sample.articles], sample.form, settings.max_article_bytes)
        with closing(read_in_processes(settings, rows, sample.processes)) as read:
            for batch in read:
                # Both runs need what is left of an article, not its text: that is bounded.
                batches.append(ReadBatch([replace(row, value=b"") for row in batch.rows], batch.readings))
                articles += len(batch.rows)
                show(articles, batch.rows[-1].read)
        outcomes = list(judged(rules_of(settings, None), batches))
        seconds = time.perf_counter() - begun
        return _Run(settings.profile, outcomes, list(judged(_wider(rules_of(settings, None)), batches)), seconds)


def _wider(rules: Rules) -> Rules:
    return replace(
        rules,
        # A scheme of radius 0 asks for equality: its values have no distance that means anything.
        radius=rules.radius and min(MAX_RADIUS, rules.radius + WIDER_RADIUS),
        threshold=max(0.0, rules.threshold - LOWER_THRESHOLD),
        vetoes=False,
    )


def _pairs(outcomes: "chain[Outcome]") -> "set[Pair]":
    return {Pair(one.line.id, one.original.id) for one in outcomes if one.original is not None}


def _similarities(pairs: set[Pair], texts: Texts) -> Mapping[Pair, float]:
    memory = HashMemory(xxh3(0))
    known = {}
    for pair in pairs:
        left, right = (shingles(texts.known(name).text, memory) for name in pair)
        known[pair] = jaccard(left, right)
    return known


def _merges(run: _Run, known: Mapping[Pair, float], reposts: set[str], texts: Texts, examples: int) -> Merges:
    duplicates = [one for one in run.outcomes if one.line.verdict == Verdict.DUPLICATE]
    others = [one for one in duplicates if one.line.kind != Kind.EXACT]
    merged = {one.line.id for one in duplicates}
    similarities = [known[_pair(one)] for one in others]
    vetoes = {
        Pair(one.line.id, one.line.veto_original_id): one.line.veto
        for one in run.outcomes
        if one.line.veto_original_id is not None
    }
    left_apart = [one for one in run.wider if one.original is not None and one.line.id not in merged]
    above = sorted(others, key=lambda one: known[_pair(one)])[:examples]
    below = sorted(left_apart, key=lambda one: -known[_pair(one)])[:examples]
    return Merges(
        profile=run.profile,
        articles=len(run.outcomes),
        exact=len(duplicates) - len(others),
        bands=(
            sum(similarity >= SAME for similarity in similarities),
            sum(OTHER <= similarity < SAME for similarity in similarities),
            sum(similarity < OTHER for similarity in similarities),
        ),
        reposts_left=len(reposts - merged),
        articles_per_second=round(len(run.outcomes) / max(run.seconds, 1e-9)),
        above=tuple(_example(one, known, texts, None) for one in above),
        below=tuple(_example(one, known, texts, vetoes.get(_pair(one))) for one in below),
    )


def _pair(outcome: Outcome) -> Pair:
    return Pair(outcome.line.id, "" if outcome.original is None else outcome.original.id)


def _example(outcome: Outcome, known: Mapping[Pair, float], texts: Texts, veto: str | None) -> Example:
    pair = _pair(outcome)
    return Example(
        article=pair.article,
        original=pair.original,
        distance=outcome.line.distance or 0,
        similarity=outcome.line.similarity or 0.0,
        jaccard=known[pair],
        veto=veto,
        article_text=texts.known(pair.article).text,
        original_text=texts.known(pair.original).text,
    )


def advise(merges: Sequence[Merges]) -> Advice:
    """The profile that finds most reposts of those that hardly merge unlike texts; the faster of two as good ones."""
    least = min(one.unlike_share for one in merges)
    sound = [one for one in merges if one.unlike_share <= max(TOLERATED, least)]
    most = max(one.reposts for one in sound)
    reposts = max(one.reposts + one.reposts_left for one in merges)
    good = [one for one in sound if one.reposts >= most - AS_GOOD * reposts]
    chosen = max(good, key=lambda one: (one.articles_per_second, one.reposts))
    if not reposts:
        return Advice(chosen.profile, "no profile finds a repost in this sample, so that this is the fastest one")
    reason = (
        f"it finds {chosen.reposts:,} of {reposts:,} known reposts (Jaccard {SAME:g} and more), "
        f"{chosen.bands[-1]:,} of its {chosen.duplicates:,} duplicates are of unlike texts (below {OTHER:g}), "
        f"and it takes {chosen.articles_per_second:,} articles a second"
    )
    best = max(merges, key=lambda one: one.reposts)
    if best not in sound:
        reason += f"; {best.profile} finds {best.reposts:,}, but {best.unlike_share:.1%} of its duplicates are unlike"
    elif best.reposts > chosen.reposts:
        reason += (
            f"; {best.profile} finds {best.reposts - chosen.reposts:,} more at {best.articles_per_second:,} a second"
        )
    return Advice(chosen.profile, reason)
