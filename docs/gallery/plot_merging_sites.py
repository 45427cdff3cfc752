"""
One model from several sites that may not share their rows
==========================================================

Three stations, three tables, and no row may leave its station. What may travel is a model. Models
of parts are put together by :func:`refold.merge`, and the result is the model of all rows.
"""

# %%
# Three islands
# -------------
# Penguins were measured on three islands of Antarctica. Every island learns what its penguins are
# like, by itself. ``engine="sketch"`` keeps one histogram per column and no rows at all.

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from palmerpenguins import load_penguins

import refold
from refold import REF

columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
penguins = load_penguins().dropna(subset=columns)
everybody = penguins[columns]
sites = dict(list(everybody.groupby(penguins["island"])))

models = {name: REF(engine="sketch", levels="all").fit(rows) for name, rows in sites.items()}
merged = refold.merge(*models.values())
models["all three"] = merged

# %%
# What travels is a small file. It holds no penguin, but mind what it does hold: of so few rows
# nearly every single value of a column can be read in its histogram, though not which values
# belong together. (``CreasedREF`` and ``Detector`` merge as well, and keep a sample of rows; see
# their pages.)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "biscoe.json"
    refold.save(models["Biscoe"], path)
    members = json.loads(path.read_text())
    print(f"{path.stat().st_size / 1000:.0f} kB:", ", ".join(members))

# %%
# The same as if the rows had come together
# -----------------------------------------

together = REF(engine="sketch", levels="all").fit(everybody)
difference = np.abs(merged.score_samples(everybody) - together.score_samples(everybody))
print(f"largest difference of a distance: {difference.max():.1e}")

# %%
# What each model knows
# ---------------------
# Biscoe has the heavy Gentoo, Dream the Chinstraps with long bills; Torgersen has neither, and
# finds its neighbours strange. The merged model knows all of them.

rejected = pd.DataFrame(
    {name: {site: np.mean(model.predict(rows) == -1) for site, rows in sites.items()}
     for name, model in models.items()}
)  # fmt: skip

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.imshow(rejected, cmap="Oranges", vmin=0, vmax=1, aspect="auto")
for (row, column), share in np.ndenumerate(rejected.to_numpy()):
    colour = "white" if share > 0.6 else "black"
    ax.text(column, row, f"{share:.0%}", ha="center", va="center", color=colour)
ax.set_xticks(range(len(rejected.columns)), rejected.columns)
ax.set_yticks(range(len(rejected)), rejected.index)
ax.set(xlabel="model learned on", ylabel="penguins of")
ax.set_title("Penguins rejected: neighbours are strangers, until merged")
plt.show()
