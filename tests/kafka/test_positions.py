"""Where a stage may begin to read."""

import pytest

from stream_dedup.errors import LogRefusedError
from stream_dedup.kafka.changelog import RawProgress
from stream_dedup.kafka.positions import Start, TopicIds, decide_start, marked_start, unmarked_start
from stream_dedup.kafka.transport import Bounds, Input

RAW = Input("g.fingerprint", "raw", 1)
FINGERPRINTED = Input("g.decide", "fingerprinted", 0)
EMPTY = Bounds(0, 0)


IDS = TopicIds("raw-id", "fingerprinted-id")
MARK = "raw-id fingerprinted-id"
READ = RawProgress("raw-id", {0: 5, 1: 8})


@pytest.mark.parametrize(
    ("committed", "log", "progress", "offset", "warns"),
    [
        pytest.param(None, Bounds(7, 20), None, 7, False, id="first start: the earliest article"),
        pytest.param(None, EMPTY, None, 0, False, id="first start on an empty topic"),
        pytest.param(9, Bounds(7, 20), None, 9, True, id="first start where somebody chose"),
        pytest.param(
            None, Bounds(3, 9), RawProgress("raw-id", {0: 5}), 3, False, id="added later: the earliest article"
        ),
        pytest.param(3, Bounds(3, 9), RawProgress("raw-id", {0: 5}), 3, False, id="added later, set to its start"),
        pytest.param(8, Bounds(3, 9), READ, 8, False, id="set to where reading ended"),
        pytest.param(9, Bounds(9, 20), READ, 9, True, id="deleted unread, and set to what is there"),
    ],
)
def test_fingerprinting_starts(
    committed: int | None, log: Bounds, progress: RawProgress | None, offset: int, *, warns: bool
) -> None:
    """A first start and a partition added later begin at the earliest article, unless somebody chose before."""
    start = unmarked_start(RAW, committed, log, IDS, progress)
    assert (start.offset, start.warning is not None) == (offset, warns)


@pytest.mark.parametrize(
    ("committed", "log", "progress", "says"),
    [
        pytest.param(None, Bounds(0, 20), READ, "no committed offset for raw-1, yet .* up to offset 8", id="lost"),
        pytest.param(7, Bounds(0, 20), READ, "set to 7 .* up to offset 8: .* repeated", id="set back"),
        pytest.param(9, Bounds(0, 20), READ, "set to 9 .* up to offset 8: .* left out", id="set forward"),
        pytest.param(
            9, Bounds(3, 20), RawProgress("raw-id", {}), "set to 9 .* offset 3: .* left out", id="nothing read"
        ),
        pytest.param(None, Bounds(0, 20), RawProgress("other", {1: 8}), "made anew", id="another topic, offset lost"),
        pytest.param(8, Bounds(0, 20), RawProgress("other", {1: 8}), "made anew", id="another topic, offset set"),
        pytest.param(8, Bounds(9, 20), READ, "1 offsets were deleted unread", id="deleted unread"),
        pytest.param(30, Bounds(0, 20), None, "lost its end", id="chosen beyond the end"),
    ],
)
def test_an_offset_in_doubt_is_refused(
    committed: int | None, log: Bounds, progress: RawProgress | None, says: str
) -> None:
    """What was handed over tells whether an offset was lost or set; nothing is dropped or repeated in silence."""
    with pytest.raises(LogRefusedError, match=f"{says}.*reset --from changelog"):
        unmarked_start(RAW, committed, log, IDS, progress)


@pytest.mark.parametrize(
    ("committed", "log", "mark", "says"),
    [
        pytest.param(8, Bounds(3, 9), MARK, None, id="goes on where it was"),
        pytest.param(9, Bounds(9, 9), MARK, None, id="everything read and deleted"),
        pytest.param(30, Bounds(0, 20), MARK, "lost its end", id="committed beyond the log's end"),
        pytest.param(5, Bounds(9, 20), MARK, "4 offsets were deleted unread", id="deleted unread"),
        pytest.param(5, Bounds(0, 20), "other fingerprinted-id", "raw has the id raw-id.*made anew", id="raw anew"),
        pytest.param(
            5, Bounds(0, 20), "raw-id other", "now it has fingerprinted-id: it was made anew", id="output anew"
        ),
    ],
)
def test_an_offset_of_the_stages_own(committed: int, log: Bounds, mark: str, says: str | None) -> None:
    """It is gone on with where both topics are those it was committed under, and the log still has its place."""
    if says is None:
        assert marked_start(RAW, committed, mark, log, IDS) == Start(committed)
    else:
        with pytest.raises(LogRefusedError, match=f"{says}.*reset --from changelog"):
            marked_start(RAW, committed, mark, log, IDS)


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
        pytest.param(6, 6, Bounds(0, 5), Bounds(2, 5), "lost its end", id="input lost its end"),
    ],
)
def test_deciding_refuses(
    restored: int | None, committed: int | None, log: Bounds, changelog: Bounds, says: str
) -> None:
    """A changelog, an offset and an input that contradict each other are refused."""
    with pytest.raises(
        LogRefusedError, match=f"{says}.*reset --from {'changelog' if restored is not None else 'committed'}"
    ):
        decide_start(FINGERPRINTED, restored, committed, log, changelog)
