"""Each call to the system that writes fails in turn: the old file or the new one, never half."""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import refold
from refold import REF, CreasedREF, scale
from refold.report import write_report
from tests.cli.conftest import parts, rows  # noqa: F401 - fixtures

X = np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 2.0, 3.0]
TABLE = pd.DataFrame(X, columns=["torque", "speed", "heat"])
MODEL = REF(n_iter=5, alpha=0.05).fit(TABLE)

WRITERS = {
    "save": lambda table, out: refold.save(MODEL, out),
    "save creased": lambda table, out: refold.save(CreasedREF(n_creases=2).fit(X), out),
    **{
        f"score.{form}": lambda table, out: scale.score(MODEL, table, out)
        for form in ("csv", "parquet", "arrow")
    },
    "write_report": lambda table, out: write_report(MODEL, TABLE, out),
}
SYSTEM = ("open", "fchmod", "fsync", "link", "replace")


class Faulty:
    """Counts the calls that touch what is written, and lets one of them fail."""

    def __init__(self, patch, fails_at=None):
        self.count, self.fails_at = 0, fails_at
        for name in SYSTEM:
            patch.setattr(os, name, self.counted(getattr(os, name)))
        opened = builtins.open

        def open_(file, mode="r", *more, **keywords):
            made = opened(file, mode, *more, **keywords)
            return _Counted(made, self) if mode == "wb" else made

        patch.setattr(builtins, "open", open_)

    def counted(self, call):
        def wrapped(*arguments, **keywords):
            self.step()
            return call(*arguments, **keywords)

        return wrapped

    def step(self):
        self.count += 1
        if self.count == self.fails_at:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


class _Counted(io.RawIOBase):
    """A file whose every write and flush is counted."""

    def __init__(self, file, faults):
        self._file, self._faults = file, faults

    def writable(self):
        return True

    def fileno(self):
        return self._file.fileno()

    def write(self, content):
        self._faults.step()
        return self._file.write(content)

    def flush(self):
        if not self._file.closed:
            self._faults.step()
            self._file.flush()

    def close(self):
        self._file.close()


@pytest.fixture
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("in") / "table.csv"
    TABLE.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("way", ["unnamed", "named"])
@pytest.mark.parametrize("name", WRITERS)
def test_every_step_of_a_writer_may_fail(name, way, table, tmp_path, monkeypatch):
    if way == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr("refold.scale.blocks._MOST", 50)
    out = tmp_path / f"out{os.path.splitext(name)[1]}"
    with monkeypatch.context() as patch:
        faults = Faulty(patch)
        WRITERS[name](table, out)
    whole, steps = len(out.read_bytes()), faults.count
    assert steps >= 5
    for number in range(1, steps + 1):
        out.write_bytes(b"old")
        with monkeypatch.context() as patch:
            faults = Faulty(patch, number)
            failed = None
            try:
                WRITERS[name](table, out)
            except OSError as error:
                failed = error.errno
        assert failed in (errno.EIO, None)
        is_new = len(out.read_bytes()) == whole
        assert is_new or (failed and out.read_bytes() == b"old")
        # Only the name on the disk comes after it is new; where no file can be without a name, one
        # that has a name is written.
        assert failed is None or not is_new or number >= steps - 1
        assert os.listdir(tmp_path) == [out.name]


# ---- commands ----------------------------------------------------------------------------------

COMMANDS = {
    "fit": ("fit", "normal.csv"),
    "score": ("score", "model.json", "new.csv"),
    "report": ("report", "model.json", "new.csv"),
    "export": ("export", "model.json", "--to", "onnx"),
}
NAMED = "del os.O_TMPFILE"  # as where files cannot be created without a name


def run(command, preamble, folder, out):
    program = f"import os, signal\n{preamble}\nfrom refold.cli import app; app()"
    line = [sys.executable, "-c", program, *COMMANDS[command], "-o", str(out)]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def out(tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("old")
    return path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_command_whose_disk_fails_says_so(command, step, parts, out):  # noqa: F811
    fail = f"def fail(*_, **__): raise OSError({errno.EIO}, 'no')\nos.{step} = fail"
    done = run(command, fail, parts, out)
    assert (done.returncode, done.stderr) == (2, f"Error: {out}: Input/output error.\n")
    assert out.read_text() == "old"
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("way", ["pass", NAMED], ids=["unnamed", "named"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_command_that_is_ended_before_it_is_done(command, way, number, parts, out):  # noqa: F811
    done = run(command, f"{way}\nos.fsync = lambda _: os.kill(os.getpid(), {number})", parts, out)
    unwinds = way == NAMED and number == signal.SIGTERM
    assert (done.returncode, done.stderr) == (128 + number if unwinds else -number, "")
    assert out.read_text() == "old"
    stray = [file.name for file in out.parent.iterdir() if file != out]
    if way == NAMED and number == signal.SIGKILL:  # nobody is left to remove it; it is hidden
        assert [name.startswith(".refold-") for name in stray] == [True]
    else:
        assert stray == []


@pytest.mark.parametrize("command", ["fit", "report", "export"])
def test_a_full_device(command, parts):  # noqa: F811
    done = run(command, "pass", parts, "/dev/full")
    assert (done.returncode, done.stderr) == (2, "Error: /dev/full: No space left on device.\n")
