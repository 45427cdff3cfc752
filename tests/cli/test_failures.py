"""Whatever fails, a command ends with a sentence and exit code 2; 1 is for --fail-on-… alone."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.environment import default_signals
from tests.warm import REFOLD
from tests.warm import command as warm

COMMANDS = (
    *("fit", "score", "explain", "inspect", "limits", "drift"),
    *("report", "export", "demo", "reproduce", "benchmark"),
)


def shell(line, **keywords):
    """Run a line of the shell, in which $refold is the command; return code and error stream."""
    environment = {**os.environ, "refold": str(REFOLD), **keywords.pop("env", {})}
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, env=environment, check=False, **keywords
    )
    return done.returncode, done.stderr.decode()


def python(preamble, *arguments, **keywords):
    """Run the command in a process that has first done something else."""
    program = f"import sys\n{preamble}\nfrom refold.cli import app\napp()"
    line = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, **keywords)


def assert_a_sentence(said, *words):
    assert re.fullmatch(r"Error: [^\n]+[.!?]\n", said), said
    for word in words:
        assert word in said


# ---- streams -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        *("--help", "--version", "inspect model.json", "inspect model.json --json"),
        "drift model.json normal.csv",
        "score model.json new.csv --json --fail-on-outlier",
        "export model.json --to sql --table t --dialect duckdb",
    ],
)
def test_a_full_output_is_said(command, parts):
    code, said = shell(f"$refold {command} > /dev/full", cwd=parts)
    assert code == 2
    assert_a_sentence(said, "No space left on device")


def test_a_full_output_of_many_rows_is_said(parts):
    code, said = shell("$refold score model.json new.csv > /dev/full", cwd=parts)
    assert code == 2
    assert_a_sentence(said, "No space left on device")


def test_a_closed_output_is_refused_before_any_work(parts, tmp_path):
    code, said = shell(f"$refold fit normal.csv -o {tmp_path}/m.json >&-", cwd=parts)
    assert code == 2
    assert_a_sentence(said, "Standard output is closed")
    assert not list(tmp_path.iterdir())


def test_a_closed_input_is_an_empty_one(parts):
    code, said = shell("$refold score model.json - <&-", cwd=parts)
    assert code == 2
    assert_a_sentence(said, "standard input is empty")


@pytest.mark.parametrize("stream", ["2>&-", "2> /dev/full"])
def test_where_nobody_can_be_told_the_code_remains(stream, parts):
    assert shell(f"$refold fit nowhere.csv -o m.json {stream}", cwd=parts)[0] == 2
    assert shell(f"$refold inspect model.json {stream} > /dev/null", cwd=parts)[0] == 0


@pytest.mark.parametrize("command", ["--help", "score --help", "inspect model.json"])
def test_a_reader_that_leaves_is_no_failure(command, parts):
    reads, writes = os.pipe()
    os.close(reads)
    with open(writes, "wb") as nobody:
        line = [str(REFOLD), *command.split()]
        done = subprocess.run(line, stdout=nobody, stderr=subprocess.PIPE, cwd=parts, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_a_table_that_cannot_be_read_on(refold, parts):
    done = refold("score", parts / "model.json", "/proc/self/mem")
    assert done.returncode == 2
    assert_a_sentence(done.stderr, "Input/output error")


# ---- interruption, memory, permissions, names ----------------------------------------------------


def test_an_interruption_is_130(parts, tmp_path):
    table = (parts / "new.csv").read_bytes()
    rows = table[table.index(b"\n") + 1 :]
    (tmp_path / "many.csv").write_bytes(table + rows * 10_000)  # more than one block
    line = [str(REFOLD), "score", "model.json", str(tmp_path / "many.csv")]
    pipe = subprocess.PIPE
    with default_signals(), subprocess.Popen(line, stdout=pipe, stderr=pipe, cwd=parts) as run:
        run.stdout.read(1)  # it is at work
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    assert (run.returncode, said) == (130, b"")


def test_too_little_memory_is_said(parts, tmp_path):
    np.savetxt(tmp_path / "big.csv", np.zeros((400_000, 40)), "%d", ",", header="a,b" + ",x" * 38)
    names = ",".join(f"c{k}" for k in range(40))
    text = (tmp_path / "big.csv").read_text()
    (tmp_path / "big.csv").write_text(f"{names}\n" + text.split("\n", 1)[1])
    limit = 1200 * 2**20  # with less, Arrow ends the process by itself

    def little():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    line = [str(REFOLD), "fit", "big.csv", "-o", "m.json"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        line, cwd=tmp_path, capture_output=True, env=environment, check=False, preexec_fn=little
    )
    assert done.returncode == 2
    assert_a_sentence(done.stderr.decode(), "not enough memory")
    assert [file.name for file in tmp_path.iterdir()] == ["big.csv"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may do anything")
def test_what_may_not_be_read_or_written_is_named(refold, parts, tmp_path):
    (tmp_path / "secret.json").touch(0o000)
    done = refold("inspect", tmp_path / "secret.json")
    assert done.returncode == 2
    assert_a_sentence(done.stderr, "secret.json: Permission denied")


@pytest.mark.parametrize("command", ["fit", "score", "report"])
def test_names_of_files_that_are_no_text(command, refold, parts, tmp_path):
    folder = os.fsencode(tmp_path)
    for name in (b"\xff.csv", b"\xfe.json"):
        source = "new.csv" if name.endswith(b"csv") else "model.json"
        with open(os.path.join(folder, name), "wb") as file:
            file.write((parts / source).read_bytes())
    table, model = os.fsdecode(b"\xff.csv"), os.fsdecode(b"\xfe.json")
    out = os.fsdecode(b"\xfd.csv")
    inputs = (table,) if command == "fit" else (model, table)
    done = refold(command, *inputs, "-o", out, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / out).stat().st_size > 0
    missing = refold(command, *inputs[:-1], os.fsdecode(b"no\xff"), "-o", out, cwd=tmp_path)
    assert missing.returncode == 2
    assert_a_sentence(missing.stderr, r"no\udcff: No such file")


# ---- damaged tables --------------------------------------------------------------------------


def with_a_bad_index(file):
    """Write a Parquet file in which a category has a number that no category has."""
    rng = np.random.default_rng(0)
    kind = pa.array(rng.choice(list("vwxyz"), 200)).dictionary_encode()
    columns = {name: rng.normal(size=200) for name in ("torque", "speed", "heat")}
    pq.write_table(pa.table({"kind": kind, **columns}), file, compression="none")
    whole = file.read_bytes()
    for place in range(4, 300):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            (batch,) = pq.ParquetFile(file).iter_batches()
        except (OSError, pa.ArrowException):
            continue
        try:
            batch.validate(full=True)
        except pa.ArrowInvalid as error:
            if "out of bounds" in str(error):
                return
    pytest.fail("no byte is the number of a category")


@pytest.mark.parametrize("out", ["-", "out.csv", "out.parquet", "out.arrow"])
def test_a_bad_index_of_a_category_is_damage(out, refold, parts, tmp_path):
    with_a_bad_index(tmp_path / "t.parquet")
    done = refold("score", parts / "model.json", "t.parquet", "-o", out, cwd=tmp_path)
    assert done.returncode == 2
    assert_a_sentence(done.stderr, "t.parquet, column 'kind', is damaged", "out of bounds")
    assert [file.name for file in tmp_path.iterdir()] == ["t.parquet"]


# ---- libraries that are not there ------------------------------------------------------------

BLOCK = """
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""


