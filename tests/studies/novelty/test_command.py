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

from refold.studies.novelty.measures import MEASURES, RANKED
from refold.studies.novelty.suite import ADBENCH
from tests.studies.conftest import refold
from tests.studies.novelty.conftest import OPTIONS, write_task
from tests.studies.novelty.test_streams import write_nab, write_skab
from tests.waiting import wait_until
from tests.warm import REFOLD


@pytest.mark.slow
def test_two_sets_and_three_methods(whole_run):
    assert whole_run.output.endswith(f"Open {whole_run.folder / 'index.html'}\n")
    assert (whole_run.folder / "index.html").exists()
    with (whole_run.folder / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert [cell["outcome"] for cell in cells] == ["done"] * 18
    rows = ADBENCH.divide(ADBENCH.load("wine"), seed=1)
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
@pytest.mark.parametrize(
    ("suite", "names"),
    [
        ("oddbench", ["one", "Other"]),
        ("oddbench-test", ["one", "Other"]),
        ("ovrbench", ["one", "Other"]),
        ("adbench-dte", ["one", "Other"]),
        ("streams", ["skab/valve1-0", "nab/taxi"]),
    ],
)
def test_every_suite_on_small_files_of_its_kind(tmp_path, rng, suite, names):
    data, out = tmp_path / "data", tmp_path / "out"
    if suite == "streams":
        write_skab(data / suite, rng)
        write_nab(data / suite, rng.normal(size=300), [(200, 220)])
    for i, name in enumerate([] if suite == "streams" else names):
        extra = {"X": rng.normal(size=(50, 3)), "y": np.arange(50) % 10 == 0}
        dte = suite == "adbench-dte"
        folder, file = ("adbench", f"{i}_{name}") if dte else (suite, name)
        write_task(data / folder, file, rng, **(extra if dte else {}))
    line = ["benchmark", "--suite", suite, "--methods", "CreasedREF,kNN-1", "--seeds", "2"]
    done = refold(*line, "--data", data, "--out", out, env={"HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    with (out / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    ran = [(cell["set"], cell["method"], cell["seed"], cell["outcome"]) for cell in cells]
    one_by_one = [("CreasedREF", "0"), ("CreasedREF", "1"), ("kNN-1", "0"), ("kNN-1", "1")]
    # Of fifty rows DTE draws a thousand; elsewhere the nearest neighbour needs one seed only.
    jobs = one_by_one if suite == "adbench-dte" else one_by_one[:3]
    assert ran == [(name, *job, "done") for name in names for job in jobs]
    with (out / "summary.csv").open(encoding="utf-8", newline="") as file:
        summary = {row["method"]: row for row in csv.DictReader(file)}
    mean = np.mean([float(cell["auroc"]) for cell in cells if cell["method"] == "CreasedREF"])
    assert float(summary["CreasedREF"]["auroc"]) == pytest.approx(100 * mean, abs=0.006)
    page = (out / "index.html").read_text("utf-8")
    assert ("TaskBridge" in page) == suite.startswith("oddbench")
    assert ('id="groups"' in page) == (suite != "adbench-dte")


@pytest.mark.slow
def test_hard_anomalies_alone(tmp_path, rng):
    z = rng.normal(size=(300, 1))
    pair = z + 0.05 * rng.normal(size=(300, 2))
    apart = np.where(rng.random((40, 1)) < 0.5, [[0.5, -0.5]], [[-0.5, 0.5]])
    test = np.concatenate([pair[200:], apart, apart + 100.0])
    labels = np.arange(len(test)) >= 100
    changed = {"train": pair[:200], "test": test, "test_labels": labels}
    write_task(tmp_path / "oddbench", "pairs", rng, **changed)
    write_task(tmp_path / "oddbench", "easy", rng)
    line = ["benchmark", "--suite", "oddbench", "--hard", "--methods", "CreasedREF,HBOS"]
    done = refold(*line, "--data", tmp_path, "--seeds", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "fewer than 10 anomalies are normal in every single column: easy." in done.stdout
    with (tmp_path / "benchmark-oddbench-hard/cells.csv").open(encoding="utf-8") as file:
        auroc = {cell["method"]: float(cell["auroc"]) for cell in csv.DictReader(file)}
    assert auroc["CreasedREF"] > 0.95  # values that do not go together
    assert auroc["HBOS"] < 0.6  # which no single column shows
    assert (
        "OddBench, hard anomalies" in (tmp_path / "benchmark-oddbench-hard/index.html").read_text()
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (["--suite", "streams", "--hard"], "has no such choice"),
        (["my.csv", "--hard"], "does not go with a table of your own"),
    ],
)
def test_hard_where_there_is_no_such_choice(tmp_path, line, why):
    done = refold("benchmark", *line, cwd=tmp_path)
    assert done.returncode == 2
    assert why in " ".join(done.stderr.replace("│", " ").split())


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


KEPT = [name for name in MEASURES if name in RANKED or name == "false_alarms"]


def results(folder):
    """What a run wrote, but for the times."""
    with (folder / "cells.csv").open(encoding="utf-8", newline="") as file:
        return [
            [row[key] for key in ("set", "method", "seed", "outcome", *KEPT)]
            for row in csv.DictReader(file)
        ]
