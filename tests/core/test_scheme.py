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

from stream_dedup.core import scheme as schemes
from stream_dedup.core.minhash import estimated_jaccard
from stream_dedup.core.segment import RJIEBA, Segmenter
from stream_dedup.core.simhash import HashMemory, xxh3
from stream_dedup.core.sketch import Sketches
from stream_dedup.errors import RecipeMismatchError, SettingsError

STRICT = schemes.profile("strict")
MEMORY = HashMemory(xxh3(0))
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


@settings(deadline=None)
@given(TEXTS)
def test_a_sketch_does_not_depend_on_the_batch(texts: list[str]) -> None:
    """A text alone, in a batch, and through a new scheme with empty memories gives the same sketch and word count."""
    together = STRICT.scheme.fingerprint(texts)
    fresh = schemes.profile("strict").scheme
    assert _same(together, fresh.fingerprint(texts))
    for row, text in enumerate(texts):
        alone = fresh.fingerprint([text])
        assert together.row(row) == alone.row(0)
        assert together.words[row] == alone.words[0]


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
def test_any_text_is_fingerprinted(text: str, words: int) -> None:
    """Nothing at all, mere punctuation and very long texts give arrays of the promised shapes and types."""
    sketches = STRICT.scheme.fingerprint([text, text])
    assert sketches.fingerprints.shape == (2, STRICT.scheme.fingerprints)
    assert sketches.signatures.shape == (2, 64)
    assert sketches.digests.shape == (2, 16)
    assert sketches.words.tolist() == [words, words]
    assert sketches.facts.shape == (2, 64)
    parts = (sketches.fingerprints, sketches.signatures, sketches.digests, sketches.facts, sketches.words)
    assert [part.dtype.name for part in parts] == ["uint64", "uint8", "uint8", "uint8", "int64"]


def test_empty_batch() -> None:
    """No texts give arrays without rows."""
    sketches = STRICT.scheme.fingerprint([])
    parts = (sketches.fingerprints, sketches.signatures, sketches.digests, sketches.facts, sketches.words)
    assert [part.shape for part in parts] == [(0, 1), (0, 64), (0, 16), (0, 64), (0,)]


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
def test_copies_are_the_same_text(group: str, edit: str) -> None:
    """White space, width, case, script variant and the shape of quotes change nothing but which words are names."""
    texts = _groups()[group]
    copies = STRICT.scheme.fingerprint([texts["original"], texts[edit]])
    original, copy = copies.row(0), copies.row(1)
    assert replace(original, facts=b"") == replace(copy, facts=b"")
    assert (original.facts == copy.facts) == (edit != "upper-lead")


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


def test_the_probe_gives_what_the_name_promises() -> None:
    """The locked segmenter, dictionary and hashes pass the check."""
    schemes.check_recipe(STRICT.scheme)


def _dropping_one(run: str) -> list[str]:
    return [word for word in RJIEBA.full(run) if word != "生命"]


def _without_hmm(run: str) -> list[str]:
    return list(run)


@pytest.mark.parametrize(
    "segmenter",
    [
        pytest.param(replace(RJIEBA, full=_dropping_one), id="a word is missing in full mode"),
        pytest.param(replace(RJIEBA, accurate=_without_hmm), id="accurate mode cuts otherwise"),
    ],
)
def test_another_segmenter_is_refused(segmenter: Segmenter) -> None:
    """A segmenter that gives other words on the probe text is refused with both hashes and what to do."""
    with pytest.raises(
        RecipeMismatchError, match=r"hash [0-9a-f]{16} on the probe text, expected [0-9a-f]{16}: .*install"
    ):
        schemes.check_recipe(replace(STRICT.scheme, segmenter=segmenter))


def test_another_hash_is_refused() -> None:
    """The same words under other hashes are refused too: the probe's sketch counts."""
    with pytest.raises(RecipeMismatchError):
        schemes.check_recipe(replace(STRICT.scheme, memories=(HashMemory(xxh3(1)),)))


def test_profiles() -> None:
    """`strict` is one fingerprint within 3 bits, verified at .55; an unknown name is refused with those there are."""
    assert (STRICT.name, STRICT.scheme.fingerprints, STRICT.radius, STRICT.threshold) == ("strict", 1, 3, 0.55)
    assert STRICT.scheme.name == f"news-tf.1+rjieba-{version('rjieba')}"
    with pytest.raises(SettingsError, match="'loose': choose strict"):
        schemes.profile("loose")


def test_frequent_words_weigh_more_than_their_share() -> None:
    """In text that is mostly Han the weight is the frequency to the 5/4, in sixteenths, rounded."""
    words = ["的"] + 2 * ["中国"] + 16 * ["银行"] + 10_000 * ["降息"]
    hashes, weights = schemes.weigh_unspaced(words, MEMORY)
    assert dict(zip(hashes.tolist(), weights.tolist(), strict=True)) == {
        MEMORY["的"]: 16,
        MEMORY["中国"]: 38,
        MEMORY["银行"]: 512,
        MEMORY["降息"]: 1_600_000,
    }


def test_numbers_weigh_thrice_between_spaces() -> None:
    """In text that is cut at spaces a token with a digit weighs 3 each time it stands, a word 1."""
    words = ["rates", "25", "q3", "हिन्दी", "٣", "rates"]
    hashes, weights = schemes.weigh_spaced(words, MEMORY)
    assert hashes.tolist() == [MEMORY[word] for word in words]
    assert weights.tolist() == [1, 3, 3, 1, 3, 1]


def test_replaced_numbers_move_a_bulletin_further_than_replaced_words() -> None:
    """Replacing the figures of a bulletin made from a template takes it out of the radius."""
    figures = ["shr 31 cts vs 27 cts net 1,204,000 vs 998,000 revs 41.2 mln vs 38.9 mln for the quarter ended march 31"]
    figures += [
        figures[0].replace("31", "44").replace("27", "12").replace("204", "377").replace("41", "63").replace("38", "59")
    ]
    left, right = STRICT.scheme.fingerprint(figures).fingerprints[:, 0]
    assert np.bitwise_count(left ^ right) > STRICT.radius
