"""Names in Han text, which has no capital letters: what stands before a word that follows names.

    滨州市气象台发布大风预警  ->  滨州 before 市, 州市气 before 象台

Such words are few, and common to all Chinese news (cities, companies, titles); the names themselves are in no
dictionary. What is found is not always a name (全国城|市), but it is the same in every copy of a text, and the veto
asks only for what was replaced.
"""

import re

from stream_dedup.core.fact import Fact
from stream_dedup.core.text import HAN
from stream_dedup.core.verdict import FactKind

_PLACES = frozenset("省市县区镇乡村路街桥站港")
_ORGANISATIONS = (
    "公司 集团 股份 科技 实业 银行 证券 基金 大学 学院 中学 小学 医院 法院 察院 安局 政府 象台 究所 协会 员会"
)
_SITES = "街道 大道 社区 小区 广场 大厦 机场 水库 景区 片区 电站"
_TITLES = "同志 先生 女士 主任 局长 书记 区长 县长 市长 省长 部长 总理 总统 董事 教授 院士"
_CUES = frozenset(f"{_ORGANISATIONS} {_SITES} {_TITLES}".split())
"""Two characters, the last two of longer ones (气象台, 委员会)."""
_LAST = re.compile(f"[{''.join(sorted(_PLACES | {cue[-1] for cue in _CUES}))}]")
_NAME = re.compile(f"[{HAN}]*$")
_LONGEST = 3
"""Characters of a name that are compared: names that differ mostly differ in the last three."""


def han_names(folded: str) -> list[Fact]:
    """Names before cues, each with its last characters; the context is the cue and the character after it."""
    found = []
    for match in _LAST.finditer(folded):
        end = match.end()
        if folded[end - 2 : end] in _CUES:
            start = end - 2
        elif match[0] in _PLACES:
            start = end - 1
        else:
            continue
        name = folded[max(0, start - _LONGEST) : start]
        if not name.isalpha():
            name = _NAME.search(name)[0]  # type: ignore[index]  # it finds the empty string at least
        if len(name) > 1:
            found.append(Fact(FactKind.NAME, folded[start : end + 1], name))
    return found
