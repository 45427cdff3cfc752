"""Bad input is a sentence that says where and what to do, exit code 2, and nothing is written."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
from contextlib import suppress

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import NAMES, as_csv
from tests.warm import REFOLD


def table_of(rows):
    return pa.table({name: rows[:, k] for k, name in enumerate(NAMES)})


def parquet(rows):
    sink = pa.BufferOutputStream()
    pq.write_table(table_of(rows), sink)
    return sink.getvalue().to_pybytes()


def arrow(rows, opener):
    sink = pa.BufferOutputStream()
    with opener(sink, table_of(rows).schema) as writer:
        writer.write_table(table_of(rows))
    return sink.getvalue().to_pybytes()


def with_cell(rows, row, cell, **how):
    cells = rows.astype(object)
    cells[row, 1] = cell
    return as_csv(cells, **how)


BAD = {
    "empty": (lambda r: b"", "is empty"),
    "blank lines": (lambda r: b"\n\r\n", "is empty"),
    "header only": (lambda r: b"a,b\n", "has column names but no rows"),
    "ragged": (lambda r: as_csv(r) + "1,2\n", "line 202: the number of cells is 2"),
    "ragged after quoted newlines": (
        lambda r: with_cell(r, 5, '"a\nb"') + "1,2\n",
        "line 203: the number of cells is 2",
    ),
    "NUL": (lambda r: with_cell(r, 5, "1\0"), "line 7: there is a NUL byte"),
    "UTF-16 without mark": (lambda r: as_csv(r).encode("utf-16-le"), "line 1: there is a NUL"),
    "UTF-8, then not": (
        lambda r: ("ü" + as_csv(r)).encode() + b"\xfc,1,2\n",
        "line 202: these bytes are not UTF-8",
    ),
    "no header": (lambda r: as_csv(r[1:], map(str, r[0])), "--no-header if there are none"),
    "open quote": (
        lambda r: as_csv(r) + '1,"2,3\n' + as_csv(r),
        "line 202: a quote that opens a cell is not closed",
    ),
    "one row": (lambda r: "a,b\n1,2\n", "one row is too few to learn from"),
    "cut gzip": (lambda r: gzip.compress(as_csv(r).encode())[:-20], "gzip data is damaged or cut"),
    "cut zstd": (
        lambda r: pa.compress(as_csv(r).encode(), codec="zstd", asbytes=True)[:-20],
        "zstd data is damaged or cut",
    ),
    "cut Parquet": (lambda r: parquet(r)[:-20], "cannot be read as Parquet"),
    "cut Arrow": (lambda r: arrow(r, pa.ipc.new_file)[:-20], "cannot be read as Arrow IPC"),
    "ZIP archive": (lambda r: b"PK\x03\x04" + bytes(99), "ZIP archive is damaged, cut short"),
    "old workbook": (lambda r: b"\xd0\xcf\x11\xe0" + bytes(99), "cannot be read as a workbook"),
    "a gigabyte of nothing, packed": (lambda r: gzip.compress(bytes(2**30), 1), "16 million"),
}


BAD_CELLS = {
    "bad cell": (lambda r: with_cell(r, 15, "n.a.!"), "line 17, column 'speed': 'n.a.!' is not a"),
    "bad cell after quoted newlines": (
        lambda r: with_cell(r, 15, "n.a.!").replace("torque", '"tor\n\nque"'),
        "line 19, column 'speed': 'n.a.!' is not a",
    ),
    "infinity": (lambda r: with_cell(r, 15, "-Inf"), "line 17, column 'speed': '-Inf' is not a"),
    "overflow": (lambda r: with_cell(r, 15, "1e999"), "line 17, column 'speed': '1e999' is not a"),
    "decimal comma in one cell": (
        lambda r: with_cell(r, 15, "3,5", separator=";"),
        "line 17, column 'speed': '3,5' is not a number",
    ),
    "true among numbers": (lambda r: with_cell(r, 15, "true"), "line 17, column 'speed': 'true'"),
}


@pytest.mark.parametrize("case", BAD_CELLS)
def test_cells_that_cannot_be_read_are_refused_with_the_place_if_asked(
    case, refold, rows, tmp_path
):
    make, message = BAD_CELLS[case]
    (tmp_path / "t").write_text(make(rows))
    done = refold("fit", "t", "-o", "model.json", "--bad-cells", "error", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: t")
    assert message in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["t"]
    done = refold("fit", "t", "-o", "model.json", cwd=tmp_path)
    assert done.returncode == 0
    assert "is not a number" in done.stderr


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_refused_with_the_place(case, refold, rows, tmp_path):
    make, message = BAD[case]
    content = make(rows)
    (tmp_path / "t").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = refold("fit", "t", "-o", "model.json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: t")
    assert message in done.stderr
    assert done.stdout == ""
    assert [file.name for file in tmp_path.iterdir()] == ["t"]


GOOD = {
    "mark of UTF-8": lambda r: b"\xef\xbb\xbf" + as_csv(r).encode(),
    "UTF-16": lambda r: as_csv(r).encode("utf-16"),
    "semicolons and decimal commas": lambda r: as_csv(r, separator=";", decimal=",").encode(),
    "tabs, Windows": lambda r: as_csv(r, separator="\t", end="\r\n").encode(),
    "quoted names, space behind commas": lambda r: as_csv(
        r, [f'"{name}"' for name in NAMES], separator=", "
    ).encode(),
    "gzip": lambda r: gzip.compress(as_csv(r).encode()),
    "bzip2": lambda r: bz2.compress(as_csv(r).encode()),
    "xz": lambda r: lzma.compress(as_csv(r).encode()),
    "zstd": lambda r: pa.compress(as_csv(r).encode(), codec="zstd", asbytes=True),
    "Parquet": parquet,
    "Parquet, packed": lambda r: gzip.compress(parquet(r)),
    "Arrow": lambda r: arrow(r, pa.ipc.new_file),
    "Arrow stream": lambda r: arrow(r, pa.ipc.new_stream),
}


@pytest.mark.parametrize("case", GOOD)
def test_every_format_comes_through_a_pipe(case, refold, rows, parts):
    done = refold("drift", parts / "model.json", "-", "--json", input=GOOD[case](rows))
    assert done.returncode == 0, done.stderr
    assert '"rows": 200,' in done.stdout
    assert '"verdict": "same"' in done.stdout


def test_latin_1_is_read_and_said(refold, rows, tmp_path):
    (tmp_path / "t").write_bytes(as_csv(rows, ("Kühlung", "b", "c")).encode("latin-1"))
    done = refold("fit", "t", "-o", "model.json", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == "Note: t is not UTF-8; it was read as cp1252.\n"
    assert '"Kühlung"' in done.stdout


def test_a_gigabyte_of_one_line_is_refused_early(tmp_path):
    line = [str(REFOLD), "fit", "-", "-o", str(tmp_path / "model.json")]
    sent = 0
    with subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        with suppress(BrokenPipeError):
            while sent < 2**30:
                sent += run.stdin.write(b"1," * 2**19)
        said = run.stderr.read().decode()
        with suppress(BrokenPipeError):
            run.stdin.close()
    assert run.returncode == 2
    assert "standard input, line 1: the line has more than 16 million characters" in said
    assert sent < 2**26


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("new.csv", "new.csv is not a refold model"),
        ("nowhere.json", "nowhere.json: No such file"),
        (".", "This is a folder"),
    ],
)
def test_what_is_no_model_is_refused(model, message, refold, parts):
    done = refold("score", model, "new.csv", cwd=parts)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert message in done.stderr


@pytest.mark.parametrize(("table", "message"), [(".", "is a folder"), ("no.csv", "No such file")])
def test_what_is_no_file_is_refused(table, message, refold, parts):
    done = refold("fit", table, "-o", "x.json", cwd=parts)
    assert done.returncode == 2
    assert message in done.stderr
