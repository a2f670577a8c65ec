"""Folding by the table against folding by the patterns and OpenCC."""

import subprocess
from pathlib import Path

import opencc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.folding import TELLING, fold_all
from stream_dedup.core.text import fold
from tests.core.languages import LANGUAGES
from tests.core.test_text import TEXTS

STORIES = [" ".join(story) for stories in LANGUAGES.values() for story in stories]
REFERENCES = st.lists(st.sampled_from(["&", "amp;", "lt;", "#769;", "nbsp;", "中", " ", "①", "e", "＆"])).map("".join)


@given(st.lists(TEXTS | REFERENCES | st.sampled_from(STORIES), max_size=5))
def test_a_batch_is_folded_as_each_text(texts: list[str]) -> None:
    """Any characters in any order fold alike."""
    assert fold_all(texts) == [fold(one) for one in texts]


@pytest.mark.parametrize("context", ["a{}b", "中{}国", "中 {} 国", "{}①", "é{0}{0}", "가{}", "\u3248{}", "{}e\u0301"])
def test_every_character_folds_alike_in_its_neighbourhood(context: str) -> None:
    """Each character of the basic plane between letters, Han, white space and what is normalized."""
    texts = [context.format(chr(code)) for code in range(0x10000)]
    assert fold_all(texts) == [fold(one) for one in texts]


def test_a_phrase_of_opencc_has_a_character_that_tells_it(tmp_path: Path) -> None:
    """Where OpenCC's dictionary converts a phrase otherwise than character by character, the text is left to OpenCC."""
    installed = Path(opencc.__file__).parent / "clib"
    source, made = installed / "share" / "opencc" / "TSPhrases.ocd2", tmp_path / "phrases.txt"
    program: list[str | Path] = [
        installed / "bin" / "opencc_dict",
        "-i",
        source,
        "-f",
        "ocd2",
        "-o",
        made,
        "-t",
        "text",
    ]
    subprocess.run(program, check=True, capture_output=True)
    phrases = [line.split("\t")[0] for line in made.read_text(encoding="utf-8").splitlines()]
    convert = opencc.OpenCC("t2s").convert
    otherwise = [phrase for phrase in phrases if convert(phrase) != "".join(map(convert, phrase))]
    assert len(phrases) > len(otherwise) > 0
    assert [phrase for phrase in otherwise if not set(phrase) & set(TELLING)] == []
    assert fold_all(phrases) == [fold(phrase) for phrase in phrases]
