"""
A training table that is not clean
==================================

Whatever is in the training table counts as normal afterwards. Three tools for three kinds of
dirt: :func:`refold.check` for what is wrong with columns and cells, :func:`refold.suspects` for
rows that somebody should look at, and ``trim`` for when nobody can.
"""

# %%
# A table with everything in it
# -----------------------------
# Benign breast tumours, our normal rows, and what happens to tables on their way: a decimal point
# is lost, -999 stands for a missing value, some rows are stored in other units, and 5 % of the
# rows are malignant tumours that nobody noticed.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

import refold
from refold import CreasedREF

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"
tumours = load_breast_cancer(as_frame=True)
benign = tumours.data[tumours.target == 1].reset_index(drop=True)
malignant = tumours.data[tumours.target == 0].reset_index(drop=True)
rng = np.random.default_rng(0)

learned, new_benign = benign[:240], benign[240:]
mixed_in, new_malignant = malignant[:12], malignant[12:]
table = pd.concat([learned, mixed_in], ignore_index=True)
is_malignant = np.arange(len(table)) >= len(learned)

spoiled = table.copy()
spoiled.loc[17, "worst area"] *= 1000
spoiled.loc[rng.choice(len(table), 6, replace=False), "mean texture"] = -999
spoiled.loc[rng.choice(len(table), 30, replace=False), "mean radius"] *= 1000

# %%
# Look before you learn
# ---------------------
# ``check`` learns nothing. It says what a careful colleague would say who was given the table.

found = refold.check(spoiled)
print(found)

# %%
# All three errors are named, and nothing else. Findings are data: a program can leave the cells
# empty that are named (a missing value is no trouble), or convert them.

mended = spoiled.copy()
for finding in found:
    print(f"{finding.kind:12} {finding.column}: {len(finding.rows)} rows")
    mended.loc[list(finding.rows), finding.column] = np.nan
print(refold.check(mended))

# %%
# Rows to look at
# ---------------
# Malignant tumours are no errors of writing: nothing in a single cell is wrong. ``suspects``
# lists the rows that are least like the rest, the oddest first. It is a ranking and not a
# verdict.

listed = refold.suspects(table, 25)
for suspect in list(listed)[:2]:
    print(suspect)
hits = is_malignant[listed.rows]
print(f"\nmalignant: {hits[:12].sum()} of the first 12, {hits.sum()} of the first 25; there are 12")

figure, ax = plt.subplots(layout="constrained")
ax.step(np.arange(1, 26), hits.cumsum(), where="mid", color=ORANGE, label="found by looking")
chance = np.arange(1, 26) * is_malignant.mean()
ax.plot(np.arange(1, 26), chance, color=GREY, ls="--", label="rows picked by chance")
ax.set(xlabel="rows looked at, the oddest first", ylabel="malignant tumours found", ylim=(0, 12))
ax.set_title(f"Looking at 25 of {len(table)} rows finds {hits.sum()} of 12 tumours")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

# %%
# When nobody can look
# --------------------
# ``trim=0.1`` leaves the oddest tenth of the rows out of training. How well do four models tell
# new malignant tumours from new benign ones? (AUROC: 50 % is guessing.)

models = {
    "clean table": (learned, CreasedREF()),
    "clean table, trim=0.1": (learned, CreasedREF(trim=0.1)),
    "dirty table": (table, CreasedREF()),
    "dirty table, trim=0.1": (table, CreasedREF(trim=0.1)),
    "dirty table without\n25 suspects": (table.drop(index=listed.rows), CreasedREF()),
}
new = pd.concat([new_benign, new_malignant])
truth = np.arange(len(new)) >= len(new_benign)
auroc = {
    name: 100 * roc_auc_score(truth, -model.fit(rows).score_samples(new))
    for name, (rows, model) in models.items()
}

figure, ax = plt.subplots(layout="constrained")
names = list(auroc)[::-1]
colours = [BLUE if name.startswith("clean") else ORANGE for name in names]
bars = ax.barh(names, [auroc[name] for name in names], color=colours, height=0.6)
ax.bar_label(bars, fmt="%.1f %%", padding=3, color=GREY)
ax.set(xlabel="AUROC (%)", xlim=(50, 102))
ax.set_title("trim wins back most of what bad rows cost")
ax.spines[["top", "right"]].set_visible(False)

# %%
# It is not free: on the clean table trimming costs a little, for rare but good rows are left out
# too. Bad rows that are much alike would stay in, and how many are bad only you can say.

plt.show()
