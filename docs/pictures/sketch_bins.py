"""Two sites' histograms of one column and their sum: bins of width 2^k, aligned at zero."""

import numpy as np
from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#666666")


def draw() -> Figure:
    """Draw a narrow and a wide histogram, and the merged one in the bins of the wider."""
    rng = np.random.default_rng(0)
    near, far = rng.normal(1.4, 0.3, 400), rng.normal(2.5, 0.9, 400)
    parts = {
        "site A: width 2⁻³": (near, 1 / 8),
        "site B: width 2⁻²": (far, 1 / 4),
        "merged: A's bins in pairs, then added": (np.concatenate([near, far]), 1 / 4),
    }
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    panels = figure.subplots(1, 3, sharex=True)
    for ax, colour, (title, (values, width)) in zip(panels, COLOURS, parts.items(), strict=True):
        edges = np.arange(np.floor(values.min() / width), np.ceil(values.max() / width) + 1) * width
        ax.hist(values, edges, color=colour, edgecolor="white", linewidth=0.5)
        ax.set_title(title)
        ax.set_xlabel("value")
    panels[0].set_ylabel("rows")
    return figure
