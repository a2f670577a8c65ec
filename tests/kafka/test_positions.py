"""Where a stage may begin to read."""

import pytest

from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.positions import decide_start, fingerprint_start
from stream_dedup.kafka.transport import Bounds, Input

RAW = Input("g.fingerprint", "raw", 1)
FINGERPRINTED = Input("g.decide", "fingerprinted", 0)
EMPTY = Bounds(0, 0)


@pytest.mark.parametrize(
    ("committed", "log", "begun", "offset"),
    [
        pytest.param({}, Bounds(7, 20), False, 7, id="first start: the earliest article"),
        pytest.param({}, EMPTY, False, 0, id="first start on an empty topic"),
        pytest.param({0: 5}, Bounds(3, 9), True, 3, id="partition added later: the earliest article"),
        pytest.param({0: 5, 1: 8}, Bounds(3, 9), True, 8, id="goes on where it was"),
        pytest.param({1: 9}, Bounds(9, 9), True, 9, id="everything read and deleted"),
    ],
)
def test_fingerprinting_starts(committed: dict[int, int], log: Bounds, offset: int, *, begun: bool) -> None:
    """A first start and a partition added later begin at the earliest article, all else at the committed offset."""
    assert fingerprint_start(RAW, committed, log, begun=begun).offset == offset


@pytest.mark.parametrize(
    ("committed", "log", "says"),
    [
        pytest.param({}, Bounds(0, 20), "lost or have expired", id="offsets lost"),
        pytest.param({1: 30}, Bounds(0, 20), "made anew", id="committed beyond the log's end"),
        pytest.param({1: 5}, Bounds(9, 20), "4 offsets were deleted unread", id="deleted unread"),
    ],
)
def test_fingerprinting_refuses(committed: dict[int, int], log: Bounds, says: str) -> None:
    """Nothing is dropped or repeated in silence: a doubtful start is refused, with the numbers."""
    with pytest.raises(LogRefusedError, match=says):
        fingerprint_start(RAW, committed, log, begun=True)


@pytest.mark.parametrize(
    ("restored", "committed", "log", "changelog", "offset", "warns"),
    [
        pytest.param(None, None, Bounds(0, 9), EMPTY, 0, False, id="first start"),
        pytest.param(None, None, Bounds(0, 9), Bounds(0, 2), 0, False, id="killed in its first transaction"),
        pytest.param(6, 6, Bounds(4, 9), Bounds(2, 5), 6, False, id="goes on"),
        pytest.param(6, None, Bounds(4, 9), Bounds(2, 5), 6, True, id="offset missing: the changelog's position"),
        pytest.param(6, 3, Bounds(4, 9), Bounds(2, 5), 6, True, id="offset lower: the changelog's position"),
        pytest.param(9, 9, Bounds(9, 9), Bounds(2, 5), 9, False, id="all decided and trimmed"),
    ],
)
def test_deciding_starts(
    restored: int | None, committed: int | None, log: Bounds, changelog: Bounds, offset: int, *, warns: bool
) -> None:
    """The changelog's position is the authority; a missing or lower committed offset goes on there with a warning."""
    start = decide_start(FINGERPRINTED, restored, committed, log, changelog)
    assert start.offset == offset
    assert (start.warning is not None) == warns


@pytest.mark.parametrize(
    ("restored", "committed", "log", "changelog", "says"),
    [
        pytest.param(6, 7, Bounds(4, 9), Bounds(2, 5), "committed offset 7", id="committed above the changelog"),
        pytest.param(None, 4, Bounds(0, 9), EMPTY, "changelog is empty", id="changelog gone"),
        pytest.param(None, None, Bounds(0, 9), Bounds(8, 8), "changelog is empty", id="changelog emptied"),
        pytest.param(None, None, Bounds(3, 9), EMPTY, "deleted unread", id="first start on a trimmed input"),
        pytest.param(6, 6, Bounds(8, 9), Bounds(2, 5), "2 offsets were deleted unread", id="input deleted unread"),
        pytest.param(6, 6, Bounds(0, 5), Bounds(2, 5), "made anew", id="input made anew"),
    ],
)
def test_deciding_refuses(
    restored: int | None, committed: int | None, log: Bounds, changelog: Bounds, says: str
) -> None:
    """A changelog, an offset and an input that contradict each other are refused."""
    with pytest.raises(LogRefusedError, match=says):
        decide_start(FINGERPRINTED, restored, committed, log, changelog)
