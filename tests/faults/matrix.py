"""Kills, sleeps and a storm of rebalances, on a Kafka of its own; a line for each trial.

usage: python -m tests.faults.matrix [--seeds N ...] [--only TEXT] [--json]

Exit code 0 when every fault happened and nothing was lost, extra or different; 1 otherwise.
"""

import argparse
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from pathlib import Path

import msgspec
from aiokafka.errors import KafkaError

from stream_dedup.app.process import run_main
from stream_dedup.errors import StreamDedupError
from stream_dedup.kafka.local_broker import local_broker
from stream_dedup.kafka.observer import Stage
from tests.faults.cases import TRANSACTION, at_random, scheduled
from tests.faults.driver import Outcome, run_case
from tests.faults.fault import Fault
from tests.faults.storm import run_storm
from tests.faults.zombies import LONG_CALL, SHORT_CALL, run_zombie
from tests.flow.differences import Kind

STORM_EVENTS = 55
"""Two minutes of them."""
LAST_WORDS = 500
"""Characters of a worker's log that tell why a trial did not come to its end."""
SHOWN = 5
"""Differences of a trial that are printed."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing to go through."""

    name: str
    run: Callable[[str, Path], Awaitable[Outcome]]
    """With the brokers' addresses and a folder for logs."""


def all_trials(seeds: Sequence[int]) -> Iterator[Trial]:
    """The scheduled kills and the sleeps with the first seed; random kills and a storm with each."""
    for case in [*scheduled(seeds[0]), *chain.from_iterable(map(at_random, seeds))]:
        yield Trial(case.name, partial(run_case, case=case))
    for point, stage, limit in product(TRANSACTION, Stage, (LONG_CALL, SHORT_CALL)):
        fault = Fault(point, stage, nth=2, by=signal.SIGSTOP)
        asleep = partial(run_zombie, fault=fault, seed=seeds[0], call_timeout=limit)
        yield Trial(f"asleep: {fault}, calls of {limit}", asleep)
    for seed in seeds:
        yield Trial(f"storm, seed {seed}", partial(run_storm, events=STORM_EVENTS, seed=seed))


async def run_all(trials: Sequence[Trial], outcomes: list[Outcome], *, as_json: bool) -> None:
    """Run the trials one after another, and print and keep each one's outcome as it comes."""
    with tempfile.TemporaryDirectory(prefix="stream-dedup-faults-") as folder:
        async with local_broker() as broker:
            for number, trial in enumerate(trials, 1):
                logs = Path(folder) / str(number)
                logs.mkdir()
                outcome = await _outcome(broker.bootstrap_servers, logs, trial)
                outcomes.append(outcome)
                line = as_line(outcome) if as_json else f"{number:4}/{len(trials)} {as_row(outcome)}"
                sys.stdout.write(line + "\n")
                sys.stdout.flush()


async def _outcome(bootstrap_servers: str, logs: Path, trial: Trial) -> Outcome:
    """A trial that does not come to its end is an outcome, too."""
    try:
        return await trial.run(bootstrap_servers, logs)
    except (TimeoutError, StreamDedupError, KafkaError) as error:
        return Outcome(trial.name, 0, (f"it did not come to its end: {error!r}", *_last_words(logs)), (), 0.0)


def _last_words(logs: Path) -> list[str]:
    return [f"{log.name}: {log.read_text()[-LAST_WORDS:]!r}" for log in sorted(logs.iterdir())]


def counts(outcome: Outcome) -> dict[str, int]:
    """Differences by kind."""
    found = Counter(difference.kind for difference in outcome.differences)
    return {kind.value: found[kind] for kind in Kind}


def as_line(outcome: Outcome) -> str:
    """For programs: a JSON object."""
    what = [difference.what for difference in outcome.differences]
    return msgspec.json.encode(
        {
            "trial": outcome.name,
            "good": outcome.good,
            "met": outcome.met,
            **counts(outcome),
            "unmet": outcome.unmet,
            "differences": what,
            "seconds": round(outcome.seconds, 1),
        }
    ).decode()


def as_row(outcome: Outcome) -> str:
    """For people: a row, and what is wrong below it."""
    numbers = "  ".join(f"{kind} {count:3}" for kind, count in counts(outcome).items())
    verdict = "ok  " if outcome.good else "FAIL"
    row = f"{verdict} {outcome.name:<58} met {outcome.met:2}  {numbers}  {outcome.seconds:5.1f} s"
    told = [*outcome.unmet, *(difference.what for difference in outcome.differences)]
    return "\n".join([row, *(f"      {what}" for what in told[:SHOWN])])


def main() -> int:
    """Run what was asked for; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--only", default="", help="trials whose name has this text")
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    arguments = parser.parse_args()
    trials = [trial for trial in all_trials(arguments.seeds) if arguments.only in trial.name]
    outcomes: list[Outcome] = []
    run_main(run_all(trials, outcomes, as_json=arguments.json))
    good = sum(outcome.good for outcome in outcomes)
    if not arguments.json:
        sys.stdout.write(f"{good} of {len(trials)} trials good\n")
    return 0 if outcomes and good == len(trials) else 1


if __name__ == "__main__":
    sys.exit(main())
