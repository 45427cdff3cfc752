"""The picture of README.md: normal rows, where new ones are accepted, and why one is not."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from palmerpenguins import load_penguins

from refold import CreasedREF, explain

COLUMNS = ["flipper_length_mm", "body_mass_g"]
NORMAL, OUTLIER, BAND, TEXT = "#0072B2", "#D55E00", "#DCEAF4", "#333333"


def draw() -> Figure:
    """Draw penguins, the border of normal, and two new birds with what is said of them."""
    penguins = load_penguins()[COLUMNS].dropna()
    model = CreasedREF(alpha=0.01).fit(penguins)
    figure = Figure(figsize=(8, 3.8), layout="constrained", facecolor="white")
    ax = figure.subplots()
    x, y = np.meshgrid(np.linspace(160, 256, 250), np.linspace(2000, 7000, 250))
    plane = pd.DataFrame({COLUMNS[0]: x.ravel(), COLUMNS[1]: y.ravel()})
    distances = -model.score_samples(plane).reshape(x.shape)
    ax.contourf(x, y, distances, [0, 1], colors=[BAND])
    ax.contour(x, y, distances, [1], colors=[NORMAL], linewidths=1.5)
    ax.plot(*penguins.to_numpy().T, ".", color=NORMAL, markersize=4, alpha=0.6)
    ax.set_xlabel("flipper length, mm")
    ax.set_ylabel("body mass, g")
    _say(ax, model, (180, 5900), (-78, 14), OUTLIER)
    _say(ax, model, (226, 5150), (14, -34), NORMAL)
    return figure


def _say(ax, model, bird, aside, colour) -> None:
    """Mark a new bird and write beside it what the model says."""
    found = explain(model, pd.DataFrame([bird], columns=COLUMNS))[0]
    verdict = "normal" if found.label == 1 else "NOT normal"
    words = f"new bird: {verdict}, p = {found.p_value:.2g}"
    if found.label == -1:
        body_mass = next(reason for reason in found.reasons if reason.feature == COLUMNS[1])
        words += f"\nbody mass {body_mass.value:.0f} g, expected {body_mass.expected:.0f} g"
    ax.plot(*bird, "X", color=colour, markersize=11, markeredgecolor="white")
    ax.annotate(words, bird, aside, textcoords="offset points", color=TEXT, fontsize=10)
