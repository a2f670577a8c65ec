"""How good verdicts are: recall in bands of similarity, and false duplicates, against a table of known pairs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol, TypeAlias

from stream_dedup.core.verdict import Verdict

BANDS = ((0.9, 1.0), (0.7, 0.9), (0.5, 0.7))
"""Bands of exact Jaccard similarity, each without its upper end but for the first. From .7 on a pair is the same
article."""
SAME = 0.7
OTHER = 0.3
"""Below it a pair is two articles; from it up to SAME it is grey: reported, not scored."""
Pair: TypeAlias = frozenset[str]
"""Two ids."""


class Label(StrEnum):
    """What a person said about a pair, whatever its similarity."""

    DIFFERENT = "different"
    """Two articles: template news about another company or day."""
    GREY = "grey"
    """Not scored."""


class Called(Protocol):
    """What was said of one article."""

    @property
    def id(self) -> str:
        """The article's id."""
        ...

    @property
    def verdict(self) -> str:
        """Its verdict."""
        ...

    @property
    def original_id(self) -> str | None:
        """Whom it repeats."""
        ...


@dataclass(frozen=True)
class Truth:
    """What is known of the articles."""

    pairs: Mapping[Pair, float]
    """Exact Jaccard similarity of two; a pair that is not in it is no repost."""
    labels: Mapping[Pair, Label]
    measure: Callable[[str, str], float]
    """Exact Jaccard similarity of two articles that are not in `pairs`, by their ids."""

    @cached_property
    def partners(self) -> Mapping[str, list[tuple[str, float]]]:
        """By id the articles that may be reposts of each other; labelled pairs are not scored."""
        found: dict[str, list[tuple[str, float]]] = {}
        for pair, similarity in self.pairs.items():
            if pair not in self.labels and len(pair) > 1:
                left, right = pair
                found.setdefault(left, []).append((right, similarity))
                found.setdefault(right, []).append((left, similarity))
        return found

    def similarity(self, left: str, right: str) -> float:
        """Exact Jaccard similarity of two articles."""
        known = self.pairs.get(frozenset((left, right)))
        return self.measure(left, right) if known is None else known

    def label(self, left: str, right: str) -> Label | None:
        """What a person said of two articles."""
        return self.labels.get(frozenset((left, right)))


@dataclass(frozen=True, slots=True)
class Score:
    """What came of one run."""

    articles: int
    missed: tuple[int, ...]
    """For each of BANDS: articles whose closest earlier partner lies in it and that were not called duplicate."""
    of: tuple[int, ...]
    """For each of BANDS: articles whose closest earlier partner lies in it."""
    flagged: int
    """Articles called duplicate."""
    false: int
    """Of those: the original is another article, or was not kept before."""
    grey: int
    """Of those: similar, but neither clearly the same nor clearly another."""

    def recall(self, band: int) -> float | None:
        """Share of the articles of a band that were found, None where there are none."""
        return 1 - self.missed[band] / self.of[band] if self.of[band] else None

    @property
    def false_share(self) -> float | None:
        """Share of false ones among those called duplicate, None where none was."""
        return self.false / self.flagged if self.flagged else None


def score(called: Iterable[Called], truth: Truth) -> Score:
    """Score a run; articles come in the order in which they were decided, each id once."""
    seen: set[str] = set()
    kept: set[str] = set()
    missed, of = [0] * len(BANDS), [0] * len(BANDS)
    flagged = false = grey = 0
    for one in called:
        duplicate = one.verdict == Verdict.DUPLICATE
        closest = max((near for other, near in truth.partners.get(one.id, ()) if other in seen), default=0.0)
        band = band_of(closest)
        if band is not None:
            of[band] += 1
            missed[band] += not duplicate
        seen.add(one.id)
        if one.verdict == Verdict.UNIQUE:
            kept.add(one.id)
        if duplicate:
            flagged += 1
            kind = _judge(one.id, one.original_id if one.original_id in kept else None, truth)
            false += kind is Label.DIFFERENT
            grey += kind is Label.GREY
    return Score(len(seen), tuple(missed), tuple(of), flagged, false, grey)


def band_of(similarity: float) -> int | None:
    """Which of BANDS a similarity lies in."""
    return next((place for place, (lowest, _) in enumerate(BANDS) if similarity >= lowest), None)


def _judge(article: str, original: str | None, truth: Truth) -> Label | None:
    """What calling an article a duplicate was: false, grey, or right."""
    if original is None:
        return Label.DIFFERENT
    label = truth.label(article, original)
    similarity = truth.similarity(article, original)
    if label is Label.DIFFERENT or (label is None and similarity < OTHER):
        return Label.DIFFERENT
    return Label.GREY if label is Label.GREY or similarity < SAME else None
