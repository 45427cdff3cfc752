"""Creases over two columns: where rows are folded, and what the first fold makes of one of them."""

import numpy as np
from matplotlib.figure import Figure
from palmerpenguins import load_penguins

NORMAL, OUTLIER, MUTED = "#0072B2", "#D55E00", "#666666"


def draw() -> Figure:
    """Draw a few creases of both kinds over standardized rows, and one fold along the first."""
    rows = load_penguins()[["flipper_length_mm", "body_mass_g"]].dropna().to_numpy()
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    rng = np.random.default_rng(4)
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    plane, folded = figure.subplots(1, 2)
    plane.plot(*z.T, ".", color=MUTED, markersize=3, alpha=0.5)
    for colour, crease in ((NORMAL, _through_a_row), (OUTLIER, _between_two)):
        for _ in range(3):
            w, c = crease(z, rng)
            plane.axline(c * w, c * w + [-w[1], w[0]], color=colour, linewidth=1)
    plane.set_xlim(-3, 3)
    plane.set_ylim(-3, 3)
    plane.set_xlabel("flipper length, standardized")
    plane.set_ylabel("body mass, standardized")
    plane.set_title("Creases: through a row (blue), between two (orange)")
    y = z @ w - c
    folded.hist([y, np.abs(y)], 30, histtype="step", color=[MUTED, OUTLIER], label=["y", "|y|"])
    folded.axvline(0, color="black", linewidth=0.8, linestyle=":")
    folded.set_xlabel("signed distance to one crease")
    folded.set_ylabel("rows")
    folded.set_title("The rows, folded along it")
    folded.legend(frameon=False)
    return figure


def _through_a_row(z: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    w = rng.normal(size=2)
    w /= np.linalg.norm(w)
    return w, w @ z[rng.integers(len(z))]


def _between_two(z: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    a, b = z[rng.choice(len(z), 2, replace=False)]
    w = (a - b) / np.linalg.norm(a - b)
    return w, w @ (a + b) / 2
