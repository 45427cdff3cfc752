"""CreasedREF and Detector beside other detectors: CPU time and AUROC of the same rows.

``python -m benchmarks.beside_peers [rows …]``, with one thread. Rows are drawn from eight normal
distributions on 5 of 20 dimensions, with noise; of an outlier five columns are another row's.
LOF and nearest neighbours of 100,000 rows take minutes: ``--skip LOF`` leaves a method out.
"""

import argparse
import time

import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from threadpoolctl import threadpool_limits

from refold import CreasedREF, Detector
from refold.algorithm import kernels

ROWS, COLUMNS, NEW, SWAPPED = (2_000, 10_000, 100_000), 20, 5_000, 5


def tables(rows, seed=0):
    """Return rows to learn from, new ones of which the last half are outliers, and which."""
    rng = np.random.default_rng(seed)
    n, kinds = rows + 2 * NEW, 8
    kind = rng.integers(kinds, size=n)
    centers, plane = 3.0 * rng.normal(size=(kinds, 5)), rng.normal(size=(5, COLUMNS))
    X = (centers[kind] + rng.normal(size=(n, 5))) @ plane + rng.normal(size=(n, COLUMNS))
    train, new, others = X[:rows], X[rows : rows + NEW], X[rows + NEW :].copy()
    swapped = rng.permuted(np.tile(np.arange(COLUMNS), (NEW, 1)), axis=1)[:, :SWAPPED]
    np.put_along_axis(others, swapped, np.take_along_axis(new, swapped, axis=1), axis=1)
    return train, np.vstack([new, others]), np.repeat([0, 1], NEW)


class Neighbours:
    """The distance to the fifth neighbour, by scikit-learn."""

    def fit(self, X):
        self.index = NearestNeighbors(n_neighbors=5, n_jobs=1).fit(X)
        return self

    def score_samples(self, X):
        return -self.index.kneighbors(X)[0][:, -1]


class FaissNeighbours:
    """The same by FAISS, which compares all rows."""

    def fit(self, X):
        import faiss

        faiss.omp_set_num_threads(1)
        self.index = faiss.IndexFlatL2(X.shape[1])
        self.index.add(np.ascontiguousarray(X, dtype=np.float32))
        return self

    def score_samples(self, X):
        return -self.index.search(np.ascontiguousarray(X, dtype=np.float32), 5)[0][:, -1]


class Framed:
    """A Detector, which is asked in dataframes."""

    def fit(self, X):
        self.model = Detector(n_jobs=1).fit(pd.DataFrame(X).add_prefix("x"))
        return self

    def score_samples(self, X):
        return self.model.score_samples(pd.DataFrame(X).add_prefix("x"))


METHODS = {
    "CreasedREF": lambda: CreasedREF(n_jobs=1),
    "Detector": Framed,
    "IsolationForest": lambda: IsolationForest(random_state=0, n_jobs=1),
    "kNN, scikit-learn": Neighbours,
    "kNN, FAISS": FaissNeighbours,
    "LOF": lambda: LocalOutlierFactor(novelty=True, n_jobs=1),
}


def timed(task):
    start = time.process_time()
    found = task()
    return time.process_time() - start, found


def measure(make, train, new, outlier):
    """Return seconds to learn, microseconds to score a row, and AUROC."""
    learn, model = timed(lambda: make().fit(train))
    score, normality = timed(lambda: model.score_samples(new))
    return learn, score / len(new) * 1e6, roc_auc_score(outlier, -normality)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=ROWS)
    parser.add_argument("--skip", nargs="*", default=[], choices=METHODS)
    arguments = parser.parse_args()
    print(f"CPU time of one thread, {COLUMNS} columns, {kernels.instruction_set}\n")
    print("| | rows | learning, s | scoring a row, µs | AUROC |\n|---|--:|--:|--:|--:|")
    with threadpool_limits(1):
        for rows in arguments.rows:
            table = tables(rows)
            for name in METHODS:
                if name not in arguments.skip:
                    learn, score, auroc = measure(METHODS[name], *table)
                    print(
                        f"| {name} | {rows:,} | {learn:.2f} | {score:.1f} | {100 * auroc:.1f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
