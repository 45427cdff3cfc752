"""Runs can be killed and continued, and a cell that takes too long is stopped and shown."""

from __future__ import annotations

import csv
import subprocess
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest
from pebble import ProcessExpired

from refold.benchmark.cells import CellStore, Job
from refold.benchmark.protocol import MEASURES, RANKED, Cell
from refold.benchmark.run import _cell, run
from tests.benchmark.conftest import OPTIONS, REFOLD, refold

JOB = Job("wine", "LOF", 0)
DONE = Cell("done", dict.fromkeys(MEASURES, 0.5), "careful")


class TestCellStore:
    @pytest.mark.parametrize("cell", [DONE, Cell.failed(ValueError("no")), Cell.too_long(9.0)])
    def test_gives_back_what_was_written(self, tmp_path, cell):
        store = CellStore(tmp_path, time_limit=9.0)
        store.write(JOB, cell)
        assert store.read(JOB) == cell
        assert store.finished([JOB, JOB._replace(seed=1)]) == {JOB: cell}

    def test_more_time_is_another_chance(self, tmp_path):
        CellStore(tmp_path, time_limit=9.0).write(JOB, Cell.too_long(9.0))
        assert CellStore(tmp_path, time_limit=8.0).read(JOB) is not None
        assert CellStore(tmp_path, time_limit=10.0).read(JOB) is None

    @pytest.mark.parametrize("cell", [Cell("done", {}), replace(DONE, outcome="failed")])
    def test_ignores_what_contradicts_itself(self, tmp_path, cell):
        store = CellStore(tmp_path, time_limit=9.0)
        store.write(JOB, cell)
        assert store.read(JOB) is None

    def test_ignores_a_cell_of_another_version(self, tmp_path, monkeypatch):
        store = CellStore(tmp_path, time_limit=9.0)
        store.write(JOB, DONE)
        monkeypatch.setattr("refold.benchmark.cells.__version__", "99")
        assert store.read(JOB) is None


def test_a_process_that_crashed_is_a_failure():
    future = Future()
    future.set_exception(ProcessExpired("Abnormal termination", code=-9))
    assert _cell(future, 9.0).outcome == "failed"
    assert "Abnormal termination" in _cell(future, 9.0).note


@pytest.mark.usefixtures("adbench")
def test_what_takes_too_long_is_stopped_and_kept(tmp_path):
    store = CellStore(tmp_path, time_limit=0.3)
    jobs = [Job("Waveform", "SSVDD", 0)]  # takes some seconds
    seen = []
    found = run(jobs, store, progress=lambda *now: seen.append(now))
    assert found == {jobs[0]: Cell.too_long(0.3)}
    assert seen == [(0, 1), (1, 1)]
    assert run(jobs, store, progress=lambda *now: seen.append(now)) == found
    assert seen[2:] == [(1, 1)]


def children(pid):
    """Processes that a process has started and that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has ended
            continue
        if int(parent) == pid and state != "Z":
            found.append(stat.parent)
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("adbench")
def test_a_killed_run_continues(whole_run, tmp_path):
    line = [REFOLD, "benchmark", *OPTIONS, "--jobs", "1", "--out", str(tmp_path)]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(cells := sorted(tmp_path.rglob("*.json"))) < 4:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.005)
    workers = children(process.pid)
    assert workers
    process.kill()
    process.wait()
    assert not (tmp_path / "cells.csv").exists()
    kept = {path: path.stat().st_mtime_ns for path in cells[1:]}
    cells[0].write_bytes(cells[0].read_bytes()[:20])
    done = refold("benchmark", *OPTIONS, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert results(tmp_path) == results(whole_run.folder)
    assert not any(worker.exists() for worker in workers), "a worker has outlived its run"


def results(folder):
    """What a run wrote, but for the times."""
    with (folder / "cells.csv").open(encoding="utf-8", newline="") as file:
        return [
            [row[key] for key in ("set", "method", "seed", "outcome", *RANKED, "false_alarms")]
            for row in csv.DictReader(file)
        ]
