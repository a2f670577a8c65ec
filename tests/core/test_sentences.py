"""Sentences, and what another text added or left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core import sentences as module
from stream_dedup.core.sentences import compare_sentences, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? 3.5 pct", ["One.", "Two!", "Three?", "3.5 pct"]),
        ('He said "no." Then "yes"', ['He said "no."', 'Then "yes"']),
        ("一句。两句！“三句。”四句", ["一句。", "两句！", "“三句。”", "四句"]),
        ("headline\n\n  text without an end", ["headline", "text without an end"]),
        ("等等。。。还有", ["等等。。。", "还有"]),
        (" \n ", []),
    ],
)
def test_where_a_sentence_ends(text: str, expected: list[str]) -> None:
    """After its mark and the closing quotation mark, or with the line; a point in a number ends nothing."""
    assert sentences(text) == expected


@given(text=st.text(st.sampled_from("a。.!” \n"), max_size=60))
def test_nothing_is_lost(text: str) -> None:
    """Sentences hold all of a text but white space, in its order."""
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_added_and_removed_sentences() -> None:
    """Each side in its order; case, width and punctuation make no other sentence."""
    changes = compare_sentences(
        "Rain fell. A dam broke. Nobody was hurt.", "RAIN FELL! Nobody was hurt. More soon. (ab)"
    )
    assert changes.removed == ("A dam broke.",)
    assert changes.added == ("More soon.", "(ab)")
    assert (changes.kept, changes.not_compared) == (2, 0)


@given(left=st.lists(st.sampled_from(["one.", "two.", "three."])), right=st.lists(st.sampled_from(["one.", "two."])))
def test_every_sentence_is_kept_or_changed(left: list[str], right: list[str]) -> None:
    """Kept and removed make the one text, kept and added the other."""
    changes = compare_sentences("\n".join(left), "\n".join(right))
    assert changes.kept + len(changes.removed) == len(left)
    assert changes.kept + len(changes.added) == len(right)


def test_a_text_of_very_many_sentences_takes_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences beyond a limit are counted instead of compared."""
    monkeypatch.setattr(module, "COMPARED", 2)
    changes = compare_sentences("a.\nb.\nc.", "a.\nb.\nd.\ne.")
    assert (changes.kept, changes.removed, changes.added, changes.not_compared) == (2, (), (), 3)
