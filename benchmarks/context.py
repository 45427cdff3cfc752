"""Learning and scoring by group beside pandas' mean and standard deviation of each group.

``python -m benchmarks.context [rows] [groups]``: five columns of numbers; z by hand with pandas is
``(x - groupby.transform("mean")) / groupby.transform("std")``. Seconds of the processor, and the
most memory a process had beyond the table, each measured in a process of its own.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROWS, GROUPS, COLUMNS = 3_000_000, 100_000, 5
PART = 100_000  # rows at a time
MOST = 2.0  # times the seconds of pandas


def table(rows, groups):
    """Return rows of groups whose levels differ."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, groups, rows)
    level = rng.normal(size=(groups, COLUMNS)) * 5.0
    frame = pd.DataFrame(level[group] + rng.normal(size=(rows, COLUMNS)), columns=list("abcde"))
    frame.insert(0, "group", np.char.add("g", group.astype(str)))
    return frame


def by_pandas(frame):
    """Return the seconds for z of each group."""
    begin = time.process_time()
    groups = frame.groupby("group")
    z = (frame[list("abcde")] - groups.transform("mean")) / groups.transform("std")
    spent = time.process_time() - begin
    assert abs(float(z["a"].std()) - 1.0) < 0.1
    return {"learn": spent, "score": spent}


def by_refold(frame):
    """Return the seconds for learning the groups, and for z of the same rows."""
    from refold.columns.context.context import ContextColumns, ContextModel
    from refold.columns.conversion import to_table

    begin = time.process_time()
    rows = to_table(frame)
    model = ContextModel.learn(ContextColumns(by=("group",)), rows)[0]
    learned = time.process_time() - begin
    begin = time.process_time()
    scored = model.apply(rows)
    spent = time.process_time() - begin
    assert abs(float(np.std(scored["a"].values)) - 1.0) < 0.2
    return {"learn": learned, "score": spent}


def by_detector(frame):
    """Return the seconds of a Detector: z, then what is normal of the rows."""
    from refold import Detector

    begin = time.process_time()
    model = Detector(by="group", n_jobs=1).fit(frame)
    learned = time.process_time() - begin
    begin = time.process_time()
    model.predict(frame)
    return {"learn": learned, "score": time.process_time() - begin}


def by_parts(frame):
    """Return the seconds of a Detector that sees so many rows at a time: its memory is flat."""
    from refold import Detector

    parts = [slice(begin, begin + PART) for begin in range(0, len(frame), PART)]
    begin = time.process_time()
    model = Detector(by="group", n_jobs=1)
    for part in parts:
        model.partial_fit(frame.iloc[part])
    learned = time.process_time() - begin
    begin = time.process_time()
    for part in parts:
        model.predict(frame.iloc[part])
    return {"learn": learned, "score": time.process_time() - begin}


WAYS = {
    "pandas": by_pandas,
    "refold, groups": by_refold,
    "refold, Detector": by_detector,
    "refold, in parts": by_parts,
}


def measured(way, rows, groups):
    """Return what a way takes, in this process."""
    frame = table(rows, groups)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew: making rows took some
    before = _kilobytes("VmRSS")
    found = WAYS[way](frame)
    return {**found, "memory": _kilobytes("VmHWM") - before}


def _kilobytes(what):
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(what))


def main():
    """Print a line for each way."""
    rows, groups = (int(each) for each in (*sys.argv[1:3], ROWS, GROUPS)[:2])
    print(f"{rows:,} rows, {groups:,} groups, {COLUMNS} columns")
    base = None
    for way in WAYS:
        command = [sys.executable, "-m", "benchmarks.context", str(rows), str(groups), way]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        found = json.loads(done.stdout)
        base = base or found
        ratios = [found[what] / base[what] for what in ("learn", "score")]
        print(
            f"{way:18s} learn {found['learn']:6.2f} s ({ratios[0]:4.1f} ×)  score "
            f"{found['score']:6.2f} s ({ratios[1]:4.1f} ×)  {found['memory'] / 1024:6,.0f} MB"
        )
    print(f"Aim: groups at most {MOST:g} × pandas.")


if __name__ == "__main__":
    if len(sys.argv) > 3:
        print(json.dumps(measured(sys.argv[3], int(sys.argv[1]), int(sys.argv[2]))))
    else:
        main()
