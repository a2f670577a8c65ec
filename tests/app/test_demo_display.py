"""How the demo shows itself."""

import pytest

from stream_dedup.app.demo_display import demo_display
from stream_dedup.app.verdict_line import VerdictLine
from stream_dedup.app.watch import Shown

LONGEST = Shown(VerdictLine("b", "duplicate", "unfingerprintable", "a", 1, 0.9, 999, "raw-0-0", None), "headline")
"""A line with the longest words there are."""


@pytest.mark.parametrize("columns", [80, 100])
def test_verdict_and_kind_are_whole_on_a_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a narrow terminal has no room for is taken from the headlines, never from verdict and kind."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    with demo_display(None) as display:
        display.show(LONGEST)
    out = capsys.readouterr().out
    assert all(word in out for word in ("999", "duplicate", "unfingerprintable", "headline"))


@pytest.mark.parametrize(("activate", "times"), [("source .venv/bin/activate", 1), (None, 0)])
def test_the_next_steps_work_as_they_are_shown(
    activate: str | None, times: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the terminal does not know our command, the steps begin with what makes it known."""
    with demo_display(activate) as display:
        display.summary()
    assert capsys.readouterr().out.count("source .venv/bin/activate") == times


def test_an_original_is_named_by_its_own_headline(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A revision has its original's id, and what is found near later still repeats the original."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with demo_display(None) as display:
        display.show(Shown(VerdictLine("a", "unique", "new", None, None, None, 0, "raw-0-0", None), "First"))
        display.show(Shown(VerdictLine("a", "duplicate", "revision", "a", 1, 0.9, 1, "raw-0-1", None), "Second"))
    assert capsys.readouterr().out.count("First") == 2
