"""Alarms: how often a monitor errs, how soon it sees a change, and incidents of real streams.

``python -m benchmarks.alarms simulate`` and ``python -m benchmarks.alarms streams FOLDER``; the
folder has ``nab/*.csv`` with ``combined_windows.json`` (numenta/NAB) and ``skab/valve1-*.csv``
(waico/SKAB).
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from refold import REF, Detector, incidents
from refold.judgement import Judgement
from refold.monitoring import DriftMonitor

ALPHA, TRAINING, COLUMNS = 0.01, 1000, 3


def monitor(rng: np.random.Generator) -> DriftMonitor:
    model = REF(alpha=0.01).fit(rng.normal(size=(TRAINING, COLUMNS)))
    return DriftMonitor(model, alpha=ALPHA)


def false_alarms(runs: int, rows: int, look: int) -> tuple[float, float]:
    """Return the share of normal streams with an alarm at any look: change(), and result()."""
    anytime = naive = 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        watched, any_naive = monitor(rng), False
        for _ in range(rows // look):
            watched.update(rng.normal(size=(look, COLUMNS)))
            any_naive = any_naive or watched.result().verdict != "same"
        anytime += watched.change().changed  # what was once proven stays so
        naive += any_naive
    return anytime / runs, naive / runs


def rows_until_seen(
    shift: float, runs: int, before: int, look: int, most: int
) -> tuple[list[float], list[float]]:
    """Return after how many rows a shift of one column is seen, by change() and by result()."""
    anytime, naive = [], []
    for run in range(runs):
        rng = np.random.default_rng(1000 + run)
        watched = monitor(rng).update(rng.normal(size=(before, COLUMNS)))
        seen = {"change": np.inf, "result": np.inf}
        for rows in range(look, most + 1, look):
            new = rng.normal(size=(look, COLUMNS))
            new[:, 0] += shift
            watched.update(new)
            if watched.change().changed:
                seen["change"] = min(seen["change"], rows)
            if watched.result().verdict != "same":
                seen["result"] = min(seen["result"], rows)
            if max(seen.values()) < np.inf:
                break
        anytime.append(seen["change"])
        naive.append(seen["result"])
    return anytime, naive


def simulate(runs: int, rows: int, look: int) -> None:
    anytime, naive = false_alarms(runs, rows, look)
    print(f"{runs} normal streams of {rows:,} rows, {COLUMNS} columns, alpha {ALPHA:.0%}, ", end="")
    print(f"looked at after every {look} rows: share with a false alarm")
    print(f"change() {anytime:.1%}  result() {naive:.1%}")
    print("rows until a shift of one column is seen, median of 20 runs after 5,000 normal rows")
    for shift in (0.5, 1.0, 2.0):
        found = rows_until_seen(shift, 20, 5000, 16, 4000)
        print(f"{shift} sd: change() {np.median(found[0]):g}  result() {np.median(found[1]):g}")


def nab(folder: Path) -> Iterator[tuple[str, pd.DataFrame, np.ndarray, int, dict[str, str]]]:
    """Yield series: name, rows, label of the incident of each row (0 is none), training rows."""
    windows = json.loads((folder / "combined_windows.json").read_text())
    named = {Path(name).name: found for name, found in windows.items()}
    for file in sorted(folder.glob("*.csv")):
        rows = pd.read_csv(file, parse_dates=["timestamp"])
        label = np.zeros(len(rows), dtype=np.int64)
        for number, (begin, end) in enumerate(named[file.name], 1):
            label[rows["timestamp"].between(begin, end).to_numpy()] = number
        yield file.stem, rows, label, int(0.3 * len(rows)), {"over": "timestamp"}


def skab(folder: Path) -> Iterator[tuple[str, pd.DataFrame, np.ndarray, int, dict[str, str]]]:
    """Yield runs; the first 400 rows are normal."""
    for file in sorted(folder.glob("valve1-*.csv")):
        rows = pd.read_csv(file, sep=";", parse_dates=["datetime"])
        anomaly = rows.pop("anomaly").to_numpy() > 0
        begins = anomaly & ~np.append(False, anomaly[:-1])
        label = np.where(anomaly, np.cumsum(begins), 0)
        yield file.stem, rows.drop(columns=["datetime", "changepoint"]), label, 400, {}


def streams(folder: Path) -> None:
    print(
        f"{'stream':40} {'rows':>6} {'outliers':>8} {'incidents':>9} {'found':>7} {'per 1,000':>9}"
    )
    for kind, part in (("nab", nab), ("skab", skab)):
        lines = []
        for name, rows, label, n, how in part(folder / kind):
            lines.append(counts_of(rows, label, n, how))
            print_line(name, lines[-1])
        print_line(f"all of {kind}", np.sum(lines, axis=0).tolist())


def counts_of(rows: pd.DataFrame, label: np.ndarray, n: int, how: dict[str, str]) -> list[int]:
    """Learn the first n rows that belong to no incident, and look for incidents in the others."""
    new, of_new = rows[n:].reset_index(drop=True), label[n:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Detector(alpha=ALPHA, **how).fit(rows[:n][label[:n] == 0])
        judged = Judgement.of(model, new)
        found = incidents(model, judged)
    labels = [set(of_new[list(one.rows)].tolist()) - {0} for one in found]
    seen, known = set().union(*labels), set(of_new.tolist()) - {0}
    false, normal = sum(not each for each in labels), int((of_new == 0).sum())
    outliers = int(judged.outlier.sum())
    return [len(new), outliers, len(found), len(seen), len(known), false, normal]


def print_line(name: str, counts: list[int]) -> None:
    rows, outliers, made, seen, known, false, normal = counts
    print(
        f"{name:40} {rows:6} {outliers:8} {made:9} {seen:3}/{known:<3} {1000 * false / normal:9.1f}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["simulate", "streams"])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rows", type=int, default=100_000)
    given = parser.parse_args()
    if given.what == "simulate":
        simulate(given.runs, given.rows, 500)
    else:
        streams(given.folder)