@pytest.mark.parametrize(
    ("missing", "extra", "arguments"),
    [
        ("typer", "cli", ("--help",)),
        ("rich", "cli", ("inspect", "model.json")),
        ("pyarrow", "cli", ("score", "model.json", "new.csv")),
        ("pyarrow", "parquet", ("fit", "new.csv", "-o", "none")),
        ("pyarrow", "cli", ("explain", "model.json", "new.csv", "--row", "1")),
        ("pyarrow", "parquet", ("drift", "model.json", "new.csv")),
        ("jinja2", "report", ("report", "model.json", "new.csv", "-o", "none")),
        ("jinja2", "report", ("demo", "-o", "none")),
        ("onnx", "onnx", ("export", "model.json", "--to", "onnx", "-o", "none")),
        (
            *("sqlglot", "sql"),
            ("export", "model.json", "--to", "sql", "--table", "t", "--dialect", "duckdb"),
        ),
    ],
)
def test_a_missing_library_is_named_with_the_extra(missing, extra, arguments, parts):
    done = python(BLOCK.format(names={missing}), *arguments, cwd=parts)
    assert done.returncode == 2
    assert missing in done.stderr
    assert f"refold[{extra}]" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (parts / "none").exists()


@pytest.mark.parametrize(
    "command", ["fit", "score", "explain", "inspect", "limits", "drift", "export"]
)
def test_the_extra_of_the_command_line_is_all_it_needs(command, parts, tmp_path):
    others = {"jinja2", "matplotlib", "pandas", "polars", "pooch", "onnx", "pyod", "dask"}
    arguments = {
        "fit": ("normal.csv", "-o", tmp_path / "m.json"),
        "score": ("model.json", "new.csv"),
        "explain": ("model.json", "new.csv", "--row", 17),
        "inspect": ("model.json",),
        "limits": ("model.json", "new.csv"),
        "drift": ("model.json", "new.csv"),
        "export": ("model.json", "--help"),
    }[command]
    done = python(BLOCK.format(names=others), command, *arguments, cwd=parts)
    assert done.returncode == 0, done.stderr


