"""
What would a new model change?
==============================

A model was trained again. Before it replaces the one in use, :func:`refold.compare` says which
rows change their verdict, which way, and because of which columns.
"""

# %%
# Old and new
# -----------
# The weather in Seattle. The old model learned 2012 and 2013, the new one 2014 and 2015. Both are
# shown all four years.

import matplotlib.pyplot as plt
from vega_datasets import local_data

import refold
from refold import CreasedREF
from refold.plot import comparison

weather = local_data.seattle_weather().set_index("date")[["temp_max", "temp_min", "wind"]]
old = CreasedREF(alpha=0.02).fit(weather[:"2013"])
new = CreasedREF(alpha=0.02).fit(weather["2014":])

found = refold.compare(old, new, weather)
print(found.text(rows=2))

# %%
# Each point is a day. Left of the upright line the old model rejects it, below the level line the
# new one does. Points in the corner and in the middle keep their verdict.

display = comparison(found)
display.ax_.set_title(f"{found.n_changed} of {len(weather)} days change their verdict", pad=28)

# %%
# A change that must not go live
# ------------------------------
# Somebody trained the next model on a table in degrees Fahrenheit. By the verdicts alone it is a
# disaster of unknown cause; the comparison names the cause, from the models alone.

fahrenheit = weather["2014":].assign(
    temp_max=lambda rows: 1.8 * rows["temp_max"] + 32,
    temp_min=lambda rows: 1.8 * rows["temp_min"] + 32,
)
wrong = refold.compare(old, CreasedREF(alpha=0.02).fit(fahrenheit), weather)
print(wrong.headline())
for remark in wrong.remarks():
    print("-", remark)

# %%
# A gate
# ------
# Before a deployment a program can ask, and refuse. (On the command line: ``refold compare
# old.json new.json rows.csv --fail-if-changed 0.05``.)

for name, one in {"new": found, "Fahrenheit": wrong}.items():
    low, high = one.interval
    verdict = "may replace the old one" if high < 0.1 else "has to be looked at"
    print(f"{name}: {one.changed:.1%} change, in the long run {low:.1%} to {high:.1%}: {verdict}")
plt.show()
