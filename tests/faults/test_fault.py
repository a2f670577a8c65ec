"""A fault happens where and when it must, and nowhere else."""

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from stream_dedup.kafka.observer import Stage
from stream_dedup.kafka.points import Point
from stream_dedup.kafka.transport import Input
from tests.faults.fault import Fault, armed, decode_fault

HERE, ELSEWHERE = Input("name.decide", "in", 0), Input("name.fingerprint", "in", 0)


@pytest.fixture
def struck() -> Iterator[list[int]]:
    """The signals that this process is given."""
    signals: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        signals.append(number)

    before = signal.signal(signal.SIGUSR1, note)
    yield signals
    signal.signal(signal.SIGUSR1, before)


def test_a_fault_happens_at_the_nth_time_that_its_stage_reaches_its_point(struck: list[int]) -> None:
    """Other points and the other stage do not count, and it happens once."""
    reached = armed(Fault(Point.COMMITTED, Stage.DECIDE, nth=2, by=signal.SIGUSR1))
    told = []
    for point, of in [
        (Point.COMMITTED, HERE),
        (Point.COMMITTED, ELSEWHERE),
        (Point.COMMITTING, HERE),
        (Point.COMMITTED, HERE),
        (Point.COMMITTED, HERE),
    ]:
        reached(point, of)
        told.append(len(struck))
    assert told == [0, 0, 0, 1, 1]


def test_a_fault_comes_through_a_command_line() -> None:
    """As it was, with its delay and its signal."""
    fault = Fault(Point.COMMITTING, Stage.FINGERPRINT, 3, 0.01, signal.SIGSTOP)
    assert decode_fault(fault.program[-1]) == fault
