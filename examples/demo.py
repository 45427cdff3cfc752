"""Learn from benign breast-cancer cases only, and say which new cases are not normal, and why.

The data set (569 cases, 30 measurements of cell nuclei each) comes with scikit-learn.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from refold import REF

N_CASES, N_REASONS = 4, 3


def main():
    data = load_breast_cancer()
    benign, malignant = data.data[data.target == 1], data.data[data.target == 0]
    normal, new_benign = benign[:300], benign[300:]

    model = REF(levels="all").fit(normal)
    print(f"Learned from {len(normal)} benign cases, {normal.shape[1]} measurements each.\n")
    for kind, cases in (("benign", new_benign), ("malignant", malignant)):
        flagged = (model.predict(cases) == -1).mean()
        print(f"  {len(cases):3} new {kind:9} cases: {flagged:5.1%} are called not normal")

    print("\nSome of the new cases, and why they are not normal:")
    typical = np.median(normal, axis=0)
    for kind, cases in (("benign", new_benign), ("malignant", malignant)):
        print_cases(model, kind, cases[:N_CASES], typical, data.feature_names)


def print_cases(model, kind, cases, typical, names):
    labels, distances = model.predict(cases), -model.score_samples(cases)
    shares = model.contributions(cases) / distances[:, None]
    for case, label, distance, share in zip(cases, labels, distances, shares, strict=True):
        verdict = "normal" if label == 1 else "NOT NORMAL"
        print(f"\n  {kind}: {verdict}, distance {distance:.2f} (normal up to {model.threshold_:g})")
        if label == 1:
            continue
        for j in np.argsort(-share)[:N_REASONS]:
            print(
                f"    {names[j]:24}{case[j]:9.4g}, typically {typical[j]:7.4g}: "
                f"{share[j]:3.0%} of the distance"
            )


if __name__ == "__main__":
    main()
