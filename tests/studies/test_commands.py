"""What ``refold reproduce`` and ``refold benchmark`` refuse, before anything is computed."""

from __future__ import annotations

import sys

import pytest

from refold.cli.benchmark import benchmark
from refold.cli.studies import reproduce
from tests.studies.conftest import refold


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("reproduce", ("table", "figure", "setting", "methods", "data", "out", "jobs")),
        ("benchmark", ("suite", "sets", "methods", "seeds", "out", "jobs", "time-limit")),
    ],
)
def test_help_names_every_option(command, options):
    done = refold(command, "--help", env={"COLUMNS": "200"})
    assert done.returncode == 0
    assert all(f"--{option}" in done.stdout for option in options)


@pytest.mark.parametrize(
    ("command", "option", "value", "message"),
    [
        ("reproduce", "--table", "2,4", "'4' is not among 1, 2, 3"),
        ("reproduce", "--table", "1;2", "'1;2' is not among"),
        ("reproduce", "--table", "", "'' is not among"),
        ("reproduce", "--figure", "x", "'x' is not among 1, 2"),
        ("reproduce", "--setting", "defaults", "'defaults' is not among default, optimized"),
        ("reproduce", "--methods", "REF,kNN", "'kNN' is not among REF, Linear SVDD"),
        ("reproduce", "--jobs", "0", "Invalid value for '--jobs'"),
        ("reproduce", "--data", "nowhere", "does not exist"),
        ("reproduce", "--data", ".", "has no folder ref-paper"),
        ("benchmark", "--sets", "wine,Wine", "'Wine' is not among"),
        ("benchmark", "--methods", "REF,kNN", "'kNN' is not among"),
        ("benchmark", "--suite", "odd", "'odd' is not one of"),
        ("benchmark", "--seeds", "0", "Invalid value for '--seeds'"),
        ("benchmark", "--time-limit", "0", "Invalid value for '--time-limit'"),
    ],
)
def test_bad_values(command, option, value, message, tmp_path):
    done = refold(command, option, value, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "file"),
    [
        (["reproduce", "--table", "1"], "ref-paper/iris.mat"),
        (["benchmark", "--sets", "wine"], "adbench/45_wine.npz"),
    ],
)
def test_damaged_data_is_told_in_a_sentence(options, file, tmp_path):
    path = tmp_path / file
    path.parent.mkdir()
    path.write_bytes(b"")
    environment = {"REFOLD_DATA": str(tmp_path), "HOME": str(tmp_path)}
    done = refold(*options, "--out", tmp_path / "out", env=environment)
    assert done.returncode == 2
    assert f"Error: {path} is damaged" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("command", "module", "extra"),
    [
        (reproduce, "matplotlib", "paper"),
        (reproduce, "pebble", "paper"),
        (benchmark, "jinja2", "benchmark"),
        (benchmark, "pyod", "benchmark"),
    ],
)
def test_a_missing_extra_is_named(command, module, extra, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"(?s)^{module} is needed.*'refold\[{extra}\]'"):
        command(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
