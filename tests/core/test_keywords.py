"""Keywords against jieba.analyse, and that loading jieba leaves no trace."""

import subprocess
import sys
from pathlib import Path

import jieba.analyse
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.core.keywords import keywords
from tests.core.test_segment import RUNS

TEXTS = [
    "。".join(RUNS),
    "公司2018年上半年营收12.5亿元，同比增长30%，其中A股业务占比达到45.6%，1号店与4S店销量分别为3000和2500台。",
    "他在AT&T工作10年后于1999年加入C#团队，SFC#和C++也是他的专长，T恤上印着3.14。",
    "這家公司去年的淨利潤比前年增長了三成以上，記者在現場看到不少市民早早在門口排隊等候入館。",
    "The bank said on Monday that the rate of the loan is 2.5%, the bank's lowest-ever -- and not the last.",
    "上17下、3中；于10-12月，年年2020年年初。乒5乓",
    "......——%%%+++\r\n\t 　１２３ＡＢＣ é",
    "",
]
PIECES = [
    "中",
    "国",
    "于",
    "年",
    "上",
    "初",
    "的",
    "不",
    "银行",
    "有限公司",
    "小明",
    "下月",
    "2018",
    "3",
    ".",
    "%",
    "-",
]
PIECES += ["A", "股", "号店", "1", "T", "恤", "abc", "#", "&", "，", " ", "\n"]


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> None:
    jieba.setLogLevel(60)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("count", [1, 20, 1000])
def test_keywords_are_those_of_jieba(text: str, count: int) -> None:
    """The same words in the same order with weights equal to the last bit."""
    assert keywords(text, count) == jieba.analyse.extract_tags(text, topK=count, withWeight=True)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_keywords_of_mixed_blocks_are_those_of_jieba(text: str) -> None:
    """However Han, digits, letters and signs are mixed."""
    assert keywords(text, 20) == jieba.analyse.extract_tags(text, topK=20, withWeight=True)


def test_loading_is_quiet_and_leaves_no_file(tmp_path: Path) -> None:
    """Nothing on stderr, no cache file in the temporary folder; the strict profile does not load jieba at all."""
    program = (
        "import sys; from stream_dedup.core.scheme import profile\n"
        "profile('strict').scheme.fingerprint(['中国人民银行宣布降息']); assert 'jieba' not in sys.modules\n"
        "profile('thorough').scheme.fingerprint(['中国人民银行宣布降息']); assert 'jieba' not in sys.modules\n"
        "profile('tfidf-top20').scheme.fingerprint(['中国人民银行2018年宣布降息']); assert 'jieba' in sys.modules"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], env={"TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr, list(tmp_path.iterdir())) == (0, "", "", [])
