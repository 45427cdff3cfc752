"""Cells of the tables: the same in every run, and runs can be interrupted and repeated."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path

import pytest

from refold.studies.paper.cells import PaperCell, PaperJob, PaperStudy
from refold.studies.paper.columns import COLUMNS
from refold.studies.run import CellStore
from tests.waiting import wait_until
from tests.warm import REFOLD

JOB = PaperJob("abs L1/D", "default", "Iris1", 0)
CELL = PaperCell([93.1], [{"threshold": 0.4}])


def test_a_cell_of_other_hyperparameters_is_not_read(tmp_path, monkeypatch):
    store = CellStore(tmp_path, PaperStudy())
    store.write(JOB, CELL)
    assert store.read(JOB) == CELL
    monkeypatch.setitem(COLUMNS, JOB.column, COLUMNS["abs L2/D"])
    assert store.read(JOB) is None


@pytest.mark.parametrize("cell", [PaperCell([], []), PaperCell([93.1, 92.0], [{}])])
def test_a_cell_that_contradicts_itself_is_not_read(tmp_path, cell):
    store = CellStore(tmp_path, PaperStudy())
    store.write(JOB, cell)
    assert store.read(JOB) is None


@pytest.mark.parametrize("column", ["abs L1/D", "Linear SVDD", "SVDD+GRM"])
@pytest.mark.usefixtures("paper_data")
def test_an_optimized_cell_is_the_same_in_every_run(column):
    job = PaperJob(column, "optimized", "Iris2", 1)
    first, second = (PaperStudy().compute(job) for _ in range(2))
    assert first == second
    assert all(0.0 < gmean <= 100.0 for gmean in first.gmeans)


@pytest.mark.usefixtures("paper_data")
def test_rates_of_the_papers_thresholds_are_not_warned_of():
    """A run of the optimized setting would print hundreds of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PaperStudy().compute(PaperJob("abs L1/D", "optimized", "Iris1", 0))


def files_of(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".part"
    }


@pytest.mark.slow
def test_an_interrupted_run_continues(reproduce, tmp_path):
    """Kill a run in the middle, damage a cell, run again: the files of a run without a break."""
    options = ["--table", "2", "--setting", "default", "--jobs", "1"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    reproduce(*options, "--out", whole)
    line = [REFOLD, "reproduce", *options, "--out", broken]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: len(list(broken.rglob("*.json"))) >= 20, running=process)
    cells = sorted(broken.rglob("*.json"))
    process.kill()
    process.wait()
    assert not (broken / "table2.csv").exists()
    kept = {path: path.stat().st_mtime_ns for path in cells[1:]}
    cells[0].write_bytes(cells[0].read_bytes()[:20])
    reproduce(*options, "--out", broken)
    assert files_of(broken) == files_of(whole)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


@pytest.mark.slow
def test_two_runs_give_the_same_files(reproduce, default_run, tmp_path):
    """Two processes instead of all cores, and only what is quick."""
    methods = ("--methods", "REF,OCELM")
    options = ("--table", "1,2,3", "--figure", "1,2", "--setting", "default", *methods)
    folders = [tmp_path / "one", tmp_path / "two"]
    for jobs, folder in zip((1, 2), folders, strict=True):
        reproduce(*options, "--out", folder, "--jobs", jobs)
    one, two = map(files_of, folders)
    assert one == two
    whole = files_of(default_run)
    for name in ("figure1.png", "figure2.svg", "table2.csv"):
        assert one[Path(name)] == whole[Path(name)]