# ---- bugs ----------------------------------------------------------------------------------------

BUG = "import refold.models.files as files\nfiles.content_of = lambda *_: {}['a\\n{b}']"


def test_a_bug_is_called_one_and_shows_its_traceback_only_when_asked(parts):
    done = python(BUG, "inspect", "model.json", cwd=parts)
    assert done.returncode == 2
    assert_a_sentence(done.stderr, "a bug in refold (KeyError: 'a\\n{b}')", "REFOLD_TRACEBACK=1")
    asked = {**os.environ, "REFOLD_TRACEBACK": "1"}
    done = python(BUG, "inspect", "model.json", cwd=parts, env=asked)
    assert done.returncode == 2
    assert "Traceback (most recent call last)" in done.stderr
    assert "KeyError" in done.stderr
    assert "a bug in refold" in done.stderr


# ---- what is typed -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fold",), "No such command 'fold'"),
        (("fit",), "Missing argument 'TABLE'"),
        (("fit", "t.csv"), "Missing option '--out'"),
        (("score", "m.json", "t.csv", "--frobnicate"), "No such option: --frobnicate"),
        (("score", "m.json", "t.csv", "--reasons", "-1"), "--reasons"),
        (("explain", "m.json", "t.csv", "--row", "one"), "'--row'"),
    ],
)
def test_what_was_mistyped_is_said_with_a_way_to_help(arguments, message, refold):
    done = refold(*arguments)
    first, second = done.stderr.splitlines()
    assert done.returncode == 2
    assert first.startswith("Error: ")
    assert message in first
    assert re.fullmatch("refold( [a-z]+)? --help says more.", second)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_plain_text_with_examples_on_lines_of_their_own(command):
    wide = {**os.environ, "COLUMNS": "120"}
    line = [str(warm()), *command.split(), "--help"]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=wide)
    assert done.stderr == ""
    assert "\\" not in done.stdout
    assert {unicodedata.category(letter) for letter in set(done.stdout) - {"\n"}}.isdisjoint(
        {"Cc", "Cf", "Cs", "Co", "Cn"}
    )
    examples = [text for text in done.stdout.splitlines() if f"refold {command} " in text][1:]
    if "For example:" in done.stdout:
        assert len(examples) >= 2
        assert all(text.startswith("   ") for text in examples)
