"""The jars are fetched once, whole, and as pinned."""

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from stream_dedup.errors import LocalBrokerError
from stream_dedup.kafka.kafka_jars import FETCH_BYTES, Jar, default_cache, fetch_jars, pinned_jars

CONTENT = {"first": b"1" * 20_000, "second": b"2" * 30_000}
JARS = [Jar("org.example", name, "1.0", hashlib.sha256(content).hexdigest()) for name, content in CONTENT.items()]


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and does not tell of it."""

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The folder of a Maven repository with both jars."""
    root = tmp_path / "repository"
    for name, content in CONTENT.items():
        folder = root / "org" / "example" / name / "1.0"
        folder.mkdir(parents=True)
        (folder / f"{name}-1.0.jar").write_bytes(content)
    return root


@pytest.fixture
def url(repository: Path) -> Iterator[str]:
    """The address at which the repository is served."""
    handler = partial(QuietHandler, directory=str(repository))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def names(folder: Path) -> set[str]:
    """What lies in a folder."""
    return {path.name for path in folder.iterdir()}


def test_missing_jars_are_fetched_and_told_of(tmp_path: Path, url: str) -> None:
    """The first fetch tells every byte, the second has nothing to tell."""
    told: list[int] = []
    cache = tmp_path / "cache"
    for _ in range(2):
        paths = fetch_jars(JARS, cache, told.append, threading.Event(), url)
        assert [path.read_bytes() for path in paths] == list(CONTENT.values())
        assert sum(told) == 50_000
    assert names(cache) == {"first-1.0.jar", "second-1.0.jar"}


def test_another_file_than_the_pinned_one_never_enters_the_cache(tmp_path: Path, repository: Path, url: str) -> None:
    """A repository that sends other bytes is refused; what was good before stays."""
    (repository / "org/example/second/1.0/second-1.0.jar").write_bytes(b"something else")
    with pytest.raises(LocalBrokerError, match=r"second-1\.0\.jar has the SHA-256 .* but .* is pinned"):
        fetch_jars(JARS, tmp_path / "cache", lambda _: None, threading.Event(), url)
    assert names(tmp_path / "cache") == {"first-1.0.jar"}


def test_a_jar_that_changed_in_the_cache_is_refused(tmp_path: Path, url: str) -> None:
    """Digests are checked before each use, and the message names the file to delete."""
    cache = tmp_path / "cache"
    first, _ = fetch_jars(JARS, cache, lambda _: None, threading.Event(), url)
    first.write_bytes(CONTENT["first"] + b"!")
    with pytest.raises(LocalBrokerError, match=f"delete {first}"):
        fetch_jars(JARS, cache, lambda _: None, threading.Event(), url)


def test_a_cancelled_fetch_leaves_whole_jars_only(tmp_path: Path, url: str) -> None:
    """A fetch that is cancelled in its middle ends at once; the next one goes on from there."""
    cancelled = threading.Event()
    fetched = 0

    def cancel_in_the_second(count: int) -> None:
        nonlocal fetched
        fetched += count
        if fetched > len(CONTENT["first"]):
            cancelled.set()

    cache = tmp_path / "cache"
    with pytest.raises(LocalBrokerError, match="cancelled"):
        fetch_jars(JARS, cache, cancel_in_the_second, cancelled, url)
    assert names(cache) == {"first-1.0.jar"}
    told: list[int] = []
    fetch_jars(JARS, cache, told.append, threading.Event(), url)
    assert sum(told) == len(CONTENT["second"])


def test_a_repository_that_lacks_a_jar_or_does_not_answer_is_named(tmp_path: Path, repository: Path, url: str) -> None:
    """The message names the address and what to do."""
    (repository / "org/example/first/1.0/first-1.0.jar").unlink()
    for address in (url, "http://127.0.0.1:1"):
        with pytest.raises(LocalBrokerError, match=f"could not be fetched from {address}.*try again"):
            fetch_jars(JARS, tmp_path / "cache", lambda _: None, threading.Event(), address)


@pytest.mark.usefixtures("broker")
def test_the_pinned_jars_are_as_many_bytes_as_the_progress_bar_expects() -> None:
    """The total of a first fetch is the size of the pinned files."""
    sizes = [(default_cache() / jar.filename).stat().st_size for jar in pinned_jars()]
    assert sum(sizes) == FETCH_BYTES
    assert len(sizes) == 46
