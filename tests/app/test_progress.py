"""The bar on long work."""

import pytest

from stream_dedup.app.progress import progress


@pytest.mark.parametrize("total", [None, 100])
def test_a_terminal_shows_how_far_the_work_is(
    total: int | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On stderr, so that the output stays clean; gone when the work is done."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress("dedup", total) as show:
        show(1234, 50)
    out, err = capsys.readouterr()
    assert out == ""
    assert "1,234 articles" in err


def test_elsewhere_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Not in a log, not in a pipe."""
    with progress("dedup", 100) as show:
        show(1234, 50)
    assert capsys.readouterr() == ("", "")
