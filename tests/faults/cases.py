"""The kill matrix: every point, in each stage that passes it, with one worker and three, at set and random times."""

import random
from collections.abc import Iterator, Sequence

from stream_dedup.kafka.observer import Stage
from stream_dedup.kafka.points import Point
from tests.faults.driver import Case
from tests.faults.fault import Fault

TRANSACTION = (
    Point.BEFORE_BEGIN,
    Point.BETWEEN_SENDS,
    Point.AFTER_SENDS,
    Point.AFTER_OFFSETS,
    Point.COMMITTING,
    Point.COMMITTED,
)
"""Passed with every batch; the others only when a partition changes hands."""
PLACES: Sequence[tuple[Point, Stage]] = (
    *((point, stage) for point in TRANSACTION for stage in Stage),
    (Point.ASSIGNED, Stage.FINGERPRINT),
    (Point.ASSIGNED, Stage.DECIDE),
    (Point.REVOKED, Stage.FINGERPRINT),
    (Point.REVOKED, Stage.DECIDE),
    (Point.RESTORING, Stage.DECIDE),
)
WORKERS = (1, 3)
SCHEDULED = (1, 2, 5)
"""The first transaction of all, the first one that follows another, and one in the middle."""
LAST_RANDOM = 8
"""The portion below gives each stage that many transactions at least."""
PORTION = 240
"""Articles: three batches for each raw partition."""
CHAIN_PORTION = 120
LONGEST_DELAY = 0.03
"""Seconds; a commit takes some ten milliseconds on a local broker."""


def scheduled(seed: int) -> Iterator[Case]:
    """Each place at each scheduled time with each number of workers; the seed is of the flow and the delays."""
    dice = random.Random(seed)  # noqa: S311 - a test's choices, nothing secret
    for workers in WORKERS:
        for point, stage in PLACES:
            for nth in SCHEDULED if point in TRANSACTION else (1,):
                yield _case(Fault(point, stage, nth, _delay(point, dice)), workers, seed)


def at_random(seed: int) -> Iterator[Case]:
    """Each place once, at a random time and with a random number of workers."""
    dice = random.Random(seed)  # noqa: S311 - a test's choices, nothing secret
    for point, stage in PLACES:
        nth = dice.randint(1, LAST_RANDOM) if point in TRANSACTION else 1
        yield _case(Fault(point, stage, nth, _delay(point, dice)), dice.choice(WORKERS), seed)


def chain(seed: int) -> Case:
    """All places one after another with one worker, in one deployment."""
    dice = random.Random(seed)  # noqa: S311 - a test's choices, nothing secret
    faults = [Fault(point, stage, dice.randint(1, 2), _delay(point, dice)) for point, stage in PLACES]
    rounds = tuple((fault if fault.point in TRANSACTION else Fault(fault.point, fault.stage),) for fault in faults)
    return Case(f"all places, seed {seed}", rounds, seed, CHAIN_PORTION)


def _case(fault: Fault, workers: int, seed: int) -> Case:
    rounds = [(fault,) * workers]
    if fault.point is Point.RESTORING:
        # There must be a changelog to restore from.
        rounds.insert(0, (Fault(Point.COMMITTED, Stage.DECIDE, 2),))
    return Case(f"{fault}, {workers} worker{'s' if workers > 1 else ''}, seed {seed}", tuple(rounds), seed, PORTION)


def _delay(point: Point, dice: random.Random) -> float:
    return dice.uniform(0, LONGEST_DELAY) if point is Point.COMMITTING else 0.0
