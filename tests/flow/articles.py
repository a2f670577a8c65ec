"""A deterministic flow of articles with known repetition, in two languages, made of words of no meaning."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from stream_dedup.kafka.transport import Headers

SYLLABLES = (
    "城市图书馆建设工程记者现场看到居民表示政府部门发布消息经济发展交通运输学校医院公园河流天气项目计划完成开放活动"
)
WORDS = [
    "harbour",
    "council",
    "bridge",
    "library",
    "weather",
    "morning",
    "officials",
    "announced",
    "project",
    "budget",
    "river",
    "schools",
    "hospital",
    "market",
    "residents",
    "evening",
    "report",
    "station",
    "railway",
    "festival",
    "garden",
    "museum",
    "tower",
    "meeting",
    "plan",
    "season",
]


@dataclass(frozen=True, slots=True)
class Article:
    """One raw record to be published."""

    partition: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


def flow(count: int, *, seed: int, partitions: int, start: int) -> list[Article]:
    """`count` articles: about a third repeat an earlier one, exactly or nearly; some are short, broken or null.

    Args:
        count: how many.
        seed: the same seed gives the same flow.
        partitions: of the raw topic.
        start: timestamp of the first, ms; each next one is a second later.
    """
    dice = random.Random(seed)  # noqa: S311 - a test's flow, nothing secret
    texts: list[str] = []
    articles = []
    for number, value in enumerate(_values(dice, texts, count)):
        key = None if value is None or dice.random() < 0.3 else b"key-%d" % dice.randrange(count)
        headers = (("source", b"wire"), ("dedup-verdict", b"forged")) if dice.random() < 0.1 else ()
        partition = dice.randrange(partitions)
        articles.append(Article(partition, start + number * 1_000, key, value, headers))
    return articles


def _values(dice: random.Random, texts: list[str], count: int) -> Iterator[bytes | None]:
    for number in range(count):
        chance = dice.random()
        if chance < 0.01:
            yield None
        elif chance < 0.03:
            yield b'{"text": broken'
        elif chance < 0.05:
            yield _json(number, "快讯")
        elif chance < 0.35 and texts:
            yield _json(number, _edited(dice, dice.choice(texts)))
        else:
            texts.append(_text(dice))
            yield _json(number, texts[-1])


def _json(number: int, text: str) -> bytes:
    return msgspec.json.encode({"id": f"article-{number}", "source": f"wire-{number % 3}", "lang": "zh", "text": text})


def _text(dice: random.Random) -> str:
    if dice.random() < 0.5:
        return "。".join("".join(dice.choices(SYLLABLES, k=dice.randint(10, 40))) for _ in range(dice.randint(6, 20)))
    return ". ".join(" ".join(dice.choices(WORDS, k=dice.randint(8, 20))) for _ in range(dice.randint(5, 15)))


def _edited(dice: random.Random, text: str) -> str:
    edits: Sequence[str] = (
        text,
        "  " + text.replace("。", "。\n").replace(". ", ".\n"),
        "【晨报讯】" + text,
        text + " (editor: the night desk)",
        text[: len(text) - len(text) // 20],
    )
    return dice.choice(edits)
