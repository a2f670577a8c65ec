"""Lines of files as bytes."""

import gzip
from pathlib import Path

import click
import pytest

from stream_dedup.app.lines import Line, read_lines

CASES = {
    b"": [],
    b"a\nb\n": [(1, b"a"), (2, b"b")],
    b"a\n\n  \nb": [(1, b"a"), (4, b"b")],
    b"\xff\x00\r\n": [(1, b"\xff\x00\r")],
    b"12345678\n1234567\n12345\n": [(1, b"123456"), (2, b"123456"), (3, b"12345")],
    b"12345\n1": [(1, b"12345"), (2, b"1")],
}
"""Content -> numbers and contents, where lines of more than five bytes are cut to six."""


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("content", "expected"), CASES.items())
def test_lines_keep_their_bytes_and_numbers(
    tmp_path: Path,
    content: bytes,
    expected: list[tuple[int, bytes]],
    packed: bool,  # noqa: FBT001 - a case
) -> None:
    """Each line that is not blank comes as it is, gzip or not; of one that is too long no more than that is kept."""
    file = tmp_path / "articles"
    file.write_bytes(gzip.compress(content) if packed else content)
    assert [(line.number, line.content) for line in read_lines(str(file), 5)] == expected


def test_progress_counts_the_bytes_of_the_file(tmp_path: Path) -> None:
    """The last line has read everything."""
    file = tmp_path / "articles"
    file.write_bytes(b"a\n" + b"b" * 100_000 + b"\n")
    assert list(read_lines(str(file), 3))[-1] == Line(2, b"bbbb", 100_003)


@pytest.mark.parametrize("content", [None, gzip.compress(b"a\nb\n")[:-6]])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    """A missing or damaged file is an error with its name."""
    file = tmp_path / "articles.gz"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(click.FileError) as caught:
        list(read_lines(str(file), 5))
    assert "articles.gz" in caught.value.format_message()
