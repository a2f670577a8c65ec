"""The path from a raw text to its comparable form: what is set aside, and what is not."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core import text

_SCRIPTS = "abzÀßİΣς中国電腦體后後乾苧薴〇々カガﾊﾟกำဃ𠀀"
_SIGNS = "①²½％．，。、：－−–—-.,:/'’ \t\n\u3000\u200b\u00ad0123９٣$€+~℃㎡Ⅳ㊗😀❤\ufe0f_"
TEXTS = st.text(st.one_of(st.sampled_from(_SCRIPTS + _SIGNS), st.characters()), max_size=40)

SAME = [
    ("case", "The Fed RAISES rates", "the fed raises rates"),
    ("sharp s", "STRASSE", "straße"),
    ("final sigma", "ΟΔΟΣ", "οδος"),
    ("full width letters and digits", "Ｔｈｅ　３．５％", "The 3.5%"),
    ("half width kana", "ﾗｼﾞｵ", "ラジオ"),
    ("full width punctuation inside numbers", "１０：３０，５００", "10:30,500"),
    ("full stop of full width", "开放．新馆", "开放。新馆"),
    ("traditional characters", "電腦軟體後來發現", "电脑软体后来发现"),
    ("traditional characters with white space in a phrase", "乾 隆", "乾隆"),
    ("white space inside Han", "中国 人民\n银行", "中国人民银行"),
    ("white space between scripts", "在 iPhone 上", "在iPhone上"),
    ("punctuation between words", "well-known, he said.", "well known he said"),
    ("brackets and quotes", "他说：“好（真的）。”", "他说好真的"),
    ("hyphen between letters and digits", "covid-19", "covid 19"),
    ("minus and hyphen before a number", "跌−1.14", "跌-1.14"),
    ("minus, hyphen and dashes inside a number", "2019−2020", "2019–2020"),
    ("a dash of two hyphens is no sign", "he said--5 people", "he said 5 people"),
    ("white space before per cent", "3.5 %", "3.5%"),
    ("removed punctuation and white space between digits", "1、2", "1 2"),
    ("dots of omission between digits", "5...6", "5 6"),
    ("a separator beside white space is none", "1, 2", "1 2"),
    ("zero width characters", "中\u200b国\ufeff 19\u200d30", "中国1930"),
    ("soft hyphen", "co\u00adoperate", "cooperate"),
    ("variation selector", "❤\ufe0f", "❤"),
    ("control characters", "a\x00b\x1b", "ab"),
    ("lone surrogate", "ab\ud800", "ab"),
    ("combining and composed", "cafe\u0301", "café"),
    ("square metre in one sign", "100㎡", "100m²"),
    ("Kangxi radical", "⼀個", "一个"),
    ("apostrophes", "5’000", "5'000"),
    ("private use characters", "中\ue000国", "中国"),
    ("no-break space as a reference", "3.5&nbsp;% of&nbsp;all", "3.5 % of all"),
    ("references inside Han", "中&nbsp;国&#12288;人民", "中国人民"),
    ("references by number", "it&#39;s 5&#x2019;000 for &#X20AC;3", "it's 5’000 for €3"),
    ("references of Windows-1252", "it&#146;s", "it’s"),
    ("ampersand", "AT&amp;T", "AT&T"),
    ("reference escaped twice", "AT&amp;amp;T&amp;nbsp;news", "AT&T news"),
    ("letters and marks as references", "Caf&eacute; cafe&#769;", "café café"),
    ("full width ampersand", "caf＆eacute；", "café"),
    ("quotes as references", "&ldquo;No&rdquo;", "no"),
    ("bidi marks", "\u200fשלום\u200e \u202bעולם\u202c \u2066abc\u2069", "שלום עולם abc"),
    ("tatweel", "مـــرحبا", "مرحبا"),
]
APART = [
    ("point inside a number", "3.5%", "35%"),
    ("per cent", "3.5%", "3.5"),
    ("per mille and per cent", "3‰", "3%"),
    ("minus", "−1.14", "1.14"),
    ("hyphen as minus after Han", "气温-5度", "气温5度"),
    ("minus before a currency", "-$5", "$5"),
    ("minus after white space", "1 -2", "1 2"),
    ("difference and negative number", "5-3", "5 -3"),
    ("leading point", "up .50", "up 50"),
    ("leading point after a digit and white space", "2 .50", "2 50"),
    ("plus", "+5", "5"),
    ("less than as a reference", "5 &lt; 6", "5 6"),
    ("what only looks like a reference", "R&dd; now", "R& now"),
    ("multiplication sign as a reference", "3&times;4", "34"),
    ("colon inside a number", "10:30", "1030"),
    ("colon and point", "10:30", "10.30"),
    ("thousands and decimals", "1,000", "1.000"),
    ("fraction and range", "1/2", "1-2"),
    ("white space between digits", "1 2", "12"),
    ("line end between digits", "2018\n5", "20185"),
    ("removed punctuation between digits", "（1）2", "12"),
    ("private use character between digits", "1\ue0002", "12"),
    ("superscript", "10²", "102"),
    ("subscript", "1₂", "12"),
    ("circled number before a digit", "①2", "12"),
    ("circled numbers side by side", "①②", "12"),
    ("circled number in brackets after a digit", "2⑴", "21"),
    ("number with a full stop", "⒈5", "1.5"),
    ("mixed number", "1½", "11/2"),
    ("currency", "$5", "€5"),
    ("degree", "5℃", "5℉"),
    ("other symbols", "a=b", "a≠b"),
    ("emoji", "好😀", "好😢"),
    ("combining mark", "resume\u0301", "resume"),
    ("vowel sign", "กิน", "กน"),
    ("simplified characters that differ", "台湾", "台北"),
    ("digits of two scripts", "٣", "4"),
]


def _comparable(raw: str) -> str:
    return text.comparable(text.fold(raw))


@pytest.mark.parametrize(("left", "right"), [pytest.param(*pair, id=rule) for rule, *pair in SAME])
def test_same_text(left: str, right: str) -> None:
    """What is set aside does not tell two texts apart, neither their form nor their digest."""
    assert _comparable(left) == _comparable(right)
    assert text.digest(_comparable(left)) == text.digest(_comparable(right))


@pytest.mark.parametrize(("left", "right"), [pytest.param(*pair, id=rule) for rule, *pair in APART])
def test_another_text(left: str, right: str) -> None:
    """What carries meaning tells two texts apart."""
    assert _comparable(left) != _comparable(right)
    assert text.digest(_comparable(left)) != text.digest(_comparable(right))


@given(
    st.lists(st.sampled_from(["&", "amp;", "#38;", "#x26;", "lt;", "中", " ", "#97;", "mp;", "＆", "e", "#769;"])).map(
        "".join
    )
)
def test_folding_references_is_idempotent(raw: str) -> None:
    """However references are made of references, folding the folded text changes nothing."""
    assert text.fold(text.fold(raw)) == text.fold(raw)


@given(TEXTS)
def test_folding_is_idempotent(raw: str) -> None:
    """A folded text folds to itself."""
    folded = text.fold(raw)
    assert text.fold(folded) == folded


def test_every_ideograph_folds_once() -> None:
    """Traditional to simplified is final after one step for each ideograph, alone."""
    for first, last in ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x323AF)):
        folded = text.fold(".".join(map(chr, range(first, last + 1))))
        assert text.fold(folded) == folded


@given(TEXTS, st.sampled_from(" \t\n\u3000\u2028"))
def test_more_white_space_changes_nothing(raw: str, space: str) -> None:
    """White space appended, put in front or doubled leaves the same text."""
    doubled = re.sub(r"(\s)", r"\1\1", raw)
    assert {_comparable(raw + space), _comparable(space + raw), _comparable(doubled)} == {_comparable(raw)}


@given(TEXTS)
def test_runs_hold_letters_marks_and_digits(raw: str) -> None:
    """Runs lose no letter, mark or number of the basic plane, and hold no punctuation, symbol, space or control."""
    folded = text.fold(raw)
    categories = {character: unicodedata.category(character)[0] for character in folded if character < "\U00010000"}
    joined = "".join(text.runs(folded))
    assert [c for c in joined if c in categories] == [
        c for c in folded if categories.get(c, "C") in "LMN" or _unassigned(c)
    ]


def _unassigned(character: str) -> bool:
    return character < "\U00010000" and unicodedata.category(character) == "Cn"


def test_runs_are_of_one_script() -> None:
    """Han, scripts without spaces and words of the others stand apart; a number's separators part words."""
    assert text.runs("央行2018年降息0.5个点 said リサhe") == [
        "央行", "2018", "年降息", "0", "5", "个点", "said", "リサ", "he",
    ]  # fmt: skip


def test_unseen_characters_are_dropped() -> None:
    """No control but white space, no format character and no surrogate is left in a folded text."""
    everything = "".join(map(chr, range(0x110000)))
    left = {character for character in text.fold(everything) if unicodedata.category(character) in {"Cc", "Cf", "Cs"}}
    assert left <= set("\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85")


def test_a_heap_of_marks_does_not_hold_up_the_stream() -> None:
    """200,000 marks in the wrong order on one letter are folded in seconds; sorted at once they take minutes."""
    heap = "a" + "\u0301\u0323" * 100_000
    assert len(heap) - 1000 < len(text.fold(heap)) <= len(heap)
