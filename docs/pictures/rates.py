"""Asked for and got: how many new normal rows are rejected, beside the rate that was asked for."""

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

from refold import REF

NORMAL, OUTLIER, MUTED = "#0072B2", "#D55E00", "#666666"
ALPHAS = (0.02, 0.05, 0.1, 0.15, 0.2)


def draw() -> Figure:
    """Divide the benign cases again and again; learn, calibrate on held-out rows, count."""
    data = load_breast_cancer()
    benign = data.data[data.target == 1]
    ways = {
        "alpha=": ([], NORMAL, "o", -0.001),
        "calibrate(held_out, …)": ([], OUTLIER, "s", 0.001),
    }
    for seed in range(30):
        rows = np.random.default_rng(seed).permutation(benign)
        learned, held_out, new = rows[:120], rows[120:240], rows[240:]
        for (rates, *_), held in zip(ways.values(), (None, held_out), strict=True):
            model = REF(alpha=0.1).fit(learned)
            rates.append(
                [(model.calibrate(held, alpha=a).predict(new) == -1).mean() for a in ALPHAS]
            )
    figure = Figure(figsize=(5.4, 3.6), layout="constrained")
    ax = figure.subplots()
    ax.plot([0, 0.2], [0, 0.2], color=MUTED, linewidth=1, linestyle=":", label="as asked for")
    for label, (rates, colour, mark, aside) in ways.items():
        ax.errorbar(
            np.add(ALPHAS, aside),
            np.mean(rates, axis=0),
            np.std(rates, axis=0),
            fmt=mark,
            color=colour,
            capsize=3,
            label=label,
        )
    ax.set_xlabel("alpha: asked for")
    ax.set_ylabel("rejected of new normal rows")
    ax.legend(frameon=False)
    return figure
