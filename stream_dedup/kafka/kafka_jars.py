"""The jars of Apache Kafka: fetched once with jgo into the user's cache.

A jar that has not the pinned digest is never used.
"""

import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import MavenContext, PythonResolver

from stream_dedup.errors import LocalBrokerError

PINS = "kafka_jars.sha256"
"""Beside this file: a line for each jar."""
FETCH_BYTES = 45_035_715
"""All jars together, a progress bar's total for a first fetch."""
ANSWER_TIMEOUT = 30
"""Seconds without a byte from the repository before a fetch gives up."""

Progress: TypeAlias = Callable[[int], None]
"""Told how many more bytes were fetched; called from another thread, and never where all jars are in the cache."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One pinned file."""

    group: str
    artifact: str
    version: str
    sha256: str
    """64 hex digits."""

    @property
    def filename(self) -> str:
        """Its name in the cache, which is its name in a Maven repository."""
        return f"{self.artifact}-{self.version}.jar"


def pinned_jars() -> tuple[Jar, ...]:
    """All jars that make up the broker."""
    lines = files(__package__).joinpath(PINS).read_text(encoding="utf-8").splitlines()
    return tuple(_pinned(*line.split()) for line in lines if not line.startswith("#"))


def _pinned(digest: str, coordinates: str) -> Jar:
    group, artifact, version = coordinates.split(":")
    return Jar(group, artifact, version, digest)


def default_cache() -> Path:
    """The folder of jars in the user's cache (XDG base directories)."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "stream-dedup" / "jars"


def fetch_jars(
    jars: Sequence[Jar],
    cache: Path,
    progress: Progress,
    cancelled: threading.Event,
    repository: str = MAVEN_CENTRAL_URL,
) -> list[Path]:
    """Fetch what the cache lacks and check the digests of all; returns the files. Blocks: run it in a thread.

    A jar enters the cache by one rename after its digest was checked, so an interrupted fetch leaves nothing broken
    behind and the next one goes on where it stopped.

    Raises:
        LocalBrokerError: a jar cannot be fetched, or its digest is not the pinned one.
    """
    paths = [cache / jar.filename for jar in jars]
    missing = [jar for jar, path in zip(jars, paths, strict=True) if not path.exists()]
    if missing:
        try:
            _fetch(missing, cache, _Watched(progress, cancelled), repository)
        except (OSError, RuntimeError) as error:
            # requests' errors are OSErrors; jgo raises RuntimeError where a repository lacks a file.
            raise LocalBrokerError(
                f"Apache Kafka ({FETCH_BYTES / 1e6:.0f} MB, once) could not be fetched from {repository} into {cache}: "
                f"{error}. Check the connection and try again."
            ) from error
    for jar, path in zip(jars, paths, strict=True):
        _check(jar, path, f"delete {path}, and it will be fetched again")
    return paths


def _check(jar: Jar, path: Path, remedy: str) -> None:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != jar.sha256:
        raise LocalBrokerError(
            f"{jar.filename} has the SHA-256 {digest}, but {jar.sha256} is pinned: it was damaged or tampered with; "
            f"{remedy}."
        )


class _CancelledError(RuntimeError):
    """Nobody waits for the fetch any more."""


class _Watched:
    """Progress that ends the fetch when it was cancelled."""

    def __init__(self, progress: Progress, cancelled: threading.Event) -> None:
        self._progress = progress
        self._cancelled = cancelled

    def add(self, count: int) -> None:
        if self._cancelled.is_set():
            raise _CancelledError("cancelled")
        self._progress(count)

    @contextmanager
    def of_file(self, _name: str, _size: int) -> Iterator[Callable[[int], None]]:
        """In the form that jgo asks for."""
        yield self.add


def _fetch(missing: Sequence[Jar], cache: Path, watched: _Watched, repository: str) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".fetch-") as staging:
        resolver = PythonResolver(progress_callback=watched.of_file)
        context = MavenContext(
            resolver=resolver, repo_cache=Path(staging), remote_repos={"repository": repository}, timeout=ANSWER_TIMEOUT
        )
        for jar in missing:
            component = context.project(jar.group, jar.artifact).at_version(jar.version)
            fetched = Path(component.artifact().resolve())
            _check(jar, fetched, f"{repository} sent another file than the one that was pinned, try again")
            fetched.replace(cache / jar.filename)
