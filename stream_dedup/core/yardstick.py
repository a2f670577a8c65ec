"""Jaccard similarity as the measured tables have it: a yardstick that shares nothing with the recipes it judges.

Over character 5-grams (Chinese) or word 3-grams (other languages) after NFKC, lower case, and dropping what is no
letter, mark or digit.
"""

import re
import unicodedata

CHARACTERS = 5
WORDS = 3


def grams(text: str, *, chinese: bool) -> frozenset[str]:
    """The different grams of a text; a shorter text is one gram."""
    text = unicodedata.normalize("NFKC", text).lower()
    if chinese:
        letters = re.sub(r"[\W_]+", "", text)
        return frozenset(letters[i : i + CHARACTERS] for i in range(max(1, len(letters) - CHARACTERS + 1)))
    words = re.findall(r"\w+", text)
    return frozenset(" ".join(words[i : i + WORDS]) for i in range(max(1, len(words) - WORDS + 1)))


def gram_jaccard(left: str, right: str, *, chinese: bool) -> float:
    """The share of all grams of two texts that both have, 0 to 1."""
    ours, theirs = grams(left, chinese=chinese), grams(right, chinese=chinese)
    return len(ours & theirs) / max(1, len(ours | theirs))
