"""The command's options and errors; what it computes is tested with the paper."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REFOLD = Path(sys.executable).with_name("refold")


def refold(*arguments, **keywords):
    return subprocess.run(
        [REFOLD, *map(str, arguments)], capture_output=True, text=True, check=False, **keywords
    )


def words(text):
    """Return the words of a message, whatever box it was drawn in."""
    return " ".join(text.replace("│", " ").split())


def test_help_names_every_option():
    done = refold("reproduce", "--help", env={"COLUMNS": "200"})
    assert done.returncode == 0
    for option in ("table", "figure", "setting", "methods", "data", "out", "jobs"):
        assert f"--{option}" in done.stdout


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--table", "4", "'4' is not among 1, 2, 3"),
        ("--table", "1;2", "'1;2' is not among"),
        ("--table", "", "'' is not among"),
        ("--figure", "3", "'3' is not among 1, 2"),
        ("--setting", "default,best", "'best' is not among default, optimized"),
        ("--methods", "REF,SVM", "'SVM' is not among REF, Linear SVDD"),
        ("--jobs", "0", "Invalid value for '--jobs'"),
        ("--jobs", "many", "Invalid value for '--jobs'"),
        ("--data", "nowhere", "does not exist"),
    ],
)
def test_bad_values_are_refused(option, value, message, tmp_path):
    done = refold("reproduce", option, value, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2
    assert message in words(done.stderr)
    assert not (tmp_path / "out").exists()


def test_folder_without_the_data(tmp_path):
    done = refold("reproduce", "--data", tmp_path, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "has no folder ref-paper in it" in words(done.stderr)


def test_damaged_data_is_an_error_without_traceback(tmp_path):
    (tmp_path / "ref-paper").mkdir()
    for name in ("bankruptcy", "happiness", "ionosphere", "iris", "seeds", "sonar"):
        (tmp_path / "ref-paper" / f"{name}.mat").write_bytes(b"")
    done = refold("reproduce", "--data", tmp_path, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "is damaged" in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_extra_is_named(tmp_path):
    out = str(tmp_path / "out")
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        f"sys.argv = ['refold', 'reproduce', '--out', {out!r}]\n"
        "from refold.cli import app; app()"
    )
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Install 'refold[paper]'" in done.stderr
    assert "Traceback" not in done.stderr
