"""Compiled loops where nothing can be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import stream_dedup

PROGRAM = """
import numpy as np
from stream_dedup.core.simhash import simhash
print(simhash(np.array([5], dtype=np.uint64), np.ones(1)))
"""


def test_works_where_no_folder_can_be_written(tmp_path: Path) -> None:
    """Neither a folder beside the source nor a home: each process compiles anew, silently."""
    source = tmp_path / "stream_dedup"
    shutil.copytree(Path(stream_dedup.__file__).parent, source, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [source, *(path for path in source.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()  # a file in its place: a folder cannot be made, whoever tries it
    environment = {"PATH": os.environ["PATH"], "HOME": "/dev/null", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=False, env=environment)
    assert (done.stdout, done.stderr, done.returncode) == (b"5\n", b"", 0)


def test_is_kept_on_the_disk(tmp_path: Path) -> None:
    """What is compiled is found again: beside the source, or where NUMBA_CACHE_DIR says."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True, env=environment)
    assert any(tmp_path.rglob("*simhashes*.nbc"))
