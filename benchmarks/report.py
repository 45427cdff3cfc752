"""A report beside what it needs: one scoring of all rows, and the reasons of the worst.

``python -m benchmarks.report``: CPU time, 20,000 × 20, CreasedREF; and one row drawn out of many.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

from refold import CreasedREF, explain, limits
from refold.plot import ContributionsDisplay
from refold.report import write_report

ROWS, COLUMNS, BLAMED, GOAL = 20_000, 20, 1_000, 1.5


def cpu(work, runs=3):
    """The least CPU time of several runs."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main():
    rng = np.random.default_rng(0)
    model = CreasedREF().fit(rng.standard_normal((2_000, COLUMNS)))
    X = rng.standard_normal((ROWS, COLUMNS))
    worst = X[np.argsort(model.score_samples(X))[:BLAMED]]
    score = cpu(lambda: model.score_samples(X))
    reasons = cpu(lambda: explain(model, worst, reasons=3, nearest=False))
    with tempfile.TemporaryDirectory() as folder:
        report = cpu(lambda: write_report(model, X, Path(folder) / "report.html"))
    print(f"score {score:.2f} s, reasons of {BLAMED} rows {reasons:.2f} s, report {report:.2f} s:")
    print(f"{(report - reasons) / score:.2f} times one scoring, beside the reasons (≤ {GOAL})")
    nearest = cpu(lambda: explain(model, worst, reasons=3))
    print(f"a row's reasons {1e3 * reasons / BLAMED:.2f} ms,", end=" ")
    print(f"with nearest values {1e3 * nearest / BLAMED:.2f} ms;", end=" ")
    print(f"limits of {COLUMNS} columns {cpu(lambda: limits(model), runs=1):.1f} s")
    few, many = X[:10], np.tile(X, (10, 1))
    drawn = [
        cpu(lambda rows=rows: ContributionsDisplay.from_estimator(model, rows))
        for rows in (few, many)
    ]
    print(f"one row drawn out of {len(few)}: {drawn[0]:.3f} s; of {len(many):,}: {drawn[1]:.3f} s")


if __name__ == "__main__":
    main()
