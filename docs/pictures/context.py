"""What is expected of each machine, and over time, with rows that are not as expected."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from refold import Detector
from refold.report import describe

NORMAL, OUTLIER, BAND = "#0072B2", "#D55E00", "#CFE4F2"


def draw() -> Figure:
    """Judge machines by their own level, and a metric by the time of day and its trend."""
    figure = Figure(figsize=(8.4, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    rng = np.random.default_rng(0)
    machine = rng.integers(0, 12, 1_500)
    level, spread = rng.normal(50, 15, 12), np.exp(rng.normal(0, 0.6, 12))
    fleet = pd.DataFrame(
        {
            "machine": [f"M{k}" for k in machine],
            "vibration": level[machine] + spread[machine] * rng.normal(size=1_500),
        }
    )
    new = fleet.tail(150).reset_index(drop=True)
    new.loc[[3, 60, 90], "vibration"] = 50.0
    _beside(left, Detector(by="machine", alpha=0.01).fit(fleet.head(1_350)), new)
    left.set(title="by machine", ylabel="vibration", xticks=range(12))
    time = pd.date_range("2026-01-01", periods=24 * 64, freq="h")
    load = 40 + 0.01 * np.arange(len(time)) + 12 * np.sin(time.hour / 24 * 2 * np.pi)
    series = pd.DataFrame({"time": time, "load": load + rng.normal(size=len(time))})
    week = series.tail(24 * 4).reset_index(drop=True)
    week.loc[[20, 56], "load"] = 58.0
    model = Detector(over="time", alpha=0.01).fit(series.head(24 * 60))
    _beside(right, model, week)
    right.set(title="over time", ylabel="load", xlabel="hours after training")
    return figure


def _beside(ax, model, rows) -> None:
    band = describe(model, rows).in_context.bands[0]
    at = band.at if band.by_group else (band.at - band.at[0]) / 3600.0
    if band.by_group:
        order = [int(name[1:]) for name in band.labels]
        at = np.array(order)[at.astype(int)] + np.random.default_rng(1).uniform(
            -0.25, 0.25, len(at)
        )
        ax.vlines(at, band.low, band.high, color=BAND, linewidth=4)
    else:
        ax.fill_between(at, band.low, band.high, color=BAND)
    ax.plot(at[~band.outlier], band.values[~band.outlier], ".", color=NORMAL)
    ax.plot(at[band.outlier], band.values[band.outlier], "o", color=OUTLIER)
    ax.spines[["top", "right"]].set_visible(False)
