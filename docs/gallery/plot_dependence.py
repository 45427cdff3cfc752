"""
Values that do not go together
==============================

A penguin may weigh 3 kg, and it may have flippers of 22 cm. It does not have both. ``REF`` looks
at each column by itself and cannot see that; ``CreasedREF`` folds along oblique creases and can.
"""

# %%
# Two columns
# -----------
# Blue is where the model calls a penguin normal. REF draws a region whose sides follow the axes:
# the corners, where no penguin is, belong to it as much as the middle.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from palmerpenguins import load_penguins
from sklearn.model_selection import train_test_split

from refold import REF, CreasedREF, explain
from refold.plot import RegionsDisplay

BLUE, ORANGE = "#0072B2", "#D55E00"
two = ["flipper_length_mm", "body_mass_g"]
penguins = load_penguins().dropna()
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
models = {"REF": REF(alpha=0.05), "CreasedREF": CreasedREF(alpha=0.05)}
for (name, model), ax in zip(models.items(), axes, strict=True):
    RegionsDisplay.from_estimator(model.fit(penguins[two]), penguins[two], ax=ax)
    ax.set_title(name)

# %%
# A heavy bird with short flippers
# --------------------------------
# Each value is normal. ``CreasedREF`` says which one it would have expected, given the other.

odd = pd.DataFrame({"flipper_length_mm": [185.0], "body_mass_g": [5500.0]})
for name, model in models.items():
    print(f"{name}:\n{explain(model, odd)[0]}\n")

# %%
# Swapped cells
# -------------
# How often is it noticed when a value belongs to another bird? Four measurements; in birds that
# were not learned one cell is replaced by that of another bird. Every value is real, only the
# company is wrong.

columns = ["bill_length_mm", "bill_depth_mm", *two]
learned, new = train_test_split(penguins[columns], test_size=0.3, random_state=0)
rng = np.random.default_rng(0)
caught = {}
for name, model in {"REF": REF(alpha=0.05), "CreasedREF": CreasedREF(alpha=0.05)}.items():
    model.fit(learned)
    caught[name] = {"nothing": np.mean(model.predict(new) == -1)}
    for column in columns:
        swapped = [new.assign(**{column: rng.permutation(new[column])}) for _ in range(10)]
        caught[name][column] = np.mean(model.predict(pd.concat(swapped)) == -1)
table = 100 * pd.DataFrame(caught)

ax = table.iloc[::-1].plot.barh(color=[ORANGE, BLUE], width=0.7)
ax.figure.set_layout_engine("constrained")
ax.set(xlabel="rows rejected (%)", ylabel="swapped with another bird")
best = table["CreasedREF"].drop("nothing").mean()
ax.set_title(f"Swapped cells: CreasedREF notices {best:.0f} %, REF {table['REF'][1:].mean():.0f} %")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
print(table.round(1))

# %%
# REF rejects about as many spoiled birds as good ones: to it they are the same. CreasedREF
# notices a part. The rest are birds that could well exist; a swap within a species hardly makes
# an impossible bird.

plt.show()
