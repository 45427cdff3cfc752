"""What ``trim`` gains where training rows are bad, and costs where they are not.

``python -m benchmarks.trim FOLDER``: the folder has ADBench's files. Of each set half of the normal
rows, at most 2,500, are learned, with 0, 1, 5 and 10 % of real anomalies among them, at most half
of those that there are. The others are judged.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from refold import REF, CreasedREF, Detector, RateWarning

SHARES = (0.0, 0.01, 0.05, 0.1)
MOST_ROWS, MOST_ANOMALIES = 2_500, 1_000
MODELS = {
    "CreasedREF": lambda: CreasedREF(),
    "CreasedREF, trim=0.05": lambda: CreasedREF(trim=0.05),
    "CreasedREF, trim=0.1": lambda: CreasedREF(trim=0.1),
    "REF, all levels": lambda: REF(levels="all"),
    "REF, all levels, trim=0.05": lambda: REF(levels="all", trim=0.05),
    "REF, all levels, trim=0.1": lambda: REF(levels="all", trim=0.1),
    "Detector": lambda: Detector(alpha=0.1),
    "Detector, trim=0.1": lambda: Detector(alpha=0.1, trim=0.1),
}


def contaminated(X, y, share, seed):
    """Rows to learn from, a share of which are anomalies; others to judge, and which are bad."""
    rng = np.random.RandomState(seed)
    normal, bad = (rng.permutation(np.flatnonzero(y == label)) for label in (0, 1))
    half, some = len(normal) // 2, len(bad) // 2
    train, test = normal[:half][:MOST_ROWS], normal[half:][:MOST_ROWS]
    among = bad[: min(round(share / (1.0 - share) * len(train)), some)]
    judged = bad[some:][:MOST_ANOMALIES]
    label = np.repeat([0, 1], [len(test), len(judged)])
    return X[np.concatenate([train, among])], X[np.concatenate([test, judged])], label


def auroc_and_rate(model, train, test, label):
    """Fit a model; return its AUROC and how many normal rows it rejects, in percent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RateWarning)
        distance = -model.fit(train).score_samples(test)
    rejected = np.mean(distance[label == 0] > model.threshold_)
    return 100.0 * roc_auc_score(label, distance), 100.0 * rejected


def tables(folder):
    """Yield each set's name, rows and labels."""
    for file in sorted(Path(folder).glob("*.npz")):
        with np.load(file) as data:
            yield file.stem, data["X"].astype(np.float64), data["y"].ravel().astype(int)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=MODELS)
    options = parser.parse_args()
    found = {(name, share): [] for name in options.models for share in SHARES}
    for name, X, y in tables(options.folder):
        for seed in range(options.seeds):
            for share in SHARES:
                rows = contaminated(X, y, share, seed)
                for each in options.models:
                    found[each, share].append(auroc_and_rate(MODELS[each](), *rows))
        print(f"  {name}", file=sys.stderr, flush=True)
    print("| AUROC (normal rows rejected) |" + "".join(f" {100 * s:g} % bad |" for s in SHARES))
    print("|---|" + "--:|" * len(SHARES))
    for each in options.models:
        cells = (np.mean(found[each, share], axis=0) for share in SHARES)
        print(f"| {each} |" + "".join(f" {auroc:.1f} ({rate:.1f} %) |" for auroc, rate in cells))


if __name__ == "__main__":
    main()
