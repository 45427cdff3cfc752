"""
A table as people have them: categories, gaps and typing errors
===============================================================

:class:`refold.Detector` takes a table as it is. It finds out what each column holds, learns what
is normal in it and in which values go together, and says of new rows what is wrong, cell by cell.
"""

# %%
# Learn
# -----
# Penguins of three species, measured on three islands: numbers, texts, and some gaps where a bird
# was not weighed or its sex not determined. One in five is kept back.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from palmerpenguins import load_penguins
from sklearn.model_selection import train_test_split

from refold import Detector
from refold.plot import ContributionsDisplay

ORANGE, GREY = "#D55E00", "#666666"
penguins = load_penguins()
normal, kept_back = train_test_split(penguins, test_size=0.2, random_state=0)
model = Detector(alpha=0.05).fit(normal)

for column in model.columns_:
    print(f"{column.name:18} {column.role:9} {column.missing:2} gaps, goes with {column.beside}")
rejected = np.mean(model.predict(kept_back) == -1)
print(f"{rejected:.1%} of {len(kept_back)} birds that were kept back are rejected")

# %%
# Things that go wrong in tables
# ------------------------------
# We take a bird that is accepted and spoil it, one cell at a time, in ways known from real life.

bird = kept_back[(model.predict(kept_back) == 1) & kept_back.notna().all(axis=1)].iloc[:1]
spoiled = {
    "as it was": {},
    "typing error": {"island": "Biscoee"},
    "another spelling": {"sex": bird["sex"].iloc[0].upper()},
    "decimal point lost": {"bill_length_mm": 10 * bird["bill_length_mm"].iloc[0]},
    "grams as kilograms": {"body_mass_g": bird["body_mass_g"].iloc[0] / 1000},
    "code for missing": {"flipper_length_mm": -999},
    "year to come": {"year": 2019},
    "gap that never was": {"species": None},
    "gap as in training": {"sex": None},
}
rows = pd.concat([bird.assign(**change) for change in spoiled.values()], ignore_index=True)

for name, row in zip(spoiled, model.explain(rows, reasons=1), strict=True):
    print(f"{name}: {row}\n")

# %%
# What is new to a column that seemed closed is rejected whatever the rest says; so is a gap where
# there never was one. A gap as training had them is no reason for an alarm.
#
# Values that do not go together
# ------------------------------
# Every cell may be usual and the row still impossible. Gentoo penguins live on Biscoe only; here
# one is said to have been seen elsewhere, and then to be an Adelie.

gentoo = normal[normal["species"] == "Gentoo"].dropna().iloc[:1]
moved = gentoo.assign(island="Torgersen")
renamed = gentoo.assign(species="Adelie")
for row in model.explain(pd.concat([moved, renamed]), reasons=2):
    print(row, end="\n\n")

ContributionsDisplay.from_estimator(model, renamed)

# %%
# How often is it seen?
# ---------------------
# The same errors in all birds that were kept back. The last bar is what is rejected without any
# error.

birds = kept_back.dropna()
other = {"male": "female", "female": "male"}
errors = {
    "typing error in island": birds.assign(island=birds["island"] + "e"),
    "mass in kilograms": birds.assign(body_mass_g=birds["body_mass_g"] / 1000),
    "flipper 20 % longer": birds.assign(flipper_length_mm=1.2 * birds["flipper_length_mm"]),
    "flipper 5 % longer": birds.assign(flipper_length_mm=1.05 * birds["flipper_length_mm"]),
    "another bird's species": birds.assign(species=np.roll(birds["species"], 1)),
    "the other sex": birds.assign(sex=birds["sex"].map(other)),
    "nothing": birds,
}
caught = pd.Series({name: np.mean(model.predict(table) == -1) for name, table in errors.items()})

figure, ax = plt.subplots(layout="constrained")
bars = ax.barh(caught.index[::-1], 100 * caught[::-1], color=ORANGE, height=0.6)
ax.bar_label(bars, fmt="%.0f %%", padding=3, color=GREY)
ax.set(xlabel="rows rejected (%)", xlim=(0, 110), xticks=range(0, 101, 20))
ax.set_title("Gross errors are always seen, subtle ones sometimes")
ax.spines[["top", "right"]].set_visible(False)

# %%
# Another bird's species is often the right one again, and then nobody could object. But that a
# bird has the wrong sex, which its weight and bill would tell an expert, mostly passes: 275 birds
# of three species are few to learn that from.

plt.show()
