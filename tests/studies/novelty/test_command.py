"""``refold benchmark`` as a user runs it."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from refold.studies.novelty.cells import RANKED
from refold.studies.novelty.suite import ADBENCH, divide
from tests.studies.conftest import refold
from tests.studies.novelty.conftest import OPTIONS, write_task
from tests.waiting import wait_until
from tests.warm import REFOLD


@pytest.mark.slow
def test_two_sets_and_three_methods(whole_run):
    assert whole_run.output.endswith(f"Open {whole_run.folder / 'index.html'}\n")
    assert (whole_run.folder / "index.html").exists()
    with (whole_run.folder / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert [cell["outcome"] for cell in cells] == ["done"] * 18
    rows = divide(ADBENCH.load("wine"), seed=1)
    scale = StandardScaler().fit(rows.train)
    lof = LocalOutlierFactor(novelty=True).fit(scale.transform(rows.train))
    expected = roc_auc_score(rows.is_anomaly, -lof.score_samples(scale.transform(rows.test)))
    [found] = [c for c in cells if (c["set"], c["method"], c["seed"]) == ("wine", "LOF", "1")]
    assert float(found["auroc"]) == pytest.approx(expected)
    lines = whole_run.output.splitlines()
    table = {line.split()[0]: line.split()[1:] for line in lines[1:4]}
    mean = np.mean([float(cell["auroc"]) for cell in cells if cell["method"] == "REF"])
    assert table["REF"][0] == f"{100 * mean:.1f}"
    assert table["REF"][-1] == "2/2"
    assert "REF against each: sets won–tied–lost, p of Wilcoxon's test after Holm's" in lines


@pytest.mark.slow
def test_tasks_that_say_what_to_learn_from(tmp_path, rng):
    for name in ("one", "Other"):
        write_task(tmp_path / "oddbench", name, rng)
    line = ["benchmark", "--suite", "oddbench", "--methods", "CreasedREF,kNN-1", "--out"]
    environment = {"REFOLD_DATA": str(tmp_path), "HOME": str(tmp_path)}
    done = refold(*line, tmp_path / "out", env=environment)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out" / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    ran = [(cell["set"], cell["method"], cell["outcome"]) for cell in cells]
    assert ran == [(s, m, "done") for s in ("one", "Other") for m in ("CreasedREF", "kNN-1")]
    assert "the training rows of a task" in (tmp_path / "out" / "index.html").read_text("utf-8")


def test_no_tasks_are_told_in_a_sentence(tmp_path):
    for data, why in (({}, "REFOLD_DATA is not set"), ({"REFOLD_DATA": str(tmp_path)}, "has none")):
        done = refold("benchmark", "--suite", "oddbench", env=data, cwd=tmp_path)
        assert done.returncode == 2
        assert why in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "benchmark-oddbench").exists()


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
    wait_until(lambda: len(list(tmp_path.rglob("*.json"))) >= 4, running=process)
    cells = sorted(tmp_path.rglob("*.json"))
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
