"""What holds for every profile: batches, white space, the order of features, and that schemes never meet."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stream_dedup.core.article import Article
from stream_dedup.core.decider import Decider
from stream_dedup.core.deduplicator import Deduplicator
from stream_dedup.core.minhash import character_shingles, estimated_jaccard, minima
from stream_dedup.core.recipes import PROFILES
from stream_dedup.core.rules import Rules
from stream_dedup.core.scheme import profile
from stream_dedup.core.sketch import Submission
from stream_dedup.core.verdict import Kind
from tests.core.languages import LANGUAGES

SCHEMES = {name: profile(name).scheme for name in PROFILES}
each_profile = pytest.mark.parametrize("name", PROFILES)
STORIES = [" ".join(story) for language in ("Chinese", "German", "Thai") for story in LANGUAGES[language]]
EDITS = ["{}", "(APX) {}", "{} (end)", "{}!\n", "{} {}"]
ARTICLES = st.lists(
    st.builds(
        lambda story, edit, again: Article("revised" if again else None, edit.format(story, story[:20])),
        st.sampled_from(STORIES),
        st.sampled_from(EDITS),
        st.booleans(),
    ),
    max_size=12,
)


@each_profile
@settings(max_examples=25)
@given(articles=ARTICLES, portion=st.integers(1, 5))
def test_verdicts_do_not_depend_on_the_batch(name: str, articles: list[Article], portion: int) -> None:
    """Articles handed over at once and in portions get the same judgements, near copies inside a batch too."""
    whole, parts = Deduplicator(profile(name)), Deduplicator(profile(name))
    judged = [parts.check_many(articles[first : first + portion]) for first in range(0, len(articles), portion)]
    assert whole.check_many(articles) == [judgement for part in judged for judgement in part]


@each_profile
@given(text=st.sampled_from(STORIES) | st.text(max_size=60), space=st.text(" \t\n\r\u00a0\u3000\u2028", max_size=5))
@example(text="Aក省", space="\u00a0")  # a letter of another script, a cue of names, and what is not part of its context
def test_appended_white_space_changes_nothing(name: str, text: str, space: str) -> None:
    """The whole sketch is the same."""
    sketches = SCHEMES[name].fingerprint([text, text + space])
    assert sketches.row(0) == sketches.row(1)


@given(letters=st.text("中国人民银行", min_size=5, max_size=80), seed=st.integers(0, 2**32))
def test_the_order_of_shingles_does_not_matter(letters: str, seed: int) -> None:
    """The minima, of which signatures and bands are made, are those of the set of shingles."""
    hashes, counts = character_shingles([letters])
    mixed = np.random.default_rng(seed).permutation(hashes)
    once = np.unique(hashes)
    assert np.array_equal(minima(hashes, counts), minima(mixed, counts))
    assert np.array_equal(minima(hashes, counts), minima(once, np.array([len(once)])))


@pytest.mark.parametrize(("first", "second"), permutations(PROFILES, 2))
@pytest.mark.parametrize("radius", [0, 3, 7])
def test_a_duplicate_never_crosses_schemes(first: str, second: str, radius: int) -> None:
    """The same text fingerprinted by two schemes is new in both, and a duplicate within each, in one state."""
    decider = Decider(Rules(radius, 0.0, None, 1000, keep_revisions=False, vetoes=True), estimated_jaccard)
    kinds = []
    for name in (first, second, first, second):
        sketch = SCHEMES[name].fingerprint([STORIES[0]]).row(0)
        submission = Submission(f"raw-0-{decider.position}", "a", 0, sketch)
        decision = decider.decide([submission], decider.position + 1)
        decider.apply(decision.delta)
        kinds.append(decision.judgements[0].kind)
    assert kinds == [Kind.NEW, Kind.NEW, Kind.EXACT, Kind.EXACT]
    others = [
        Submission(f"raw-1-{name}", "b", 0, SCHEMES[name].fingerprint([STORIES[1]]).row(0)) for name in (first, second)
    ]
    decision = decider.decide(others, decider.position + 2)
    assert [judgement.kind for judgement in decision.judgements] == [Kind.NEW, Kind.NEW]
