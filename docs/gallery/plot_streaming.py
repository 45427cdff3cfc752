"""
Rows that come day by day: learning from a stream
=================================================

``partial_fit`` goes on learning, in memory that does not grow, and ends where ``fit`` on all rows
would have ended. What was learned by mistake can be forgotten.
"""

# %%
# Four years of weather
# ---------------------
# Seattle, 2012 to 2015, one row a day. We pretend that the data comes month by month. Each month
# is judged first, by what is known so far, and learned afterwards.

import matplotlib.pyplot as plt
import numpy as np
from vega_datasets import local_data

from refold import REF

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"
weather = local_data.seattle_weather().set_index("date")[["temp_max", "temp_min", "wind"]]
months = [rows for _, rows in weather.groupby(weather.index.to_period("M"))]

model = REF(engine="sketch", levels="all")
model.partial_fit(months[0])
rejected = []
for month in months[1:]:
    rejected.append(np.mean(model.predict(month) == -1))
    model.partial_fit(month)

# %%
# At first the model knows a single January, and spring and summer are news. Once a year has
# passed it has seen all seasons; what stands out later is out of the ordinary, such as the heat
# of July 2015.

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
dates = [month.index[0] for month in months[1:]]
ax.bar(dates, 100 * np.array(rejected), width=25, color=ORANGE)
ax.set(ylabel="days rejected\nbefore they were learned (%)")
first, later = 100 * np.mean(rejected[:11]), 100 * np.mean(rejected[11:])
ax.set_title(f"Not normal: {first:.0f} % of the days of 2012, {later:.0f} % of the days since")
ax.spines[["top", "right"]].set_visible(False)

# %%
# The same as all at once
# -----------------------
# Of each column a histogram is kept. Histograms add up, so neither the order of the rows nor how
# they were cut into parts makes a difference.

at_once = REF(engine="sketch", levels="all").fit(weather)
backwards = REF(engine="sketch", levels="all")
for month in reversed(months):
    backwards.partial_fit(month)
for name, other in {"at once": at_once, "backwards": backwards}.items():
    difference = np.abs(model.score_samples(weather) - other.score_samples(weather))
    print(f"learned {name}: largest difference of a distance {difference.max():.1e}")

# %%
# Forgetting
# ----------
# A thermometer was in the sun for a month, and nobody noticed before it was learned. ``forget``
# takes the rows out again; the model is as if they had never been there.

sunny = months[-1].assign(temp_max=months[-1]["temp_max"] + 40)
hot = weather.nlargest(1, "temp_max").assign(temp_max=45.0)

print(f"a day of 45 °C, distance: {-model.score_samples(hot)[0]:.2f}")
model.partial_fit(sunny)
print(f"after the bad month:      {-model.score_samples(hot)[0]:.2f}")
model.forget(sunny)
print(f"after forgetting it:      {-model.score_samples(hot)[0]:.2f} (normal up to 1)")

# %%
# A rate of false alarms
# ----------------------
# It needs rows that the histograms have not seen. The last year can serve: learn the others, then
# ``calibrate``. Days resemble their neighbours, so a whole year is held out and not every tenth
# day.

model = REF(engine="sketch", levels="all")
for month in months[:36]:
    model.partial_fit(month)
model.calibrate(weather["2015":], alpha=0.01)
print(f"threshold {model.threshold_:.2f}: at most {model.alpha_:.0%} of days like those of 2015")
plt.show()
