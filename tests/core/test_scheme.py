"""The whole path from texts to sketches: shapes, independence of the batch, edits, the probe."""

import json
from collections import defaultdict
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_dedup.core import recipes
from stream_dedup.core import scheme as schemes
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.scheme import Profile
from stream_dedup.core.segment import RJIEBA, Segmenter
from stream_dedup.core.simhash import HashMemory, xxh3
from stream_dedup.core.sketch import Sketches
from stream_dedup.errors import RecipeMismatchError, SettingsError

PROFILES = {name: schemes.profile(name) for name in recipes.PROFILES}
STRICT = PROFILES["strict"]
each_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
TEXTS = st.lists(
    st.text(st.one_of(st.sampled_from("中国人民银行降息ab 1.，ニュ"), st.characters()), max_size=60), max_size=6
)
EDITS = Path(__file__).parents[1] / "cases" / "edits.jsonl"


def _groups() -> dict[str, dict[str, str]]:
    """The edited texts: {group: {edit: text}}."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for line in EDITS.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        groups[case["group"]][case["id"].removeprefix(case["group"] + "-")] = case["text"]
    return groups


def _same(left: Sketches, right: Sketches) -> bool:
    return all(
        np.array_equal(getattr(left, part), getattr(right, part))
        for part in ("fingerprints", "signatures", "digests", "facts", "words")
    )


@each_profile
@settings(deadline=None)
@given(texts=TEXTS)
def test_a_sketch_does_not_depend_on_the_batch(profile: Profile, texts: list[str]) -> None:
    """A text alone, in a batch, and through a new scheme with an empty memory gives the same sketch and word count."""
    together = profile.scheme.fingerprint(texts)
    fresh = schemes.profile(profile.name).scheme
    assert _same(together, fresh.fingerprint(texts))
    for row, text in enumerate(texts):
        alone = fresh.fingerprint([text])
        assert together.row(row) == alone.row(0)
        assert together.words[row] == alone.words[0]


@each_profile
@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", 0, id="empty"),
        pytest.param("，。！ …", 0, id="punctuation"),
        pytest.param("\ud800\x00", 0, id="lone surrogate and control"),
        pytest.param("😀", 0, id="emoji"),
        pytest.param("好", 1, id="one character"),
        pytest.param("字" * 300_000, 150_000, id="300,000 characters of Han"),
        pytest.param("word 12 " * 40_000, 80_000, id="320,000 characters of Latin"),
    ],
)
def test_any_text_is_fingerprinted(profile: Profile, text: str, words: int) -> None:
    """Nothing at all, mere punctuation and very long texts give arrays of the promised shapes and types."""
    sketches = profile.scheme.fingerprint([text, text])
    assert sketches.fingerprints.shape == (2, profile.scheme.fingerprints)
    assert sketches.signatures.shape == (2, 64)
    assert sketches.digests.shape == (2, 16)
    assert sketches.words.tolist() == [words, words]
    assert sketches.facts.shape == (2, 64)
    parts = (sketches.fingerprints, sketches.signatures, sketches.digests, sketches.facts, sketches.words)
    assert [part.dtype.name for part in parts] == ["uint64", "uint8", "uint8", "uint8", "int64"]


@each_profile
def test_empty_batch(profile: Profile) -> None:
    """No texts give arrays without rows."""
    sketches = profile.scheme.fingerprint([])
    parts = (sketches.fingerprints, sketches.signatures, sketches.digests, sketches.facts, sketches.words)
    assert [part.shape for part in parts] == [(0, profile.scheme.fingerprints), (0, 64), (0, 16), (0, 64), (0,)]


@each_profile
@pytest.mark.parametrize(
    ("group", "edit"),
    [
        ("zh1", "exact-with-space"),
        ("zh1", "full-width"),
        ("zh1", "traditional"),
        ("en1", "exact-with-space"),
        ("en1", "upper-lead"),
        ("en1", "curly-quotes-dash"),
    ],
)
def test_copies_are_the_same_text(profile: Profile, group: str, edit: str) -> None:
    """White space, width, case, script variant and the shape of quotes change nothing but which words are names.

    Of keywords only the digest and the signature: jieba.analyse cuts the text as it came.
    """
    texts = _groups()[group]
    copies = profile.scheme.fingerprint([texts["original"], texts[edit]])
    left, right = copies.row(0), copies.row(1)
    assert (left.digest, left.signature) == (right.digest, right.signature)
    assert left.fingerprints == right.fingerprints or profile.name == "tfidf-top20"
    assert (left.facts == right.facts) == (edit != "upper-lead")


@pytest.mark.parametrize(
    ("group", "edit"),
    [(group, edit) for group in ("zh1", "en1") for edit in ("one-typo", "editor-line", "agency-prefix")],
)
def test_edits_are_alike_but_not_the_same(group: str, edit: str) -> None:
    """A typo or a line added gives another digest, and an estimated similarity above the threshold."""
    texts = _groups()[group]
    edited = STRICT.scheme.fingerprint([texts["original"], texts[edit]])
    assert edited.row(0).digest != edited.row(1).digest
    assert STRICT.threshold <= estimated_jaccard(edited.signatures[0], edited.signatures[1]) < 1


@each_profile
def test_the_probe_gives_what_the_name_promises(profile: Profile) -> None:
    """The locked segmenter, dictionary and hashes pass the check, also for bands from another threshold."""
    schemes.check_recipe(profile.scheme)
    schemes.check_recipe(schemes.profile(profile.name, threshold=0.8).scheme)


def _dropping_one(run: str) -> list[str]:
    return [word for word in RJIEBA.full(run) if word != "生命"]


def _without_hmm(run: str) -> list[str]:
    return list(run)


@each_profile
@pytest.mark.parametrize(
    "segmenter",
    [
        pytest.param(replace(RJIEBA, full=_dropping_one), id="a word is missing in full mode"),
        pytest.param(replace(RJIEBA, accurate=_without_hmm), id="accurate mode cuts otherwise"),
    ],
)
def test_another_segmenter_is_refused(profile: Profile, segmenter: Segmenter) -> None:
    """A segmenter that gives other words on the probe text is refused with both hashes and what to do."""
    with pytest.raises(
        RecipeMismatchError, match=r"hash [0-9a-f]{16} on the probe text, expected [0-9a-f]{16}: .*install"
    ):
        schemes.check_recipe(replace(profile.scheme, segmenter=segmenter))


@each_profile
def test_another_hash_is_refused(profile: Profile) -> None:
    """The same words under other hashes are refused too: the probe's sketch counts."""
    with pytest.raises(RecipeMismatchError):
        schemes.check_recipe(replace(profile.scheme, memory=HashMemory(xxh3(1))))


