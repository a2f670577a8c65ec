"""From the bytes of a record's value to an article, or to the reason why they are none."""

import json

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.article import MAX_LABEL_CHARACTERS, MAX_REASON_CHARACTERS, Article, Fields, parse_article
from stream_dedup.core.sketch import SetAside
from stream_dedup.core.verdict import Kind

LIMIT = 100_000
TIMED = Fields(time="meta.published")

READABLE = [
    ('{"text": "Rain."}', "Rain."),
    ('{"content": "Rain."}', "Rain."),
    ('{"body": "Rain."}', "Rain."),
    ('{"text": null, "content": " \\n", "body": "Rain."}', "Rain."),
    ('{"text": "Rain.", "content": 5}', "Rain."),
    ('{"title": "Storm", "text": "Rain."}', "Rain."),
    ('{"title": "Storm"}', "Storm"),
    ('{"title": "Storm", "text": "\\t"}', "Storm"),
    ('{"text": ""}', ""),
    ('{"text": " ", "title": null}', " "),
    ('{"text": " ", "title": 7}', " "),
    ('{"title": ""}', ""),
    ('{"text": "Rain.", "text": "Snow."}', "Snow."),
    ('\ufeff{"text": "Rain."}', "Rain."),
    ('{"text": "cut \\ud83d"}', "cut \ufffd"),
    ('{"text": "cut \\uDE00 here"}', "cut \ufffd here"),
    ('{"text": "\\ud83d\\ude00 \\ud83d\\ud83d\\ude00"}', "😀 \ufffd😀"),
    ('{"text": "\\\\ud83d is \\ud83d"}', "\\ud83d is \ufffd"),
    ('{"\\ud83d": 1, "text": "Rain."}', "Rain."),
]

UNREADABLE = [
    (b"", "is empty: 0 bytes"),
    (b" \n", "is empty: 2 bytes"),
    (b"\xef\xbb\xbf", "is empty: 0 bytes"),
    (b"{", "1 bytes is not JSON in UTF-8: Input data was truncated"),
    (b'{"text": "Rain."} {}', "trailing characters (byte 19)"),
    (b'{"text": "\xff"}', "Invalid UTF-8"),
    (b'{"text": "\xed\xa0\x80"}', "Invalid UTF-8"),
    (b'{"text": NaN}', "invalid character (byte 9)"),
    (b'{"text": "Rain.", "price": 1e999}', "Number out of range"),
    (b"[" * 10_000, "10000 bytes is nested too deep"),
    (b'{"text":' * 10_000, "80000 bytes is nested too deep"),
    (b"x" * (LIMIT + 1), "has 100001 bytes, more than the limit of 100000"),
    (b"null", "is null; an article is an object"),
    (b"true", "is a boolean"),
    (b"17", "is a number"),
    (b'"Rain."', "is a string"),
    (b"[]", "is an array"),
    (b"{}", "none of the fields text, content, body, title"),
    (b'{"text": null, "title": null}', "no text"),
    (b'{"title": 5}', "no text"),
    (b'{"text": 5}', "text in 'text' is a number; it must be a string"),
    (b'{"text": "", "body": ["Rain."]}', "text in 'body' is an array"),
    (b'{"text": {"p": "Rain."}, "title": "Storm"}', "text in 'text' is an object"),
]

IDS = [
    ('"a-1"', "a-1"),
    ("17", "17"),
    ("-17", "-17"),
    ("123456789012345678901234567890", "123456789012345678901234567890"),
    ("17.0", None),
    ("true", None),
    ('""', None),
    ('"  "', None),
    ("null", None),
    ("[1]", None),
    (json.dumps("é" * 128), "é" * 128),
    (json.dumps("é" * 128 + "x"), f"xxh3_128:{xxhash.xxh3_128_hexdigest((chr(233) * 128 + chr(120)).encode())}"),
]


def parsed(value: bytes | str, fields: Fields = Fields()) -> Article:  # noqa: B008 - immutable
    """The article, which there must be."""
    article = parse_article(value.encode() if isinstance(value, str) else value, fields, LIMIT)
    assert isinstance(article, Article), article
    return article


