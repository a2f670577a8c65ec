"""Two texts shortened to where they differ, with the differing words marked, fit for a terminal."""

from difflib import SequenceMatcher

from rich.text import Text

from stream_dedup.app.plain_text import plain

BEFORE = 40
"""Characters shown before the first difference."""
LOOKED_AT = 2000
"""Characters of each text that are compared from the first difference on: enough for what is shown."""
MARK = "bold yellow"


def around_difference(left: str, right: str, limit: int) -> tuple[Text, Text]:
    """Both texts from a little before their first difference, at most so many characters, what differs marked."""
    left, right = (" ".join(text.split()) for text in (left, right))
    first = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    begin = max(0, first - BEFORE)
    ours, theirs = (plain(text[begin : begin + LOOKED_AT], limit) for text in (left, right))
    shown = Text("…" if begin else ""), Text("…" if begin else "")
    for kind, i, j, k, m in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        style = "" if kind == "equal" else MARK
        shown[0].append(ours[i:j], style)
        shown[1].append(theirs[k:m], style)
    return shown
