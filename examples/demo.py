"""Learn from benign breast-cancer cases only, and say which new cases are not normal, and why.

The data set (569 cases, 30 measurements of cell nuclei each) comes with scikit-learn.
"""

import pyarrow as pa
from sklearn.datasets import load_breast_cancer

from refold import REF, explain
from refold.report import write_report

N_NORMAL, N_SHOWN, ALPHA, PAGE = 300, 3, 0.05, "report.html"


def main():
    data = load_breast_cancer()
    cases = pa.table(dict(zip(data.feature_names.tolist(), data.data.T, strict=True)))
    benign, malignant = cases.filter(data.target == 1), cases.filter(data.target == 0)
    normal = benign.slice(0, N_NORMAL)
    new = {"benign": benign.slice(N_NORMAL), "malignant": malignant}

    model = REF(levels="all", alpha=ALPHA).fit(normal)
    print(f"Learned from {len(normal)} benign cases, {normal.num_columns} measurements each.\n")
    for kind, rows in new.items():
        flagged = (model.predict(rows) == -1).mean()
        print(f"  {len(rows):3} new {kind:9} cases: {flagged:5.1%} are called not normal")
    print(f"\nOf benign cases about {ALPHA:.0%} should be. The worst of each kind, and why:")
    for kind, rows in new.items():
        for case in explain(model, rows, reasons=3).worst(N_SHOWN):
            print(f"\n{kind} {case}")

    names = [f"{kind} {row}" for kind, rows in new.items() for row in range(len(rows))]
    together = pa.concat_tables(new.values())
    write_report(model, together, PAGE, title="New cases", row_names=names)
    print(f"\nAll of it, to look at in a browser: {PAGE}")


if __name__ == "__main__":
    main()
