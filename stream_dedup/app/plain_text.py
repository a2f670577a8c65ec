"""Text from elsewhere, made fit for a terminal, a log line or a page."""

import unicodedata

ELLIPSIS = "…"
HOSTILE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that move the cursor, reorder or hide text, or have no glyph: control, format (bidi and
zero-width), surrogate, private, unassigned, line and paragraph separators."""


def plain(text: str, limit: int) -> str:
    """One line of at most `limit` characters without anything that a terminal would act on.

    White space of any kind becomes one blank, everything else of `HOSTILE_CATEGORIES` its escape.
    """
    # Escapes and runs of white space change the length, so that the cut is made before and after: the first keeps a
    # text of megabytes from being walked through.
    words = " ".join(text[: 4 * limit].split())
    escaped = "".join(_escape(character) for character in words)
    if len(escaped) <= limit and len(text) <= 4 * limit:
        return escaped
    return escaped[: limit - 1] + ELLIPSIS


def _escape(character: str) -> str:
    if unicodedata.category(character) not in HOSTILE_CATEGORIES:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
