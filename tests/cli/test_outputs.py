"""What a command writes is never what it reads, and never less than what it means to write."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.environment import default_signals
from tests.waiting import LIMIT, wait_until
from tests.warm import REFOLD

COMMANDS = {
    "fit": ("fit", "new.csv"),
    "score": ("score", "model.json", "new.csv"),
    "report": ("report", "model.json", "new.csv"),
    "export": ("export", "model.json", "--to", "onnx"),
}


@pytest.fixture
def folder(parts, tmp_path):
    """A model and a table, and other names for both; all of them may be written as .csv."""
    for name in ("model.json", "new.csv"):
        (tmp_path / name).write_bytes((parts / name).read_bytes())
        os.symlink(name, tmp_path / f"link-{name}.csv")
        os.link(tmp_path / name, tmp_path / f"hard-{name}.csv")
    (tmp_path / "sub").mkdir()
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("way", ["{}", "link-{}.csv", "hard-{}.csv", "sub/../{}"])
def test_an_output_that_is_an_input_is_refused(command, way, refold, folder):
    read = [name for name in ("model.json", "new.csv") if name in COMMANDS[command]]
    for name in read:
        before = (folder / name).read_bytes()
        out = way.format(name)
        done = refold(*COMMANDS[command], "-o", out, cwd=folder)
        assert done.returncode == 2
        assert f"{out} is the same file as {name}, which is read." in done.stderr
        assert (folder / name).read_bytes() == before


def test_streams_that_are_files_are_inputs_and_outputs_too(folder):
    table = folder / "new.csv"
    before = table.read_bytes()
    with table.open("rb") as rows:
        line = [REFOLD, "fit", "-", "-o", "new.csv"]
        done = subprocess.run(line, stdin=rows, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"new.csv is the same file as -" in done.stderr
    with table.open("ab") as rows:  # what is written would be read again, for ever
        line = [REFOLD, "score", "model.json", "new.csv"]
        done = subprocess.run(
            line, stdout=rows, stderr=subprocess.PIPE, cwd=folder, timeout=60, check=False
        )
    assert done.returncode == 2
    assert b"- is the same file as new.csv" in done.stderr
    assert table.read_bytes() == before


def test_other_files_are_replaced(refold, folder):
    (folder / "old.json").write_text("old")
    assert refold("fit", "new.csv", "-o", "old.json", cwd=folder).returncode == 0
    assert refold("inspect", "old.json", cwd=folder).returncode == 0


# ---- what a command leaves when it is stopped ----------------------------------------------------

NAMED = "import os; del os.O_TMPFILE"  # as where files cannot be created without a name
AS_IT_IS = ""


def written_by(pid, folder):
    """Return the sizes of what a process has open in a folder, with or without a name."""
    opened = Path(f"/proc/{pid}/fd")
    inside = [file for file in opened.iterdir() if os.readlink(file).startswith(f"{folder}/")]
    return [file.stat().st_size for file in inside]


@pytest.mark.parametrize("out", ["old.csv", "old.parquet"])
@pytest.mark.parametrize(
    ("way", "number"),
    [
        (NAMED, signal.SIGTERM),
        (NAMED, signal.SIGHUP),
        (AS_IT_IS, signal.SIGTERM),
        (AS_IT_IS, signal.SIGKILL),
    ],
)
def test_a_command_that_is_ended_leaves_the_old_file_and_no_other(out, way, number, folder):
    if way == AS_IT_IS and not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system cannot create a file without a name (O_TMPFILE)")
    (folder / out).write_text("old")
    before = sorted(folder.iterdir())
    program = f"{way}\nfrom refold.cli import app; app()"
    line = [sys.executable, "-c", program, "score", "model.json", "-", "-o", out]
    header, _, rows = (folder / "new.csv").read_bytes().partition(b"\n")
    pipe = subprocess.PIPE
    with default_signals(), subprocess.Popen(line, stdin=pipe, stderr=pipe, cwd=folder) as run:
        run.stdin.write(
            header + b"\n" + rows * 15000
        )  # three blocks: the last line of a table may be one of totals
        run.stdin.flush()
        wait_until(lambda: written_by(run.pid, folder), running=run)
        end(run, number)
        said = run.stderr.read()
    assert run.returncode == (128 + number if way == NAMED else -number)
    assert said == b""
    assert (folder / out).read_text() == "old"
    assert sorted(folder.iterdir()) == before


def end(run, number):
    """Send a signal as who waits would: one that falls just before a read waits for the next.

    On a busy machine cleaning up takes seconds, and a second signal would interrupt it.
    """
    for _ in range(4):
        run.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            run.wait(LIMIT / 4)
            return
    run.kill()
    raise AssertionError(f"it did not end by signal {number}")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_cannot_grow_leaves_the_old_one(command, folder):
    """The system refuses to write, in the middle of a file."""
    out = "old.csv" if command == "score" else "old"
    (folder / out).write_text("old")
    before = sorted(folder.iterdir())

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    # What measures coverage would write a file too.
    plain = {name: value for name, value in os.environ.items() if "COVERAGE" not in name}
    line = [REFOLD, *COMMANDS[command], "-o", out]
    done = subprocess.run(
        line, cwd=folder, capture_output=True, check=False, preexec_fn=small, env=plain
    )
    assert (done.returncode, done.stderr.decode()) == (2, f"Error: {out}: File too large.\n")
    assert (folder / out).read_text() == "old"
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("out", ["pipe.csv", "pipe.parquet"])
def test_a_pipe_takes_the_output_and_stays_a_pipe(out, refold, folder):
    os.mkfifo(folder / out)
    with subprocess.Popen(["cat", out], stdout=subprocess.PIPE, cwd=folder) as reader:
        done = refold("score", "model.json", "new.csv", "-o", out, cwd=folder)
        content = reader.stdout.read()
    assert done.returncode == 0, done.stderr
    assert stat.S_ISFIFO((folder / out).stat().st_mode)
    (folder / "seen.parquet").write_bytes(content)
    if out.endswith("csv"):
        assert content.count(b"\n") == 61
    else:
        assert pq.read_table(folder / "seen.parquet").num_rows == 60


def test_a_model_on_standard_output_loads(refold, folder):
    done = refold("fit", "new.csv", "-o", "/dev/stdout", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{")
    model = done.stdout[: done.stdout.index('{\n  "model": "/dev/stdout"')]
    (folder / "again.json").write_text(model)
    assert refold("inspect", "again.json", cwd=folder).returncode == 0
    assert os.path.exists("/dev/stdout")
    assert not os.path.isfile("/dev/stdout") or os.path.islink("/dev/stdout")
