"""
Comparing detectors: by labels, and by faults that you make
===========================================================

Which detector is best depends on the table and on what shall be found. Here are two ways to find
out, with scikit-learn's detectors and the peers of the paper beside refold's models.
"""

# %%
# The detectors
# -------------
# All learn from normal rows only and give a score, higher for normal rows. Those that measure
# distances get standardized columns.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from refold import REF, CreasedREF
from refold.peers import SVDD, NaiveParzen

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"
detectors = {
    "CreasedREF": CreasedREF(),
    "REF": REF(levels="all"),
    "LOF": make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True)),
    "IsolationForest": IsolationForest(random_state=0),
    "OneClassSVM": make_pipeline(StandardScaler(), OneClassSVM(gamma=0.01, nu=0.1)),
    "SVDD": make_pipeline(StandardScaler(), SVDD()),
    "NaiveParzen": make_pipeline(StandardScaler(), NaiveParzen()),
}

# %%
# By labels
# ---------
# Benign breast tumours are learned; malignant ones and benign ones that were kept back are
# ranked. AUROC is the chance that a malignant one is ranked above a benign one. Four divisions
# show how much of a difference is chance.

tumours = load_breast_cancer()
benign, malignant = (tumours.data[tumours.target == kind] for kind in (1, 0))
divisions = list(ShuffleSplit(4, train_size=250, random_state=0).split(benign))
auroc = {name: [] for name in detectors}
for learned, kept_back in divisions:
    rows = np.vstack([benign[kept_back], malignant])
    truth = np.arange(len(rows)) >= len(kept_back)
    for name, detector in detectors.items():
        scores = detector.fit(benign[learned]).score_samples(rows)
        auroc[name].append(100 * roc_auc_score(truth, -scores))
table = pd.DataFrame(auroc)
print(table.describe().loc[["mean", "std"]].T.round(1))

# %%
# By faults
# ---------
# Most people have no labels. But everybody can make faults: take normal rows that were not
# learned, move one value up, and count how many such rows are noticed. All detectors get the
# threshold that rejects 5 % of untouched rows.

learned, kept_back = divisions[0]
deviation = benign[learned].std(axis=0)
columns = np.random.default_rng(0).integers(benign.shape[1], size=len(kept_back))
every = np.arange(len(kept_back))
shifts = (0.5, 1, 2, 4, 8, 16)

figure, ax = plt.subplots(layout="constrained")
shown = {"CreasedREF": "o-", "REF": "s-", "LOF": "D--", "SVDD": "^:", "IsolationForest": "v-."}
for name, style in shown.items():
    detector = detectors[name].fit(benign[learned])
    threshold = np.quantile(detector.score_samples(benign[kept_back]), 0.05)
    caught = []
    for shift in shifts:
        faulty = benign[kept_back].copy()
        faulty[every, columns] += shift * deviation[columns]
        caught.append(100 * np.mean(detector.score_samples(faulty) < threshold))
    colour = BLUE if "REF" in name else GREY if name == "IsolationForest" else ORANGE
    ax.semilogx(shifts, caught, style, color=colour, label=name)
    print(f"{name:15}", *(f"{share:5.0f}" for share in caught))
ax.set(
    xlabel="one value too high by so many standard deviations", ylabel="noticed (%)", ylim=(0, 103)
)
ax.set_xticks(shifts, shifts)
ax.minorticks_off()
ax.set_title("A fault in one of thirty columns, 5 % false alarms")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

# %%
# The two rankings differ. Malignant tumours are off in many columns at once, and all methods see
# that about equally well. A fault in one column of thirty is another question: an isolation
# forest, good by labels, hardly ever asks about the right column, however large the fault.
# ``refold benchmark my.csv`` does both on a table of yours, with more kinds of faults, and says
# what is within noise.

plt.show()
