"""`stream-dedup dedup` on every format that articles come in and results go out."""

import csv
import datetime as dt
import gzip
import io
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.app.cli import run_cli
from stream_dedup.app.csv_rows import csv_rows
from stream_dedup.app.formats import Format, format_of
from tests.app.archives import EDITED, OTHER, STORY, objects, printed, write_lines

ROWS = [{"id": "a", "text": STORY}, {"id": "b", "text": OTHER}, {"id": "c", "text": EDITED}]
KINDS = [("a", "new", None), ("b", "new", None), ("c", "near", "a")]


def write_csv(path: Path) -> str:
    """The rows in CSV."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "text"])
        writer.writeheader()
        writer.writerows(ROWS)
    return str(path)


def write_parquet(path: Path) -> str:
    """The rows in Parquet, with a time."""
    times = [dt.datetime(2024, 1, day, tzinfo=dt.UTC) for day in (1, 2, 3)]
    pq.write_table(pa.table({**pa.Table.from_pylist(ROWS).to_pydict(), "when": times}), path)
    return str(path)


def write_folder(path: Path) -> str:
    """The texts in a folder and one below it."""
    for name, row in zip(("a.txt", "b/b.TXT", "c.txt"), ROWS, strict=True):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(row["text"])
    (path / "notes.md").write_text(STORY)
    return str(path)


def write_any(path: Path) -> str:
    """The rows in the format that the ending tells."""
    match format_of(path.name):
        case Format.CSV:
            return write_csv(path)
        case Format.PARQUET:
            return write_parquet(path)
        case Format.LINES:
            return write_lines(path, *(row["text"] for row in ROWS))
        case _:
            return write_lines(path, *ROWS)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_the_same_verdicts_in_every_format(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A format is told by the ending, and changes nothing about the verdicts."""
    lines = objects(printed(["dedup", write_any(tmp_path / name)], capsys))
    assert [(line["id"], line["kind"], line["original_id"]) for line in lines] == KINDS


def test_a_folder_of_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The .txt files of a folder and those below it, in the order of their paths, each named by its path in it."""
    lines = objects(printed(["dedup", write_folder(tmp_path / "texts")], capsys))
    assert [(line["id"], line["kind"]) for line in lines] == [("a.txt", "new"), ("b/b.TXT", "new"), ("c.txt", "near")]


def test_one_text_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each line is an article, named by FILE:LINE; blank lines are none."""
    file = write_lines(tmp_path / "a.txt", STORY, "", OTHER, EDITED)
    lines = objects(printed(["dedup", file], capsys))
    assert [(line["id"], line["original_id"]) for line in lines] == [
        (f"{file}:1", None),
        (f"{file}:3", None),
        (f"{file}:4", f"{file}:1"),
    ]


def test_the_format_can_be_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--format is stronger than the ending, for the standard input too."""
    file = write_lines(tmp_path / "a.log", STORY, STORY)
    (line,) = objects(printed(["dedup", "--format", "text", file], capsys))
    assert line["id"] == file
    assert len(objects(printed(["dedup", "--format", "lines", file], capsys))) == 2


def test_packed_csv_from_a_windows_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A byte order mark, CRLF, quoted commas, quotation marks and line ends, and gzip are read."""
    text = 'He said "no, \r\nnever" and left the crowded room without another word about it'
    content = f'\ufeffid,text\r\n1,"{text.replace(chr(34), chr(34) * 2)}"\r\n\r\n2,"{STORY}"\r\n'
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(content.encode()))
    kept = objects(printed(["dedup", "--keep", str(path)], capsys))
    assert kept == [{"id": "1", "text": text}, {"id": "2", "text": STORY}]


