"""Figures 1 and 2: how folding works, and what it does to Gmean over the iterations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from refold._typing import Floats
from refold.model_selection import ThresholdSearchCV, gmean_score
from refold.studies.measured import BLUE, GREY, ORANGE, drawing_style, svg_text, write_text
from refold.studies.paper.cells import N_FOLDS
from refold.studies.paper.columns import COLUMNS, THRESHOLDS
from refold.studies.paper.data import Task
from refold.studies.paper.printed import AVERAGE, Key, cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


CAPTIONS = {
    1: "Element-wise folding. A cavity amid the target rows, where outliers hide, is moved to the "
    "side by one fold along both dimensions and out of the boundary by standardizing again.",
    2: "Gmean on the test rows over the iterations of REF, for three tasks (first split) and on "
    "average over all 14 tasks and 5 splits. For a single task many thresholds end up equally good "
    "and the first of them is chosen; early iterations tell them apart, so T = 1 is drawn as well.",
}

_STYLE: dict[str, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "figure.dpi": 160.0,
}


@dataclass(frozen=True, eq=False)
class Curves:
    """Gmean in percent after each iteration, by threshold."""

    title: str
    gmeans: dict[float, Floats]


def save_figures(numbers: Sequence[int], tasks: Sequence[Task], folder: Path) -> None:
    """Write the figures asked for, each as PNG and as SVG."""
    for number in numbers:
        with drawing_style(**_STYLE):
            figure = folding_figure() if number == 1 else curves_figure(curves(tasks))
            figure.savefig(folder / f"figure{number}.png")
            write_text(folder / f"figure{number}.svg", svg_text(figure))


def folding_figure() -> Figure:
    """Draw Figure 1 from rows that REF itself folds."""
    from matplotlib.figure import Figure

    rng = np.random.default_rng(2)
    sides = rng.choice((-1.0, 1.0), (320, 2))
    target, outliers = sides * rng.normal(1.0, 0.27, (320, 2)), rng.normal(0.0, 0.14, (24, 2))
    first, second = (
        clone(COLUMNS["abs L1/D"].estimator).set_params(n_iter=j).fit(target) for j in (1, 2)
    )
    standardized = [first.transform(rows) for rows in (target, outliers)]
    folded = [np.abs(rows) for rows in standardized]
    again = [second.transform(rows) for rows in (target, outliers)]
    figure = Figure(figsize=(9.6, 3.75), layout="constrained")
    axes = figure.subplots(1, 3)
    steps = (
        ("Before: a cavity inside", standardized),
        ("Folded along both dimensions", folded),
        ("Standardized again: moved out", again),
    )
    for axis, (title, (rows, others)) in zip(axes, steps, strict=True):
        _scatter(axis, title, rows, others)
    _boundary(axes[0])
    _boundary(axes[2])
    _creases(axes[0])
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
    )
    return figure


def _scatter(axis: Axes, title: str, target: Floats, outliers: Floats) -> None:
    axis.scatter(target[:, 0], target[:, 1], s=12, c=BLUE, alpha=0.7, linewidths=0, label="target")
    axis.scatter(
        outliers[:, 0], outliers[:, 1], s=18, c=ORANGE, marker="x", linewidths=1.2, label="outlier"
    )
    axis.axhline(0.0, color=GREY, lw=0.6, zorder=0)
    axis.axvline(0.0, color=GREY, lw=0.6, zorder=0)
    axis.set(title=title, xlabel="feature 1", ylabel="feature 2", aspect="equal")
    axis.set(xlim=(-4.4, 4.0), ylim=(-4.4, 4.0))


def _boundary(axis: Axes) -> None:
    """Draw where L1/D is 1."""
    corners = np.array([[2.0, 0.0], [0.0, 2.0], [-2.0, 0.0], [0.0, -2.0], [2.0, 0.0]])
    axis.plot(*corners.T, color="black", lw=1.0, ls="--", label="boundary L1/D = 1")


def _creases(axis: Axes) -> None:
    """Show which way the halves are folded over."""
    arrow = {"arrowstyle": "->", "color": "black", "lw": 1.1, "connectionstyle": "arc3,rad=-0.4"}
    axis.annotate("", xy=(1.7, 2.7), xytext=(-1.7, 2.7), arrowprops=arrow)
    axis.annotate(
        "",
        xy=(2.75, 1.6),
        xytext=(2.75, -1.6),
        arrowprops={**arrow, "connectionstyle": "arc3,rad=0.4"},
    )


def curves(tasks: Sequence[Task]) -> list[Curves]:
    """Compute the curves of Figure 2."""
    first = {task.info.task: task.standardized() for task in tasks if task.split == 0}
    single = []
    for name in ("Iris2", "Seed1", "Ion1"):
        task = first[name]
        thresholds = dict.fromkeys((_chosen_threshold(task), 1.0))
        title = f"{name}: {task.info.dataset}, {task.info.target_class}"
        single.append(Curves(title, {t: _gmeans(task, t) for t in thresholds}))
    all_cases = np.mean([_gmeans(task.standardized(), 1.0) for task in tasks], axis=0)
    return [*single, Curves(f"Average of {len(tasks)} cases", {1.0: all_cases})]


def _chosen_threshold(task: Task) -> float:
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    search = ThresholdSearchCV(COLUMNS["abs L1/D"].estimator, THRESHOLDS, cv=folds)
    return float(search.fit(task.X_train, task.y_train).best_threshold_)


def _gmeans(task: Task, threshold: float) -> Floats:
    model = clone(COLUMNS["abs L1/D"].estimator).fit(task.train_target)
    labels = np.where(model.trace(task.X_test) <= threshold, 1, -1)
    return np.array([100.0 * gmean_score(task.y_test, column) for column in labels.T])


def curves_figure(items: Sequence[Curves]) -> Figure:
    """Draw Figure 2."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 5.6), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    for axis, item in zip(axes, items, strict=True):
        _draw_curves(axis, item)
    _printed_ends(axes[-1], items[-1].gmeans[1.0])
    return figure


def _draw_curves(axis: Axes, item: Curves) -> None:
    chosen = len(item.gmeans) > 1
    for threshold, gmeans in item.gmeans.items():
        is_default = chosen and threshold == 1.0
        axis.plot(
            np.arange(1, len(gmeans) + 1),
            gmeans,
            color=GREY if is_default else BLUE,
            lw=1.2 if is_default else 1.8,
            ls="--" if is_default else "-",
            label=f"T = {threshold:g}" + (", chosen" if chosen and not is_default else ""),
        )
    values = np.concatenate(list(item.gmeans.values()))
    margin = max(1.5, 0.06 * np.ptp(values))
    axis.set_ylim(values.min() - margin, min(values.max() + margin, 101.5))
    axis.set(title=item.title, xlabel="iteration", ylabel="Gmean in %", xlim=(0, 102))
    axis.grid(alpha=0.25, lw=0.6)
    axis.legend(loc="lower right", frameon=False)


def _printed_ends(axis: Axes, gmeans: Floats) -> None:
    """Mark what Table II prints for the first and for the last iteration."""
    ends = (("base", "base", 1, (9, -3), "left"), ("abs", "REF", len(gmeans), (-2, -17), "right"))
    for fold, name, iteration, offset, side in ends:
        value = cells(2)[Key("default", (fold, "L1/D"), AVERAGE)].mean
        axis.plot([iteration], [value], "o", color=ORANGE, ms=6, mfc="none", mew=1.5)
        axis.annotate(
            f"{name} in Table II: {value}",
            (iteration, value),
            offset,
            textcoords="offset points",
            ha=side,
            color=ORANGE,
        )
