"""Which facts a text has, and in which contexts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.segment import by_script
from stream_dedup.core.text import fold, runs
from tests.core.plain_facts import facts_of


def found(text: str) -> list[str]:
    """The facts of a text, each as `kind before_after=value`."""
    folded = fold(text)
    facts = facts_of(text, folded, unspaced=by_script(runs(folded)).mostly_unspaced)
    return [f"{fact.kind.name.lower()} {fact.context}={fact.value}" for fact in facts]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        pytest.param("", [], id="empty"),
        pytest.param("水务局今天召开会议，部署下一阶段的工作。", [], id="no facts, Han"),
        pytest.param("They met again and talked about the rain.", [], id="no facts, words"),
        pytest.param("全年成交额2352亿元", ["number 交额_元=235200000000"], id="number with a myriad"),
        pytest.param("面积约四万二千平方米", ["number 积约_平=42000"], id="Chinese number"),
        pytest.param("定于8月28日10时开拍", ["date 定于_月=8", "date 月_日=28", "number 日_时=10"], id="date in parts"),
        pytest.param("定于三月五日九时开拍", ["date 定于_月=3", "date 月_日=5", "number 日_时=9"], id="one numeral"),
        pytest.param("一个人从三明出发到四川", [], id="numerals in words are no numbers"),
        pytest.param("本期开奖号码为01、04、18，欢迎参与", [f"number 码为_欢={n}" for n in (1, 4, 18)], id="list"),
        pytest.param("股价（GOOG）升至每股12.50美元", ["name 股价_升=goog", "number 每股_美=12.5"], id="ticker in Han"),
        pytest.param("中新网8月5日电 本月新增就业30人", ["number 就业_人=30"], id="a dateline is no fact"),
        pytest.param("记者11月1日晚间消息，售出30张", ["number 售出_张=30"], id="nor is the day of a portal's report"),
        pytest.param("paid 59 cents a share", ["number pai_cen=59"], id="number"),
        pytest.param("paid fifty-nine or three cents", ["number or_cen=3"], id="number word"),
        pytest.param(
            "payable April 30 to holders",
            ["date pay_to=apr", "number pay_to=30"],
            id="neighbours share the words around them",
        ),
        pytest.param("may march on", [], id="months have a capital letter"),
        pytest.param(
            "The board of Durrant Tools met.",
            ["name of_met=durrant", "name of_met=tools"],
            id="names have a capital letter inside a sentence",
        ),
        pytest.param("It rained. Boats sank! Cars stood? Trains ran.", [], id="a sentence begins with one"),
        pytest.param("cts Record April 10", ["date rec_=apr", "number rec_=10"], id="the label of a number is no name"),
        pytest.param("rose 5 dollars", ["number ros_dol=5"], id="a word's first letters: dollar and dolars are one"),
        pytest.param("经研究，李国强同志到任", ["name 同志到=李国强"], id="a name before a title"),
        pytest.param(
            "海门口供电公司和滨州市的气象台",
            ["name 公司和=口供电", "name 市的=和滨州", "name 象台=市的气"],
            id="before other cues",
        ),
        pytest.param("THE BOARD OF DURRANT TOOLS MET", [], id="capitals throughout tell no names"),
        pytest.param("it rose ($5.60) to 3/16 pct", ["number ros_to=5.6", "number to_pct=3/16"], id="punctuation"),
        pytest.param("Встреча с Иваном прошла 4 марта", ["name с_про=иваном", "number про_мар=4"], id="Russian"),
    ],
)
def test_facts(text: str, facts: list[str]) -> None:
    """Each kind, its value in one notation, and the ordinary words on both sides."""
    assert found(text) == facts


WIDE = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)})
PIECES = st.lists(
    st.sampled_from(
        ["降息", "据报", "12", "3.5", "四万二千", "8月", "5日", "Apple", "board", "of", "said", "三", "Two"]
    ),
    min_size=1,
    max_size=30,
)


@given(PIECES, st.sampled_from(["  ", "\n", "\t", " \r\n  "]))
def test_facts_do_not_depend_on_white_space(pieces: list[str], space: str) -> None:
    """More of it, line ends, and some at either end."""
    assert found(space + space.join(pieces) + space) == found(" ".join(pieces))


@given(PIECES)
def test_facts_do_not_depend_on_width(pieces: list[str]) -> None:
    """Full-width letters and digits are the same facts."""
    text = " ".join(pieces)
    assert found(text.translate(WIDE)) == found(text)


@given(st.text(st.one_of(st.sampled_from("一二十万亿3.,aB 年月,.!?-'国会"), st.characters()), max_size=80))
def test_any_text_has_facts_or_none(text: str) -> None:
    """Surrogates, controls and mixed scripts raise nothing, and no value is empty."""
    assert all(fact.split("=", 1)[1] for fact in found(text))
