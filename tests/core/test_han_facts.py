"""Facts of a batch of Han texts from loops against those of each text from patterns."""

from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.fact_sketch import slot
from stream_dedup.core.han_facts import unspaced_slots
from stream_dedup.core.han_table import CUES, PLACES
from stream_dedup.core.text import fold
from tests.core.languages import LANGUAGES
from tests.core.plain_facts import facts_of

STORIES = [" ".join(story) for stories in LANGUAGES.values() for story in stories]
PIECES = st.sampled_from(
    [
        *"一二十万亿年月日号时点级3.,a-'/&:国会市ラ的、 é",
        "12",
        "3.5万",
        "8月5日电",
        "2018年",
        "goog",
        "李国强",
        "\U00020000",
        "\U000f0000",
    ]
)
NAMES = st.sampled_from([*sorted(CUES), *PLACES])
TEXTS = st.lists(PIECES | NAMES | st.text(max_size=3), max_size=40).map("".join)


@given(st.lists(TEXTS | st.sampled_from(STORIES), max_size=5))
def test_a_batch_has_the_facts_of_each_text(texts: list[str]) -> None:
    """The same kinds, contexts and values, text by text, in the same order."""
    folded = [fold(one) for one in texts]
    expected = [[slot(fact) for fact in facts_of("", one, unspaced=True)] for one in folded]
    assert unspaced_slots(folded) == expected


def test_every_character_beside_facts() -> None:
    """Each character before, inside and after a number, and in a name."""
    folded = [fold("到{0}12{0}5人和{0}市的{0}国学院三{0}".format(chr(code))) for code in range(0x40000)]
    expected = [[slot(fact) for fact in facts_of("", one, unspaced=True)] for one in folded]
    assert unspaced_slots(folded) == expected
