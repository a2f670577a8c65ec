"""Schemes: versioned recipes that turn a batch of texts into `Sketches`; profiles: a scheme, a radius and a threshold.

text -> fold -> runs -> words, each with its weight -> fingerprints, as the recipe says (see recipes.py)
                     -> shingles                    -> MinHash signature
             -> comparable form                     -> digest
     -> numbers, dates and names                    -> sketch of the facts
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import xxhash

from stream_dedup.core import minhash, text
from stream_dedup.core.prepared import prepare
from stream_dedup.core.recipes import PROBE_HASHES, PROFILES, Recipe
from stream_dedup.core.segment import RJIEBA, Segmenter, by_script, segment
from stream_dedup.core.simhash import HashMemory, xxh3
from stream_dedup.core.sketch import Sketches
from stream_dedup.errors import RecipeMismatchError, SettingsError

PROBE = (
    "我很想要打游戏，但是女朋友会生气！南京市长江大桥下的乒乓球拍卖完了。結婚的和尚未結婚的都要登記，研究生命起源。"
    "中国人民银行宣布下调存款准备金率０．５个百分点，Reuters 于 10:30 报道，ラジオ…"
)
"""A text with words in words, ambiguous borders, traditional characters, numbers and other scripts."""
ENGLISH_PROBE = (
    "The bank said on Monday the rate is 2.5&nbsp;pct, the lowest of 3 years &amp; the first cut of the year."
)
"""A text cut at spaces, with words that stand more than once, numbers and HTML entities."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """A recipe with the segmenter and the memory that it works with."""

    recipe: Recipe
    segmenter: Segmenter = RJIEBA
    memory: HashMemory = field(default_factory=lambda: HashMemory(xxh3(0)), repr=False, compare=False)

    @property
    def name(self) -> str:
        """Recipe and version + segmenter and version: what the fingerprints depend on."""
        return f"{self.recipe.name}+{self.segmenter.name}"

    @property
    def fingerprints(self) -> int:
        """How many fingerprints an article has."""
        return self.recipe.fingerprints

    def fingerprint(self, texts: Sequence[str]) -> Sketches:
        """The sketches of n texts; each depends on its own text alone."""
        batch = prepare(texts, self.segmenter, self.memory)
        return Sketches(
            scheme=self.name,
            fingerprints=self.recipe.fingerprint(batch),
            signatures=minhash.signatures(batch.minima),
            digests=batch.digests,
            facts=batch.facts,
            words=batch.word_counts,
        )


@dataclass(frozen=True, slots=True)
class Profile:
    """A scheme, and how near two articles must be to be duplicates."""

    name: str
    scheme: Scheme
    radius: int
    """Hamming distance in bits up to which fingerprints are near."""
    threshold: float
    """Estimated Jaccard similarity from which a near one is a duplicate."""


def profile(name: str, *, radius: int | None = None, threshold: float | None = None) -> Profile:
    """The profile of this name, with a scheme and a memory of its own.

    Args:
        name: one of recipes.PROFILES.
        radius: Hamming distance in bits, in place of the profile's.
        threshold: estimated Jaccard similarity, in place of the profile's; the bands of `minhash` are derived from it.

    Raises:
        SettingsError: there is no such profile, or it cannot have this radius or threshold.
    """
    chosen = PROFILES.get(name)
    if chosen is None:
        raise SettingsError(f"there is no profile {name!r}: choose {', '.join(PROFILES)}")
    if threshold is None:
        threshold = chosen.threshold
    if not 0 <= threshold <= 1:
        raise SettingsError(f"the threshold is {threshold}: choose a Jaccard similarity from 0 to 1")
    if chosen.radius == 0 and radius is not None:
        raise SettingsError(
            f"profile {name} finds candidates by equal bands and not within a radius of {radius} bits: "
            "leave the radius out and choose a threshold, from which the bands are derived"
        )
    return Profile(name, Scheme(chosen.recipe(threshold)), chosen.radius if radius is None else radius, threshold)


def check_recipe(scheme: Scheme) -> None:
    """Raise RecipeMismatchError unless the probe texts give the words and the sketches that the scheme's name promises.

    The hash of a recipe covers its whole path: words, their hashes, weights, fingerprints, signature and digest.
    """
    scripts = by_script(text.runs(text.fold(PROBE)))
    words = [
        *segment(scheme.segmenter, scripts),
        *(word for run in scripts.han for word in scheme.segmenter.accurate(run)),
    ]
    probed = scheme if scheme.recipe.probed is None else replace(scheme, recipe=scheme.recipe.probed)
    sketches = probed.fingerprint([PROBE, ENGLISH_PROBE])
    found = xxhash.xxh3_64_intdigest(f"{words}{sketches.row(0)}{sketches.row(1)}".encode())
    expected = PROBE_HASHES[probed.name]
    if found != expected:
        raise RecipeMismatchError(
            f"scheme {scheme.name} gives {len(words)} words and hash {found:016x} on the probe text, "
            f"expected {expected:016x}: fingerprints made here would not meet those of other workers; "
            "install the versions in requirements.lock, and add no words to the segmenter's dictionary"
        )
