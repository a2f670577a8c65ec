"""Runs the kill matrix on a Kafka of its own and prints a line for each case.

usage: python -m tests.faults.matrix [--seeds N ...] [--only TEXT] [--random-only] [--json]

Exit code 0 when every fault happened and nothing was lost, extra or different; 1 otherwise.
"""

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from stream_dedup.kafka.local_broker import local_broker
from tests.faults.cases import at_random, scheduled
from tests.faults.driver import Case, Outcome, run_case
from tests.flow.differences import Kind

LAST_WORDS = 500
"""Characters of a worker's log that tell why a case did not come to its end."""
SHOWN = 5
"""Differences of a case that are printed."""


def chosen(arguments: argparse.Namespace) -> list[Case]:
    """The cases that were asked for; the scheduled ones once, with the first seed."""
    cases = [] if arguments.random_only else list(scheduled(arguments.seeds[0]))
    for seed in arguments.seeds:
        cases += at_random(seed)
    return [case for case in cases if arguments.only in case.name]


async def run_all(cases: Sequence[Case], *, as_json: bool) -> list[Outcome]:
    """Run the cases one after another, and print each one's outcome as it comes."""
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="stream-dedup-faults-") as folder:
        async with local_broker() as broker:
            for number, case in enumerate(cases, 1):
                logs = Path(folder) / str(number)
                logs.mkdir()
                outcome = await _outcome(broker.bootstrap_servers, logs, case)
                outcomes.append(outcome)
                line = as_line(outcome) if as_json else f"{number:4}/{len(cases)} {as_row(outcome)}"
                sys.stdout.write(line + "\n")
                sys.stdout.flush()
    return outcomes


async def _outcome(bootstrap_servers: str, logs: Path, case: Case) -> Outcome:
    """A case that does not come to its end is an outcome, too."""
    try:
        return await run_case(bootstrap_servers, logs, case)
    except TimeoutError:
        return Outcome(case, 0, ("it did not come to its end", *_last_words(logs)), (), 0.0)


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
            "case": outcome.case.name,
            "good": outcome.good,
            "kills": outcome.kills,
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
    row = f"{verdict} {outcome.case.name:<58} kills {outcome.kills}  {numbers}  {outcome.seconds:5.1f} s"
    told = [*outcome.unmet, *(difference.what for difference in outcome.differences)]
    return "\n".join([row, *(f"      {what}" for what in told[:SHOWN])])


def main() -> int:
    """Run what was asked for; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--only", default="", help="cases whose name has this text")
    parser.add_argument("--random-only", action="store_true", help="leave the scheduled cases out")
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    arguments = parser.parse_args()
    outcomes = asyncio.run(run_all(chosen(arguments), as_json=arguments.json))
    good = sum(outcome.good for outcome in outcomes)
    if not arguments.json:
        sys.stdout.write(f"{good} of {len(outcomes)} cases good\n")
    return 0 if outcomes and good == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
