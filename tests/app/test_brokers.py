"""What is said while a local Kafka starts."""

import sys
from pathlib import Path

import pytest

from stream_dedup.app.brokers import STARTING, started_broker
from stream_dedup.errors import LocalBrokerError


@pytest.mark.parametrize(("terminal", "said"), [(True, f"{STARTING}\n"), (False, "")])
async def test_a_terminal_is_not_left_without_a_word_while_kafka_starts(
    terminal: bool,  # noqa: FBT001 - a case
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is said before Kafka is there or fails, and to people alone."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    (tmp_path / "file").touch()
    with pytest.raises(LocalBrokerError):
        async with started_broker(tmp_path / "file", None):
            pass
    assert capsys.readouterr().err == said
