"""The rules of deciding."""

from dataclasses import replace

import pytest

from stream_dedup.core.rules import Rules
from stream_dedup.errors import SettingsError

RULES = Rules(radius=3, threshold=0.55, window=100, max_entries=1000, keep_revisions=False, vetoes=True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("radius", -1),
        ("radius", 8),
        ("threshold", -0.1),
        ("threshold", 1.1),
        ("threshold", float("nan")),
        ("window", 0),
        ("max_entries", 0),
    ],
)
def test_rules_out_of_range_are_refused(field: str, value: float) -> None:
    """The message has the value and the range."""
    with pytest.raises(SettingsError, match=f"{value}.*; choose"):
        Rules(**{**{name: getattr(RULES, name) for name in Rules.__slots__}, field: value})


@pytest.mark.parametrize(
    ("earlier", "later", "revives"),
    [(100, 100, False), (100, 99, False), (100, 101, True), (100, None, True), (None, 100, False), (None, None, False)],
)
def test_only_a_longer_window_could_revive(earlier: int | None, later: int | None, revives: bool) -> None:  # noqa: FBT001
    """What a window has left behind is behind every shorter one."""
    assert replace(RULES, window=later).may_revive(replace(RULES, window=earlier)) is revives


def test_changes_are_told_with_old_and_new_value() -> None:
    """Only what differs, by the rule's name."""
    assert RULES.changes(RULES) == {}
    assert replace(RULES, window=None, vetoes=False).changes(RULES) == {
        "window": "0:00:00.100000 -> none",
        "vetoes": "True -> False",
    }
