"""What ``trim`` gains where training rows are bad, and costs where they are not.

``python -m benchmarks.trim FOLDER``: the folder has sets of ADBench (X and y) or tasks of OddBench
(train, test and test_labels). At most 2,500 normal rows of each are learned, half of those of a set
or the training rows of a task, with 0, 1, 5 and 10 % of real anomalies among them, at most half of
those that there are. The others are judged.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from refold import REF, CreasedREF, Detector, RateWarning

SHARES = (0.0, 0.01, 0.05, 0.1)
MOST_ROWS, MOST_ANOMALIES = 2_500, 1_000
MODELS = {
    "CreasedREF": lambda: CreasedREF(),
    "CreasedREF, trim=0.05": lambda: CreasedREF(trim=0.05),
    "CreasedREF, trim=0.1": lambda: CreasedREF(trim=0.1),
    "CreasedREF, trim=0.2": lambda: CreasedREF(trim=0.2),
    "CreasedREF, trim=0.3": lambda: CreasedREF(trim=0.3),
    "REF, all levels": lambda: REF(levels="all"),
    "REF, all levels, trim=0.05": lambda: REF(levels="all", trim=0.05),
    "REF, all levels, trim=0.1": lambda: REF(levels="all", trim=0.1),
    "Detector": lambda: Detector(alpha=0.1),
    "Detector, trim=0.1": lambda: Detector(alpha=0.1, trim=0.1),
    "Detector, trim=0.3": lambda: Detector(alpha=0.1, trim=0.3),
    "IsolationForest": lambda: IsolationForest(random_state=0),
}


def divided(file, seed):
    """Return normal rows to learn from and others to judge, and the anomalies, all shuffled."""
    rng = np.random.RandomState(seed)
    with np.load(file) as data:
        if "train" in data:
            bad = data["test_labels"].ravel() == 1
            parts = [data["train"], data["test"][~bad], data["test"][bad]]
            return [rng.permutation(rows.astype(np.float64)) for rows in parts]
        X, bad = data["X"].astype(np.float64), data["y"].ravel() == 1
    normal, anomalies = (X[rng.permutation(np.flatnonzero(which))] for which in (~bad, bad))
    half = len(normal) // 2
    return [normal[:half], normal[half:], anomalies]


def contaminated(train, test, anomalies, share):
    """Return rows to learn from, a share of which is bad, others to judge, and which are bad."""
    train, test, some = train[:MOST_ROWS], test[:MOST_ROWS], len(anomalies) // 2
    among = anomalies[: min(round(share / (1.0 - share) * len(train)), some)]
    judged = anomalies[some:][:MOST_ANOMALIES]
    label = np.repeat([0, 1], [len(test), len(judged)])
    return np.concatenate([train, among]), np.concatenate([test, judged]), label


def auroc_and_rate(model, train, test, label):
    """Fit a model; return its AUROC and how many normal rows it rejects, in percent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RateWarning)
        distance = -model.fit(train).score_samples(test)
    rejected = np.mean(distance[label == 0] > -model.offset_)
    return 100.0 * roc_auc_score(label, distance), 100.0 * rejected


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=MODELS)
    options = parser.parse_args()
    found = {(name, share): [] for name in options.models for share in SHARES}
    for file in sorted(Path(options.folder).glob("*.npz")):
        for seed in range(options.seeds):
            parts = divided(file, seed)
            for share in SHARES:
                rows = contaminated(*parts, share)
                for each in options.models:
                    found[each, share].append(auroc_and_rate(MODELS[each](), *rows))
        print(f"  {file.stem}", file=sys.stderr, flush=True)
    print("| AUROC (normal rows rejected) |" + "".join(f" {100 * s:g} % bad |" for s in SHARES))
    print("|---|" + "--:|" * len(SHARES))
    for each in options.models:
        cells = (np.mean(found[each, share], axis=0) for share in SHARES)
        print(f"| {each} |" + "".join(f" {auroc:.1f} ({rate:.1f} %) |" for auroc, rate in cells))


if __name__ == "__main__":
    main()
