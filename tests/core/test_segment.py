"""Words: rjieba against jieba on runs of Han, scripts without spaces, and the count for the limit on short texts."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import jieba
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.runs import runs_of
from stream_dedup.core.segment import RJIEBA, by_script, segment
from stream_dedup.core.text import fold, runs
from stream_dedup.core.words import count_words

RUNS = [
    "昨天上午市图书馆新馆在城东新区正式对外开放",
    "记者在现场看到不少市民早早在门口排队等候入馆",
    "中国人民银行宣布下调金融机构存款准备金率",
    "南京市长江大桥将于下月起分段封闭施工",
    "这家公司去年的净利润比前年增长了三成以上",
    "结婚的和尚未结婚的都要按规定登记",
    "气象台预计未来三天沿海地区有大到暴雨",
    "研究生命起源的科学家获得了今年的奖项",
    "小明硕士毕业于中国科学院计算所后在日本京都大学深造",
    "他来到了网易杭研大厦",
    "乒乓球拍卖完了",
    "工信处女干事每月经过下属科室都要亲口交代交换机等技术性器件的安装工作",
    "高铁票价将实行浮动定价机制旺季上浮淡季打折",
    "永和服装饰品有限公司与两家电商平台签署合作协议",
]
SHORT = Path(__file__).parents[1] / "cases" / "short.jsonl"
SHORT_TEXTS = [json.loads(line)["text"] for line in SHORT.read_text(encoding="utf-8").splitlines()]


def _words(raw: str) -> list[str]:
    return segment(RJIEBA, by_script(runs(fold(raw))))


def _count(raw: str) -> int:
    return int(count_words(runs_of([fold(raw)]), RJIEBA)[0])


@pytest.mark.parametrize("run", RUNS)
def test_accurate_mode_is_that_of_jieba(run: str) -> None:
    """A run of Han is cut by rjieba as it is by jieba."""
    assert RJIEBA.accurate(run) == jieba.lcut(run)


@pytest.mark.parametrize("run", RUNS)
def test_full_mode_has_the_words_of_jieba(run: str) -> None:
    """Full mode finds the words of two characters and more that jieba's full mode finds, as often."""
    ours = Counter(word for word in RJIEBA.full(run) if len(word) > 1)
    assert ours == Counter(word for word in jieba.cut(run, cut_all=True) if len(word) > 1)


def test_runs_are_cut_one_by_one() -> None:
    """Words never reach over a run's end, and cutting all runs at once gives the words of each alone."""
    together = segment(RJIEBA, by_script(RUNS))
    assert together == [word for run in RUNS for word in segment(RJIEBA, by_script([run]))]
    assert "长江" not in _words("南京市长，江大桥")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        pytest.param("The Fed raised rates by 0.25%", ["the", "fed", "raised", "rates", "by", "0", "25"], id="Latin"),
        pytest.param("Прошлой зимой", ["прошлой", "зимой"], id="Cyrillic"),
        pytest.param("हिन्दी समाचार", ["हिन्दी", "समाचार"], id="Devanagari with its marks"),
        pytest.param("ニュース", ["ニュ", "ュー", "ース"], id="kana"),
        pytest.param("の", ["の"], id="one kana"),
        pytest.param("ข่าว", ["ข่า", "าว"], id="Thai"),
        pytest.param("ຂ່າວ", ["ຂ່າ", "າວ"], id="Lao"),
        pytest.param("ព័ត៌", ["ព័ត៌"], id="Khmer"),
        pytest.param("သတင်း", ["သတ", "တင်း"], id="Myanmar"),
        pytest.param("གསར་འགྱུར", ["གས", "སར", "འགྱུ", "གྱུར"], id="Tibetan"),
        pytest.param("뉴스 속보", ["뉴스", "속보"], id="Hangul"),
        pytest.param("我爱电脑", ["我", "爱", "电", "电脑", "脑"], id="Han"),
        pytest.param("，。！😀$", [], id="punctuation and symbols"),
    ],
)
def test_words_of_scripts(raw: str, words: list[str]) -> None:
    """Scripts with spaces are cut at them; those without give pairs of letters with their signs."""
    assert _words(raw) == words


@pytest.mark.parametrize("raw", SHORT_TEXTS)
def test_short_texts_have_less_than_eight_words(raw: str) -> None:
    """Blank texts, punctuation, symbols and a word or two stay below the default limit."""
    assert _count(raw) < 8


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        pytest.param("我很想要打游戏，但是女朋友会生气！", 8, id="short Han in accurate mode"),
        pytest.param("字" * 200, 100, id="long Han, two characters a word"),
        pytest.param("Apple 发布 iPhone 16", 4, id="mixed"),
        pytest.param("ニュース", 2, id="kana, two characters a word"),
        pytest.param("one, two - three", 3, id="spaced"),
    ],
)
def test_count_is_what_a_reader_counts(raw: str, count: int) -> None:
    """Words in words are not counted."""
    assert _count(raw) == count


@given(st.text(max_size=200))
def test_never_more_words_than_characters(raw: str) -> None:
    """A text is never counted to have more words than letters, marks and digits."""
    assert _count(raw) <= sum(map(len, runs(fold(raw))))


def test_jieba_is_not_loaded_in_production() -> None:
    """Fingerprinting loads no jieba: it would print to stderr and write a cache file."""
    program = (
        "import sys; from stream_dedup.core.scheme import profile; profile('strict').scheme.fingerprint(['我爱北京']); "
        "sys.exit('jieba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
