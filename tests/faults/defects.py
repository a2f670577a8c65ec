"""Puts each known defect into a copy of the source and runs the tests that must fail with it.

usage: python -m tests.faults.defects [--only TEXT] [--json]

Exit code 0 when the named tests pass without a defect and fail with each; 1 when one goes unnoticed; 2 when a change no
longer applies to the source.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from tests.faults.known_defects import DEFECTS, Defect

ROOT = Path(__file__).parents[2]
COPIED = ("stream_dedup", "tests", "pyproject.toml")
PASSED, FAILED = 0, 1
"""pytest's exit codes; all others mean that it could not run the tests."""
LAST_LINES = 8
"""Of pytest's output, where it does not do what it must."""


class Verdict(StrEnum):
    """What became of a defect."""

    CAUGHT = "caught"
    UNNOTICED = "UNNOTICED"
    BROKEN = "BROKEN"
    """pytest could not run the tests, or they fail without a defect, too."""


class DoesNotApplyError(Exception):
    """A change's text does not stand exactly once in its file."""


def changed(defect: Defect, root: Path) -> dict[Path, str]:
    """What the files of the package below `root` hold with a defect.

    Raises:
        DoesNotApplyError: the source has changed since the defect was written down.
    """
    sources: dict[Path, str] = {}
    for change in defect.changes:
        file = root / "stream_dedup" / change.file
        source = sources.get(file) or file.read_text()
        times = source.count(change.right)
        if times != 1:
            raise DoesNotApplyError(
                f'"{defect.name}" does not apply: {change.file} has {times} times, not once, {change.right!r}. '
                "Write the defect down anew in tests/faults/known_defects.py"
            )
        sources[file] = source.replace(change.right, change.wrong)
    return sources


def copy_to(folder: Path) -> None:
    """Copy all that the tests need, the package included."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)


def run_tests(tests: Sequence[str], folder: Path) -> tuple[int, str]:
    """Run tests on the package in the folder; pytest's exit code and the end of what it said."""
    # -m puts the folder before the installed package.
    options = ["-q", "-x", "--tb=line", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, *(f"tests/{one}" for one in tests)]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return ended.returncode, "\n".join(ended.stdout.splitlines()[-LAST_LINES:])


def try_defect(defect: Defect) -> tuple[Verdict, str]:
    """Whether a defect is noticed, and what pytest said."""
    with tempfile.TemporaryDirectory(prefix="stream-dedup-defect-") as name:
        folder = Path(name)
        copy_to(folder)
        for file, source in changed(defect, folder).items():
            file.write_text(source)
        code, words = run_tests(defect.tests, folder)
    return {FAILED: Verdict.CAUGHT, PASSED: Verdict.UNNOTICED}.get(code, Verdict.BROKEN), words


def report(name: str, verdict: Verdict, words: str, *, as_json: bool) -> None:
    """One line for one defect, and pytest's words where it is not caught."""
    if as_json:
        line = msgspec.json.encode({"defect": name, "verdict": verdict, "pytest": words}).decode()
    else:
        line = f"{verdict:<10} {name}" + ("" if verdict is Verdict.CAUGHT else "\n" + words)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Try the defects that were asked for; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="defects whose name has this text")
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    arguments = parser.parse_args()
    defects = [defect for defect in DEFECTS if arguments.only in defect.name]
    try:
        for defect in defects:
            changed(defect, ROOT)
    except DoesNotApplyError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    code, words = run_tests(sorted({test for defect in defects for test in defect.tests}), ROOT)
    if code != PASSED:
        report("none", Verdict.BROKEN, words, as_json=arguments.json)
        return 1
    verdicts = []
    for defect in defects:
        verdict, words = try_defect(defect)
        verdicts.append(verdict)
        report(defect.name, verdict, words, as_json=arguments.json)
    return 0 if set(verdicts) == {Verdict.CAUGHT} else 1


if __name__ == "__main__":
    sys.exit(main())
