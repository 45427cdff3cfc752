"""
Is the data still the same?
===========================

A model is right as long as new rows come from where the old ones came from. :func:`refold.drift`
asks that, and tells apart what looks alike from afar: the bulk of the rows has moved, or it is as
it was and there are more outliers.
"""

# %%
# A real table that changed
# -------------------------
# The weather in Seattle, day by day. A model learns two years, and is shown the third. It keeps
# quantiles and counts of each column, so the training rows are not needed any more.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from vega_datasets import local_data

from refold import REF, Detector, RateWarning, drift

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"
weather = local_data.seattle_weather().set_index("date")

with warnings.catch_warnings():
    warnings.simplefilter("ignore", RateWarning)  # "0 in 57 % of the rows": most days are dry
    model = Detector(method="ref").fit(weather[:"2013"])
print(drift(model, weather["2014":"2014"]))

# %%
# Temperature, wind and the amount of rain are as they were; what changed is the *word* in the
# last column. In 2013 somebody began to call days of rain by another name. No such row is odd by
# itself, and hardly more rows than usual are rejected: only a comparison of the whole shows it.

words = pd.crosstab(weather.index.year, weather["weather"], normalize="index")
wet = (weather["precipitation"] > 0).groupby(weather.index.year).mean()
figure, ax = plt.subplots(layout="constrained")
ax.plot(words.index, 100 * wet, "s--", color=GREY, label="days with precipitation")
ax.plot(words.index, 100 * words["rain"], "o-", color=BLUE, label="days called rain")
ax.plot(words.index, 100 * words["fog"], "D-", color=ORANGE, label="days called fog")
ax.set(ylabel="days of the year (%)", ylim=(0, 80), xticks=words.index)
ax.set_title("It rains nearly as often as before, but it is called fog now")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper right")

# %%
# One word of caution: p-values take rows for independent, and days resemble their neighbours.
# Read small ones as a hint where to look. Of the same days in any order nothing is said:

days = weather.sample(frac=1, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", RateWarning)
    print(drift(Detector(method="ref").fit(days[:730]), days[730:]))

# %%
# Change or outliers?
# -------------------
# Benign breast tumours are normal rows here. New ones come in two kinds of trouble: one in four
# is malignant, or the microscope shows a texture that is a fifth rougher. Both raise an alarm,
# and not the same one.

tumours = load_breast_cancer(as_frame=True)
benign = tumours.data[tumours.target == 1].sample(frac=1, random_state=0)
malignant = tumours.data[tumours.target == 0]
model = REF(levels="all").fit(benign[:150]).calibrate(benign[150:250], alpha=0.05)
new = benign[250:]


def rougher(rows, factor):
    return rows.assign(**{"mean texture": factor * rows["mean texture"]})


for rows in (new, pd.concat([new, malignant[:36]]), rougher(new, 1.2)):
    print(drift(model, rows), end="\n\n")

# %%
# How large must a change be?
# ---------------------------
# Chance must not ring the bell: of all alarms together, at most 1 in 100 comparisons may be
# false. So a small change in few rows stays unseen.

factors = np.linspace(1, 1.3, 13)
figure, ax = plt.subplots(layout="constrained")
for rows, style, colour in ((new[:50], "D-", ORANGE), (new, "o-", BLUE)):
    found = [drift(model, rougher(rows, factor)) for factor in factors]
    texture = [next(f for f in one.features if f.name == "mean texture") for one in found]
    p_values = [feature.adjusted_p_value for feature in texture]
    ax.semilogy(100 * (factors - 1), p_values, style, color=colour, label=f"{len(rows)} rows")
ax.axhline(0.01, color=GREY, ls="--", lw=1, label="alarm below")
ax.set(xlabel="texture rougher by (%)", ylabel="p-value, corrected for all columns")
ax.set_title("More rows see smaller changes")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