@pytest.mark.parametrize(
    ("name", "scheme", "fingerprints", "radius", "threshold"),
    [
        ("strict", "news-tf.1", 1, 3, 0.55),
        ("balanced", "news-wide.1x1", 1, 7, 0.55),
        ("thorough", "news-wide.1x3", 3, 7, 0.55),
        ("full-tf", "full-tf.1", 1, 3, 0.55),
        ("tfidf-top20", "tfidf-top20.1", 1, 3, 0.55),
        ("minhash", "minhash.1-22x5", 22, 0, 0.52),
    ],
)
def test_profiles(name: str, scheme: str, fingerprints: int, radius: int, threshold: float) -> None:
    """Each has the scheme, the number of fingerprints, the radius and the threshold that it is known for."""
    chosen = PROFILES[name]
    assert (chosen.scheme.fingerprints, chosen.radius, chosen.threshold) == (fingerprints, radius, threshold)
    assert chosen.name == name
    assert chosen.scheme.name == f"{scheme}+rjieba-{version('rjieba')}"


def test_schemes_do_not_share_a_name() -> None:
    """Profiles whose fingerprints differ have schemes of other names, bands from another threshold too."""
    names = [chosen.scheme.name for chosen in PROFILES.values()]
    names.append(schemes.profile("minhash", threshold=0.8).scheme.name)
    assert len(set(names)) == len(names)


def test_an_unknown_profile_is_refused() -> None:
    """With the names that there are."""
    with pytest.raises(SettingsError, match=r"'loose': choose strict, balanced, .*minhash"):
        schemes.profile("loose")


def test_thorough_sees_what_balanced_sees() -> None:
    """The first fingerprint is the same; the others come of other hashes."""
    texts = list(_groups()["zh1"].values()) + list(_groups()["en1"].values())
    one, three = (PROFILES[name].scheme.fingerprint(texts).fingerprints for name in ("balanced", "thorough"))
    assert np.array_equal(one[:, 0], three[:, 0])
    assert all(len(set(row)) == 3 for row in three.tolist())


def test_replaced_numbers_move_a_bulletin_further_than_replaced_words() -> None:
    """Replacing the figures of a bulletin made from a template takes it out of the radius."""
    figures = ["shr 31 cts vs 27 cts net 1,204,000 vs 998,000 revs 41.2 mln vs 38.9 mln for the quarter ended march 31"]
    figures += [
        figures[0].replace("31", "44").replace("27", "12").replace("204", "377").replace("41", "63").replace("38", "59")
    ]
    left, right = STRICT.scheme.fingerprint(figures).fingerprints[:, 0]
    assert np.bitwise_count(left ^ right) > STRICT.radius
