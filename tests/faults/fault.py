"""A fault: what is to happen to a worker, at which point."""

import os
import signal
import sys
import threading
from dataclasses import dataclass

import msgspec

from stream_dedup.kafka.observer import Stage
from stream_dedup.kafka.points import Point, Reached
from stream_dedup.kafka.transport import Input


@dataclass(frozen=True, slots=True)
class Fault:
    """The process gets a signal when one of its stages reaches a point."""

    point: Point
    stage: Stage
    nth: int = 1
    """At which time that it is reached by any partition's loop of the process, from 1."""
    delay: float = 0.0
    """Seconds after it was reached: for what happens while something is under way."""
    by: signal.Signals = signal.SIGKILL

    def __str__(self) -> str:
        return f"{self.stage} {self.point} #{self.nth}" + (f" +{self.delay * 1000:.0f} ms" if self.delay else "")

    @property
    def program(self) -> tuple[str, ...]:
        """What runs a worker that meets it."""
        return sys.executable, "-m", "tests.faults.dying_worker", msgspec.json.encode(self).decode()


def decode_fault(encoded: str) -> Fault:
    """The fault of a program's argument."""
    return msgspec.json.decode(encoded, type=Fault)


def armed(fault: Fault) -> Reached:
    """What makes the fault happen in the process that calls it."""
    left = fault.nth

    def strike() -> None:
        os.kill(os.getpid(), fault.by)

    def reached(point: Point, of: Input) -> None:
        nonlocal left
        if point is not fault.point or not of.group.endswith(f".{fault.stage}"):
            return
        left -= 1
        if left == 0 and fault.delay:
            threading.Timer(fault.delay, strike).start()
        elif left == 0:
            strike()

    return reached
