"""
Normal for this time of the year
================================

A warm day in January is odd, though it would be cool in July. :class:`refold.Detector` with
``over=`` expects hour, weekday, season and trend, and judges a row by its time.
"""

# %%
# Four years of weather
# ---------------------
# Three years of Seattle's daily weather are learned, the fourth is judged. With more than 550 days
# the season is learned; whether there is a trend is tried on the later part of the training rows.

import matplotlib.pyplot as plt
import numpy as np
from vega_datasets import local_data

from refold import Detector
from refold.report import describe

BLUE, BAND, ORANGE = "#0072B2", "#CFE4F2", "#D55E00"
weather = local_data.seattle_weather()[["date", "temp_max", "temp_min", "wind"]]
training, new = weather[weather["date"] < "2015"], weather[weather["date"] >= "2015"]

model = Detector(over="date", alpha=0.02).fit(training)
plain = Detector(alpha=0.02).fit(training.drop(columns="date"))

# %%
# Summer days in January
# ----------------------
# Each day of January gets the temperatures of a day in July. Without a time these are normal days.

january = new[new["date"].dt.month == 1].reset_index(drop=True)
july = new[new["date"].dt.month == 7].reset_index(drop=True)
swapped = january.assign(temp_max=july["temp_max"], temp_min=july["temp_min"])
print(f"seen with over='date': {np.mean(model.predict(swapped) == -1):.0%}")
print(f"seen without:          {np.mean(plain.predict(swapped.drop(columns='date')) == -1):.0%}")
print(model.explain(swapped.head(1))[0].sentence())

# %%
# What was expected of the fourth year
# ------------------------------------
# The band is what each day of 2015 could be, foreseen from the years before: wide in temperature in
# summer, wide in wind in winter.

report = describe(model, new)
bands = {band.name: band for band in report.in_context.bands}
figure, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
for ax, name in zip(axes, ("temp_max", "wind"), strict=True):
    band = bands[name]
    time = band.at.astype("M8[s]")
    ax.fill_between(time, band.low, band.high, color=BAND)
    ax.plot(time[~band.outlier], band.values[~band.outlier], ".", color=BLUE, label="normal")
    ax.plot(time[band.outlier], band.values[band.outlier], "o", color=ORANGE, label="outlier")
    ax.set(ylabel=name)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_title(f"{report.rejected} of {report.rows} days are outliers")
axes[0].legend(frameon=False, loc="upper left")
