"""A mixed table beside pyarrow's reading of it, and numbers alone beside the estimator inside.

``python -m benchmarks.tables``: 1,000,000 rows of ten columns of numbers and ten of texts, from a
CSV file in a temporary folder.
"""

import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc

from benchmarks.measure import peak_bytes
from refold import REF, CreasedREF, Detector
from refold.tabular import open_table, read_arrow

ROWS, GOAL, OVERHEAD = 1_000_000, 3.0, 1.2
DISTINCT = (2, 3, 5, 12, 40, 300, 10_000, 100_000)


def make(path, rows=ROWS):
    """Write a table whose texts go from two values to as many as there are rows."""
    rng = np.random.default_rng(0)
    columns = {f"n{j}": rng.normal(50.0, 10.0, rows).round(3) for j in range(10)}
    for j, values in enumerate(DISTINCT):
        names = np.array([f"value {k}" for k in range(values)])
        columns[f"t{j}"] = names[rng.integers(0, values, rows)]
    seconds = rng.integers(0, 365 * 86_400, rows).astype("m8[s]")
    columns["at"] = (np.datetime64("2025-01-01T00:00:00") + seconds).astype(str)
    columns["key"] = np.char.add("R", np.char.zfill(rng.permutation(rows).astype(str), 7))
    pc.write_csv(pa.table(columns), path)


def taken(work):
    """Return the shorter of two runs, in seconds."""
    times = []
    for _ in range(2):
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return min(times), result


def mixed():
    """Learn and score from the file, reading included, beside pyarrow's reading alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        make(path)

        def read():
            with open_table(path) as table:
                return read_arrow(table)

        alone, _ = taken(lambda: pc.read_csv(path))
        ours, table = taken(read)
        learn, model = taken(lambda: Detector(method="ref").fit(read()))
        score, _ = taken(lambda: model.predict(table))
        creased, _ = taken(lambda: Detector().fit(table))
    print(f"pyarrow reads {ROWS:,} × {table.num_columns} in {alone:.2f} s, refold in {ours:.2f} s")
    for what, seconds in (("learning", learn), ("scoring", score), ("learning, creased", creased)):
        print(f"  {what:20s} {seconds:6.2f} s, {seconds / alone:.2f} × reading (goal {GOAL:g})")
    print(f"  peak memory {peak_bytes() / 1e6:,.0f} MB")


def plain():
    """Numbers alone, beside the estimator inside; CPU time."""
    X = np.random.default_rng(0).standard_normal((5_000, 20))
    frame = pd.DataFrame(X).add_prefix("c")
    pairs = {"creased": CreasedREF(alpha=0.05), "ref": REF(alpha=0.05, levels="all")}
    for method, inside in pairs.items():
        door = Detector(method=method, alpha=0.05)
        for what, rows in (("array", X), ("frame", frame)):
            fit = _ratio(lambda r=rows, d=door: d.fit(r), lambda r=rows, i=inside: i.fit(r))
            score = _ratio(
                lambda r=rows, d=door: d.score_samples(r),
                lambda r=rows, i=inside: i.score_samples(r),
            )
            print(f"{method}, {what}: fit {fit:.2f} ×, score {score:.2f} × (goal {OVERHEAD:g})")


def _ratio(ours, theirs):
    times = ([], [])
    for _ in range(5):
        for work, spent in zip((ours, theirs), times, strict=True):
            begin = time.process_time()
            work()
            spent.append(time.process_time() - begin)
    return min(times[0]) / min(times[1])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    plain()
    mixed()