@pytest.mark.parametrize(("value", "text"), READABLE)
def test_the_text_is_the_first_that_is_not_blank_else_the_title(value: str, text: str) -> None:
    """Text fields come in their order, then the title; blank text is still an article; a lone surrogate is U+FFFD."""
    assert parsed(value).text == text


@pytest.mark.parametrize(("value", "reason"), UNREADABLE, ids=range(len(UNREADABLE)))
def test_what_is_no_article_is_set_aside_with_the_reason(value: bytes, reason: str) -> None:
    """Unreadable bytes give one sentence with the numbers in it."""
    content = parse_article(value, Fields(), LIMIT)
    assert isinstance(content, SetAside)
    assert content.kind is Kind.UNREADABLE
    assert reason in str(content.reason)
    assert str(content.reason).endswith(".")


@pytest.mark.parametrize(("written", "id_"), IDS)
def test_an_id_is_a_string_or_an_integer_in_decimal(written: str, id_: str | None) -> None:
    """Other types, empty and blank ones are no id; one longer than 256 bytes of UTF-8 is hashed and says so."""
    assert parsed(f'{{"text": "Rain.", "id": {written}}}').id == id_


@pytest.mark.parametrize(
    ("written", "time", "unparsable"),
    [
        ('{"meta": {"published": "2024-02-29T12:00:00Z"}}', 1_709_208_000_000, False),
        ('{"meta": {"published": 1709208000}}', 1_709_208_000_000, False),
        ('{"meta": {"published": "yesterday"}}', None, True),
        ('{"meta": {"published": null}}', None, False),
        ('{"meta": "2024"}', None, False),
        ("{}", None, False),
    ],
)
def test_the_time_is_read_from_its_path(written: str, time: int | None, unparsable: bool) -> None:  # noqa: FBT001 - a case's column
    """A time that cannot be read is told from one that is missing."""
    article = parsed(f'{{"text": "Rain.", {written[1:]}'.replace(", }", "}"), TIMED)
    assert (article.time, article.time_unparsable) == (time, unparsable)


def test_without_a_time_field_no_time_is_read() -> None:
    """The record's timestamp is the event time by default."""
    assert parsed('{"text": "Rain.", "time": "nonsense"}').time_unparsable is False


def test_paths_are_dotted() -> None:
    """Every field can stand inside objects; what is no object holds nothing."""
    fields = Fields(
        text=("article.body",), title="article.head", id="meta.id", source="meta.from.name", language="meta.l"
    )
    value = '{"article": {"body": "Rain."}, "meta": {"id": 5, "from": "agency", "l": "de"}}'
    assert parsed(value, fields) == Article(id="5", text="Rain.", language="de")


def test_source_and_language_are_bounded_strings() -> None:
    """They become labels: longer ones are cut, and what is no string, or blank, is none."""
    article = parsed(json.dumps({"text": "Rain.", "source": "s" * 1000, "lang": ["en"]}))
    assert article.source == "s" * MAX_LABEL_CHARACTERS
    assert article.language is None
    assert parsed('{"text": "Rain.", "source": " "}').source is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["text", "title", "id", "meta", "published"]), inner)
    ),
)


@given(
    value=st.one_of(
        st.binary(),
        st.text(st.characters(codec=None)).map(lambda text: json.dumps({"text": text, "id": text}).encode()),
        JSON.map(lambda one: json.dumps(one).encode()),
        JSON.map(lambda one: json.dumps({"text": "Rain.", "meta": one, "id": one, "lang": one}).encode()),
        st.text(alphabet='{}[]":,\\ud83dntex 0-.e').map(str.encode),
    )
)
def test_no_bytes_make_it_raise(value: bytes) -> None:
    """Whatever comes: an article whose strings are UTF-8, or a printable reason of bounded length."""
    content = parse_article(value, TIMED, LIMIT)
    if isinstance(content, SetAside):
        assert str(content.reason).isprintable()
        assert 0 < len(str(content.reason)) <= MAX_REASON_CHARACTERS
    else:
        "".join(filter(None, (content.text, content.id, content.source, content.language))).encode()
        assert content.time is None or not content.time_unparsable
