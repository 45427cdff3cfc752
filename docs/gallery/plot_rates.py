"""
How many false alarms? Asked for and realised
=============================================

A detector that cries wolf is switched off. So say how many normal rows may be rejected, and look
whether that is what happens: ``alpha`` is the share of false alarms that you ask for.
"""

# %%
# Asked for
# ---------
# Benign breast tumours are our normal rows. Some are learned, the others are new. The classic
# threshold of REF, a distance of 1, is not an error rate; ``alpha`` sets one, by judging each
# training row with a model that has not seen it.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import ShuffleSplit

from refold import REF, select

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"
tumours = load_breast_cancer(as_frame=True)
benign = tumours.data[tumours.target == 1]
malignant = tumours.data[tumours.target == 0]

learned, new = benign[:250], benign[250:]
model = REF(alpha=0.05).fit(learned)
print(f"asked for: {model.alpha_:.1%} of normal rows")
for name, rows in {"new benign": new, "malignant": malignant}.items():
    print(f"rejected:  {np.mean(model.predict(rows) == -1):.1%} of {len(rows)} {name} tumours")

# %%
# Realised
# --------
# One division is one draw of chance. So divide twenty times, and ask each model for several
# rates: ``calibrate`` sets another one without fitting again.

rates = np.array([0.01, 0.02, 0.05, 0.1, 0.2])
realised, classic = [], []
for some, others in ShuffleSplit(20, train_size=250, random_state=0).split(benign):
    model = REF(alpha=0.1).fit(benign.iloc[some])
    judged = [model.calibrate(alpha=rate).predict(benign.iloc[others]) for rate in rates]
    realised.append([np.mean(labels == -1) for labels in judged])
    classic.append(np.mean(REF().fit(benign.iloc[some]).predict(benign.iloc[others]) == -1))
realised = np.array(realised)

figure, ax = plt.subplots(layout="constrained")
ax.plot([0, 22], [0, 22], color=GREY, lw=1, ls="--", label="as asked")
low, high = np.percentile(100 * realised, [10, 90], axis=0)
mean = 100 * realised.mean(axis=0)
ax.errorbar(
    100 * rates, mean, [mean - low, high - mean], fmt="o", color=BLUE, capsize=3,
    label="REF(alpha=...): mean, and 8 of 10 divisions",
)  # fmt: skip
ax.axhline(100 * np.mean(classic), color=ORANGE, lw=1.5, label="REF(), threshold 1: mean")
ax.set(xlabel="asked for (% of normal rows)", ylabel="rejected (% of new normal rows)")
ax.set_title("On average about as many are rejected as were asked for")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

for rate, got in zip(rates, realised.T, strict=True):
    print(f"asked for {rate:4.0%}: mean {got.mean():5.1%}, from {got.min():.1%} to {got.max():.1%}")
print(f"threshold 1:    mean {np.mean(classic):5.1%}")

# %%
# The mean is close to what was asked for; the threshold of 1 comes to some rate too, but to
# another one on every table. A single model scatters: with a few hundred rows nobody can promise
# more. Whoever has normal rows to spare can buy a guarantee with them,
# ``model.calibrate(held_out, alpha=...)``: then the rate is at most alpha on average, whatever
# the data.
#
# Many rows at once
# -----------------
# Of 10,000 normal rows 100 have a p-value of 0.01 or less. To hand somebody a list, choose with
# :func:`refold.select` instead: of the rows on the list, at most a share ``fdr`` is normal on
# average.

model = REF(alpha=0.05).fit(learned)
p_values = np.concatenate([model.p_values(new), model.p_values(malignant)])
is_malignant = np.arange(len(p_values)) >= len(new)
for fdr in (0.02, 0.05, 0.1, 0.2):
    chosen = select(p_values, fdr=fdr)
    good = np.mean(~is_malignant[chosen]) if chosen.any() else 0
    print(f"fdr {fdr:4.0%}: {chosen.sum():3} rows on the list, {good:.1%} of them benign")
plt.show()
