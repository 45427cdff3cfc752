"""
What folding does, in moving pictures
=====================================

REF, *Repeated Element-wise Folding*, is one idea repeated a hundred times: standardize each
column, fold it at its mean by taking the absolute value, standardize again. What is left near the
origin is normal. Here two columns of a real table are folded before our eyes.
"""

# %%
# The table
# ---------
# Breast tumours, described by how the nuclei of their cells look under a microscope. The benign
# ones are what we call normal; REF sees nothing else. Two of the thirty columns can be drawn in a
# plane.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from sklearn.datasets import load_breast_cancer

from refold import REF
from refold.plot import FoldMapDisplay

BLUE, ORANGE = "#0072B2", "#D55E00"
tumours = load_breast_cancer(as_frame=True)
columns = ["mean texture", "mean concave points"]
rows = tumours.data[columns]
is_benign = (tumours.target == 1).to_numpy()
benign = rows[is_benign]
model = REF().fit(benign)

# %%
# The steps, one by one
# ---------------------
# ``model.chain_`` holds a mean and a standard deviation for each level and column. That is all
# that was learned. Written out, the whole method is two lines; each fold and each standardization
# is cut into small steps here, so that the eye can follow the first three.

chain = model.chain_
pictures = []  # (rows, what is going on)


def glide(start, end, words, steps=6):
    pictures.extend(((1 - t) * start + t * end, words) for t in np.linspace(0, 1, steps))
    return end


y = (rows.to_numpy() - chain.shifts[0]) / chain.scales[0]
for level in range(1, model.n_iter):
    steps = 6 if level <= 3 else 2 if level % 20 == 0 else 0
    y = glide(y, np.abs(y), f"fold {level}", steps)
    y = glide(y, (y - chain.shifts[level]) / chain.scales[level], f"standardize {level}", steps)

print("The same as REF computes:", np.allclose(np.abs(y), np.abs(model.transform(rows))))

# %%
# The diamond is where the mean of the two magnitudes is at most 1: a row that ends inside is
# normal. Benign tumours, blue, are folded into it again and again. A row that lies farther out
# than most of them is not reached by the folds; each standardization stretches the plane and
# pushes it farther out. The title counts who is inside. (Two columns are not enough to tell all
# malignant tumours from benign ones: many end in the middle, and no method could tell them apart
# here.)

figure, ax = plt.subplots(figsize=(5.6, 5.6), layout="constrained")
ax.fill([2, 0, -2, 0], [0, 2, 0, -2], color="#BFD9EA", alpha=0.6, lw=0)
drawn = {
    kind: ax.plot([], [], marker, color=colour, ms=4, alpha=0.6, label=kind)[0]
    for kind, marker, colour in (("benign", "o", BLUE), ("malignant", "D", ORANGE))
}
ax.axhline(0, color="#CCCCCC", lw=0.8, zorder=0)
ax.axvline(0, color="#CCCCCC", lw=0.8, zorder=0)
ax.set(xlim=(-5, 5), ylim=(-5, 5), xlabel=columns[0], ylabel=columns[1], aspect="equal")
ax.legend(loc="lower left")


def draw(number):
    y, words = pictures[number]
    drawn["benign"].set_data(*y[is_benign].T)
    drawn["malignant"].set_data(*y[~is_benign].T)
    inside = np.abs(y).mean(axis=1) <= 1
    ax.set_title(
        f"{words}: inside are {inside[is_benign].mean():.0%} of the benign\n"
        f"and {inside[~is_benign].mean():.0%} of the malignant tumours"
    )


film = FuncAnimation(figure, draw, len(pictures), interval=250)

# %%
# One column, folded to the end
# -----------------------------
# After a hundred folds each value of a column has become a magnitude. Where training values lie
# it is small, beyond them it grows in a straight line: a value that is twice as far off is twice
# as bad. The dashed line is what this column must reach for a row to be rejected that is typical
# otherwise.

FoldMapDisplay.from_estimator(model, "mean concave points")

# %%
# The zigzag is the price: among training values the last level says little about how common a
# value is, neighbours get magnitudes that differ a hundredfold. ``REF(levels="all")`` takes the
# mean over all levels instead. That smooths the map, and it is what ``REF(alpha=...)`` does by
# itself.

FoldMapDisplay.from_estimator(REF(levels="all").fit(benign), "mean concave points")
plt.show()
