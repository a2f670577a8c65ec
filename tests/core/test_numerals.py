"""Numbers in one notation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.numerals import HAN_NUMERALS, MAX_NUMERAL, NUMBER_WORDS, han_number, plain_number


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        ("七", "7"),
        ("十", "10"),
        ("十二", "12"),
        ("二十", "20"),
        ("一百零五", "105"),
        ("三千五百", "3500"),
        ("四万二千", "42000"),
        ("一百八十万", "1800000"),
        ("一亿三千万", "130000000"),
        ("三千二百亿", "320000000000"),
        ("二〇一八", "2018"),
        ("两千", "2000"),
        ("5亿", "500000000"),
        ("1.2亿", "120000000"),
        ("1,200万", "12000000"),
        ("3万5千", "35000"),
        ("1万亿", "1000000000000"),
    ],
)
def test_chinese_numbers(numeral: str, value: str) -> None:
    """Tens add up to a section, myriads multiply it, digits alone are read one by one, and Arabic ones mix in."""
    assert han_number(numeral) == value


@given(st.text(HAN_NUMERALS, min_size=1, max_size=MAX_NUMERAL))
def test_any_row_of_numerals_has_a_value(numeral: str) -> None:
    """Also what nobody would write: the value is digits, so that the same row is always the same fact."""
    assert han_number(numeral).isdigit()


@pytest.mark.parametrize(
    ("number", "plain"),
    [
        ("3,500", "3500"),
        ("3,500.0", "3500"),
        ("03", "3"),
        ("0", "0"),
        ("3.50", "3.5"),
        ("0.05", "0.05"),
        ("100", "100"),
        ("10:30", "10:30"),
        ("3/16", "3/16"),
    ],
)
def test_arabic_numbers(number: str, plain: str) -> None:
    """Separators and zeros that say nothing go, those that say something stay."""
    assert plain_number(number) == plain


def test_number_words() -> None:
    """Words up to nineteen count one by one, then the tens."""
    said = {word: NUMBER_WORDS[word] for word in ("zero", "one", "twelve", "nineteen", "twenty", "ninety")}
    assert said == {"zero": "0", "one": "1", "twelve": "12", "nineteen": "19", "twenty": "20", "ninety": "90"}
    assert len(NUMBER_WORDS) == 28