@pytest.mark.parametrize(
    ("name", "content", "reasons"),
    [
        ("a.csv", b"id,text\n1,a,b\n2\n", ["has 3 columns", "has 1 columns"]),
        ("a.csv", b"id,text\n1,\xff\n", ["not UTF-8"]),
        ("a.csv", b'id,text\n1,"' + b"x" * 2000 + b'\n2,y"\n', ["limit"]),
        ("a.csv", b"id,title\n1," + b"x" * 1020 + b"\n", ["limit"]),
        ("a.txt", b"\xff\n" + b"x" * 2000, ["not UTF-8 at byte 0", "limit of 1024 bytes"]),
        ("a.jsonl", b"[]\n", ["object"]),
    ],
)
def test_bad_rows_are_rejected_with_a_reason(
    name: str, content: bytes, reasons: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row that cannot be read is told of, the rows after it go on, and the command ends with 1."""
    config = tmp_path / "settings.toml"
    config.write_text("max_article_bytes = 1024")
    good = b'3,"' + OTHER.encode() + b'"\n' if name == "a.csv" else b""
    path = tmp_path / name
    path.write_bytes(content + good)
    lines = objects(printed(["dedup", "--config", str(config), str(path)], capsys, exit_code=1))
    rejected = [line for line in lines if line["verdict"] == "rejected"]
    assert len(rejected) == len(reasons)
    for line, reason in zip(rejected, reasons, strict=True):
        assert reason in str(line["reason"])
    assert [line["id"] for line in lines if line["verdict"] == "unique"] == (["3"] if good else [])


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", b"", "its first line must name the columns"),
        ("a.csv", b"id,id\n", "each by another name"),
        ("a.parquet", b"no parquet", "a.parquet"),
        ("a.jsonl.gz", b"\x1f\x8bdamaged", "a.jsonl.gz"),
        ("a.jsonl.gz", gzip.compress(b"{}" * 99)[:12] + b"\xff" * 20, "a.jsonl.gz"),
    ],
)
def test_a_file_that_cannot_be_read_ends_with_one_line(
    name: str, content: bytes, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line names the file and what is wrong with it."""
    path = tmp_path / name
    path.write_bytes(content)
    assert run_cli(["dedup", str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_a_folder_without_texts_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty result is not taken for a good one."""
    (tmp_path / "notes.md").write_text(STORY)
    assert run_cli(["dedup", str(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "there is no .txt file" in line


@pytest.mark.parametrize("arguments", [["dedup", "{}"], ["dedup", "--keep", "--output", "{}.out.parquet", "{}.jsonl"]])
def test_parquet_without_pyarrow_says_what_to_install(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The extra is named; other formats need no pyarrow."""
    path = tmp_path / "a.parquet"
    write_parquet(path)
    write_lines(tmp_path / "a.parquet.jsonl", *ROWS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert run_cli([argument.format(path) for argument in arguments]) == 1
    assert "pip install 'stream-dedup[parquet]'" in capsys.readouterr().err.splitlines()[-1]


def read_back(path: Path) -> list[dict[str, object]]:
    """The rows of a file that was written."""
    if path.suffix == ".parquet":
        rows: list[dict[str, object]] = pq.read_table(path).to_pylist()
        return rows
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return list(csv.DictReader(file))
    return objects(path.read_text())


@pytest.mark.parametrize("written", ["out.jsonl", "out.csv", "out.parquet"])
@pytest.mark.parametrize("read", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_unique_articles_come_with_all_they_had(
    read: str, written: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--keep writes the unique articles in any format with their fields; duplicates are left out."""
    path = tmp_path / written
    assert run_cli(["dedup", "--keep", "--output", str(path), write_any(tmp_path / read)]) == 0
    assert "2 unique, 1 duplicate, 0 rejected" in capsys.readouterr().err
    kept = read_back(path)
    assert [{"id": row["id"], "text": row["text"]} for row in kept] == ROWS[:2]
    assert ("when" in kept[0]) == (read == "rows.parquet")
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted((read, written))


def test_json_lines_are_kept_byte_for_byte(tmp_path: Path) -> None:
    """A line is the article: order of keys, spaces and escapes stay."""
    line = f'{{"text" : "{STORY} \\u00e9é",  "n": 1.50, "id": 1}}'
    path = tmp_path / "out.jsonl"
    assert run_cli(["dedup", "--keep", "--output", str(path), write_lines(tmp_path / "a.jsonl", line, line)]) == 0
    assert path.read_text() == f"{line}\n"


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    """From Parquet to Parquet columns keep their types, also through several files."""
    first, second = tmp_path / "1.parquet", tmp_path / "2.parquet"
    rows = pa.table(
        {
            "id": pa.array([1, 2], pa.int32()),
            "text": [STORY, OTHER],
            "when": pa.array([0, 1], pa.timestamp("us", "UTC")),
            "tags": [["x"], []],
        }
    )
    pq.write_table(rows, first)
    pq.write_table(rows.slice(0, 1), second)
    out = tmp_path / "out.parquet"
    assert run_cli(["dedup", "--keep", "--output", str(out), str(second), str(first)]) == 0
    assert pq.read_table(out).equals(rows)


def test_fields_of_all_articles_become_columns(tmp_path: Path) -> None:
    """A column is as wide as its values: numbers stay numbers, mixed and nested ones are JSON, missing ones nothing."""
    rows = [
        {"text": STORY, "n": 1, "x": 1, "mixed": "a"},
        {"text": OTHER, "n": 2, "x": 0.5, "mixed": {"b": ["é", None]}, "late": True},
    ]
    out = tmp_path / "out.parquet"
    assert run_cli(["dedup", "--keep", "--output", str(out), write_lines(tmp_path / "a.jsonl", *rows)]) == 0
    table = pq.read_table(out)
    assert {name: str(table.schema.field(name).type) for name in ("n", "x", "mixed", "late")} == {
        "n": "int64",
        "x": "double",
        "mixed": "string",
        "late": "bool",
    }
    assert table.column("mixed").to_pylist() == ["a", '{"b": ["é", null]}']
    assert table.column("late").to_pylist() == [None, True]


@pytest.mark.parametrize("written", ["out.jsonl", "out.csv", "out.parquet"])
def test_verdicts_can_be_written_to_files(written: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdicts are the same in a file as on the standard output."""
    file = write_lines(tmp_path / "a.jsonl", *ROWS)
    shown = objects(printed(["dedup", file], capsys))
    assert run_cli(["dedup", "--output", str(tmp_path / written), file]) == 0
    as_texts = [{name: "" if value is None else str(value) for name, value in line.items()} for line in shown]
    assert read_back(tmp_path / written) == (as_texts if written == "out.csv" else shown)


def test_an_output_of_another_format_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be written is said before anything is read."""
    assert run_cli(["dedup", "--output", str(tmp_path / "a.txt"), write_lines(tmp_path / "a", STORY)]) == 2
    assert ".parquet" in capsys.readouterr().err


def test_an_output_is_there_whole_or_not_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After an error the old file still stands, and nothing half written beside it."""
    out = tmp_path / "out.jsonl"
    out.write_text("old")
    damaged = tmp_path / "b.jsonl.gz"
    damaged.write_bytes(gzip.compress(json.dumps(ROWS[0]).encode() * 1000)[:-20])
    assert run_cli(["dedup", "--output", str(out), write_lines(tmp_path / "a.jsonl", *ROWS), str(damaged)]) == 1
    assert "b.jsonl.gz" in capsys.readouterr().err
    assert out.read_text() == "old"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl.gz", "out.jsonl"]


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=20)


@given(rows=st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_csv_is_read_as_it_was_written(rows: list[tuple[str, str]]) -> None:
    """Whatever stands in a cell comes back, commas, quotation marks and line feeds too."""
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows([("id", "text"), *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(written.getvalue().encode()))))
        values = [row.value for row in csv_rows("-", 10_000)]
    assert [json.loads(value) for value in values if isinstance(value, bytes)] == [
        {"id": one, "text": other} for one, other in rows
    ]
