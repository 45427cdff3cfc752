"""What a command writes is never what it reads, and never less than what it means to write."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.cli.conftest import REFOLD

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
