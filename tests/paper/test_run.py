"""Runs can be interrupted and repeated; nothing half-written is ever read."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from refold.paper.cells import CellStore, Job
from refold.paper.data import load_task
from refold.paper.protocol import CellResult, run_cell
from refold.paper.registry import COLUMNS
from refold.paper.run import run

JOB = Job("abs L1/D", "default", "Iris1", 0)


def files_of(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".part"
    }


class TestCellStore:
    RESULT = CellResult((93.1,), ({"threshold": 0.4},))

    def test_gives_back_what_was_written(self, tmp_path):
        store = CellStore(tmp_path)
        store.write(JOB, self.RESULT)
        assert store.read(JOB) == self.RESULT
        assert [path.suffix for path in tmp_path.rglob("*") if path.is_file()] == [".json"]

    @pytest.mark.parametrize("kept", [0, 1, 30, -3])
    def test_ignores_a_file_that_is_cut_off(self, tmp_path, kept):
        store = CellStore(tmp_path)
        store.write(JOB, self.RESULT)
        path = store.path(JOB)
        path.write_bytes(path.read_bytes()[:kept])
        assert store.read(JOB) is None

    @pytest.mark.parametrize("text", ["[]", "{}", '{"fingerprint": 1}', "\xff"])
    def test_ignores_what_is_no_cell(self, tmp_path, text):
        store = CellStore(tmp_path)
        store.write(JOB, self.RESULT)
        store.path(JOB).write_bytes(text.encode("latin-1"))
        assert store.read(JOB) is None

    def test_ignores_a_cell_of_other_settings(self, tmp_path, monkeypatch):
        store = CellStore(tmp_path)
        store.write(JOB, self.RESULT)
        monkeypatch.setattr("refold.paper.cells.__version__", "99")
        assert store.read(JOB) is None

    def test_leaves_nothing_behind_when_writing_fails(self, tmp_path, monkeypatch):
        def fail(*args):
            raise OSError("disk full")

        monkeypatch.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            CellStore(tmp_path).write(JOB, self.RESULT)
        assert not any(path.is_file() for path in tmp_path.rglob("*"))


@pytest.mark.usefixtures("data")
def test_finished_cells_are_not_run_again(tmp_path, monkeypatch):
    tasks = [load_task("Iris1", split) for split in range(5)]
    store, wanted = CellStore(tmp_path), [("base L1/D", "default")]
    first = run(wanted, tasks, store)
    monkeypatch.setattr("refold.paper.run.run_cell", None)
    seen = []
    assert run(wanted, tasks, store, progress=lambda *now: seen.append(now)) == first
    assert seen == [(5, 5)]


@pytest.mark.parametrize("column", ["abs L1/D", "Linear SVDD", "SVDD+GRM"])
@pytest.mark.usefixtures("data")
def test_an_optimized_cell_is_the_same_in_every_run(column):
    task = load_task("Iris2", split=1)
    first, second = (run_cell(COLUMNS[column], "optimized", task) for _ in range(2))
    assert first == second
    assert all(0.0 < gmean <= 100.0 for gmean in first.gmeans)


@pytest.mark.slow
def test_an_interrupted_run_continues(command, tmp_path):
    """Kill a run in the middle, damage a cell, run again: the files of a run without a break."""
    options = ["--table", "2", "--setting", "default", "--jobs", "1"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    command("reproduce", *options, "--out", whole)
    line = [Path(sys.executable).with_name("refold"), "reproduce", *options, "--out", broken]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(cells := sorted(broken.rglob("*.json"))) < 20:
        assert process.poll() is None, "the run ended before it could be interrupted"
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert not (broken / "table2.csv").exists()
    kept = {path: path.stat().st_mtime_ns for path in cells[1:]}
    cells[0].write_bytes(cells[0].read_bytes()[:20])
    command("reproduce", *options, "--out", broken)
    assert files_of(broken) == files_of(whole)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


@pytest.mark.slow
def test_two_runs_give_the_same_files(command, default_run, tmp_path):
    """Two processes instead of all cores, and only what is quick."""
    methods = ("--methods", "REF,OCELM")
    options = ("--table", "1,2,3", "--figure", "1,2", "--setting", "default", *methods)
    folders = [tmp_path / "one", tmp_path / "two"]
    for jobs, folder in zip((1, 2), folders, strict=True):
        command("reproduce", *options, "--out", folder, "--jobs", jobs)
    one, two = map(files_of, folders)
    assert one == two
    whole = files_of(default_run)
    for name in ("figure1.png", "figure2.svg", "table2.csv"):
        assert one[Path(name)] == whole[Path(name)]
