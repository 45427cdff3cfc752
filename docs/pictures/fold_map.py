"""What folding does to one column: the values after 0, 1, 2 and 100 folds."""

import numpy as np
from matplotlib.figure import Figure
from palmerpenguins import load_penguins

from refold import REF

NORMAL, MUTED = "#0072B2", "#666666"


def draw() -> Figure:
    """Draw what each value becomes, level by level, over where training had values."""
    column = load_penguins()[["flipper_length_mm"]].dropna()
    x = np.linspace(160, 245, 1500)[:, np.newaxis]
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    panels = figure.subplots(1, 4, sharex=True)
    for folds, ax in zip((0, 1, 2, 100), panels, strict=True):
        model = REF(n_iter=folds + 1).fit(column.to_numpy())
        ax.plot(x, abs(model.transform(x)), color=NORMAL, linewidth=1)
        ax.plot(column, np.zeros(len(column)), "|", color=MUTED, alpha=0.3)
        ax.set_ylim(-0.4, 6)
        ax.set_title("not folded" if not folds else f"{folds} fold" + "s" * (folds > 1))
        ax.set_xlabel("flipper length, mm")
    panels[0].set_ylabel("magnitude")
    return figure
