"""
Why is this row not normal?
===========================

A verdict alone helps nobody. Every model of refold says which columns are to blame, what it got,
what it had expected, and what would have been accepted.
"""

# %%
# Learn two kinds of wine
# -----------------------
# Wines of three growers, thirteen chemical measurements each. Two growers are our normal; some
# wines of theirs are kept back, and the third grower is new.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from refold import REF, CreasedREF, explain
from refold.explanation import importance
from refold.plot import ContributionsDisplay

ORANGE, GREY = "#D55E00", "#666666"
wine = load_wine(as_frame=True)
normal, kept_back = train_test_split(wine.data[wine.target < 2], test_size=0.2, random_state=0)
third = wine.data[wine.target == 2]

model = CreasedREF(alpha=0.05).fit(normal)
print(f"of {len(kept_back)} wines kept back {(model.predict(kept_back) == -1).sum()} are rejected,")
print(f"of {len(third)} wines of the third grower {(model.predict(third) == -1).sum()}")

# %%
# In words
# --------
# :func:`refold.explain` makes a small text for each row; ``worst`` picks those that are
# farthest out. A share is how much of the distance would go if the column had its expected value.
# The last line names the fewest changes found with which the row would pass; the model was asked.

for row in explain(model, third, reasons=3).worst(2):
    print(row, end="\n\n")

# %%
# As a picture
# ------------
# The two above are extremes. Here is a wine from the middle of those that are rejected, with what
# was learned of a column under its value.

rejected = [row for row in explain(model, third).worst(len(third)) if row.label == -1]
out_of_range = sum(not row.reasons[0].inside for row in rejected)
print(f"{out_of_range} of {len(rejected)} rejected wines have their first reason out of range")
ContributionsDisplay(explanation=rejected[len(rejected) // 2]).plot(most=8)

# %%
# Over many rows
# --------------
# Which columns set the third grower apart? :func:`refold.explanation.importance` adds up.

found = importance(model, third)[:6]
table = pd.DataFrame(
    {"share of the distance (%)": [100 * column.share for column in found],
     "leads in rows (%)": [100 * column.leads for column in found]},
    index=[column.feature for column in found],
)  # fmt: skip
print(table.round(1))

# %%
# Shares that add up
# ------------------
# ``CreasedREF`` sees columns together, so its shares are drops and do not add up to 100 %.
# ``REF`` looks at each column by itself. It sees less, but its distance is a sum: each column's
# part is exact.

exact = REF(alpha=0.05).fit(normal)
parts = exact.contributions(third)
print("largest difference:", abs(parts.sum(axis=1) + exact.score_samples(third)).max())

mean = pd.Series(parts.mean(axis=0), index=normal.columns).sort_values()
figure, ax = plt.subplots(layout="constrained")
ax.barh(mean.index, mean, color=ORANGE, height=0.65)
ax.set_xlabel("mean part of the distance")
ax.set_title(f"Two columns make {mean[-2:].sum() / mean.sum():.0%} of REF's distance")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
