"""Share of new normal rows that ``alpha=`` rejects, by the number of parts they are left out in.

``python -m benchmarks.parts``: 1,000 rows of many columns, where leaving out one at a time takes
long; as many parts as rows is leave-one-out. Seconds are of the processor, one thread.
"""

import time

import numpy as np

from refold.algorithm.engines import exact
from refold.decisions.thresholds import Calibration

ROWS, NEW, COLUMNS, REPEATS = 1_000, 5_000, 1_000, 3
PARTS = (50, 100, 334, ROWS)
ALPHAS = (0.01, 0.05, 0.1)
RECIPE = {"n_iter": 101, "fold": "abs", "max_gain": float(ROWS), "n_jobs": 1}


def tables(rng, rows):
    """Yield rows of several kinds."""
    mixing = rng.normal(size=(20, COLUMNS))
    yield (
        "normal, dependent",
        rng.normal(size=(rows, 20)) @ mixing + rng.normal(size=(rows, COLUMNS)),
    )
    yield "uniform", rng.random((rows, COLUMNS))
    yield "counts", rng.poisson(1.0, size=(rows, COLUMNS)).astype(float)


def rejected(normal, new, parts):
    """Return the share of new rows above the thresholds, and the seconds it took to find them."""
    begin = time.process_time()
    distances = exact.leave_one_out(normal, parts, "l1", path=True, **RECIPE)
    spent = time.process_time() - begin
    calibration = Calibration.of(distances, None, "cross-fitted")
    chain = exact.learn(normal, None, **RECIPE)
    found = exact.distances(chain, new, "l1", path=True)
    return [np.mean(found > calibration.threshold(alpha)) for alpha in ALPHAS], spent


def main():
    """Print a line for each kind of table and number of parts."""
    results = {}
    for seed in range(REPEATS):
        for name, X in tables(np.random.default_rng(seed), ROWS + NEW):
            for parts in PARTS:
                results.setdefault((name, parts), []).append(rejected(X[:ROWS], X[ROWS:], parts))
    print(f"{ROWS:,} × {COLUMNS:,}, rejected at {ALPHAS}, mean of {REPEATS}; seconds")
    for (name, parts), runs in results.items():
        rates = " / ".join(f"{rate:.4f}" for rate in np.mean([run[0] for run in runs], axis=0))
        print(f"{name:18s} {parts:5d} parts  {rates}  {min(run[1] for run in runs):5.1f} s")


if __name__ == "__main__":
    main()
