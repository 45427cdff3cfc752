"""Fold chains and sketches in a model file."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from refold._typing import Integers
from refold.algorithm.chain import FoldChain
from refold.algorithm.engines.sketch import Histogram, Sketch
from refold.algorithm.folds import FOLDS
from refold.algorithm.kernels import LEAST_BINS, MOST_BINS
from refold.modelfile import arrays
from refold.modelfile.errors import ModelFileError
from refold.modelfile.fields import Field

# Widths that a double can have; that the bins' places are doubles too is checked with them.
_EXPONENTS = (-1074, 1023)
# Adding and subtracting weights rounds: a row may lie this share of all weight beside its bin.
_SLACK = 1e-6
_PER_COLUMN = ("exponent", "low", "high", "missing")
_PER_BIN = ("bins", "counts", "positions")


def chain_written(chain: FoldChain) -> dict[str, Any]:
    """Return a chain as the document has it."""
    if not isinstance(chain.fold, str):
        raise ModelFileError(
            f"{chain.fold!r} is a function; a model file holds data only. Use a named fold, or "
            "pickle the model",
            where="chain.fold",
        )
    return {
        "fold": chain.fold,
        "n_iter": chain.n_iter,
        "levels": chain.levels,
        "gain": chain.gain,
        "shifts": chain.shifts,
        "scales": chain.scales,
    }


def read_chain(field: Field, n_features: int) -> FoldChain:
    """Return a checked chain."""
    fold, n_iter, levels, gain, shifts, scales = field.members(
        "fold", "n_iter", "levels", "gain", "shifts", "scales"
    )
    J = n_iter.integer(1)
    return FoldChain(
        fold.text(FOLDS),
        arrays.floats(shifts, J, n_features),
        arrays.floats(scales, J, n_features, above=0.0),
        arrays.integers(levels, n_features, least=1, most=J),
        arrays.floats(gain, n_features, least=0.0),
    )


def check_evaluable(field: Field, chain: FoldChain) -> None:
    """Refuse numbers that are possible one by one but overflow when a compiled engine joins them.

    With finite steps and factors above zero no finite row gives anything but finite values.
    """
    with np.errstate(all="ignore"):
        offset, _, shift, factor = chain.steps
    fine = np.isfinite(offset) & np.isfinite(shift).all(axis=1)
    fine &= (np.isfinite(factor) & (factor > 0.0)).all(axis=1)
    if not fine.all():
        field.refuse(
            f"the shifts and scales of feature {int(np.argmin(fine))} (counted from 0) overflow "
            "when they are applied one after another"
        )


def sketch_written(sketch: Sketch) -> dict[str, Any]:
    """Return a sketch as the document has it: the bins of all columns after each other."""
    columns = sketch.histograms
    return {
        "n_bins": sketch.n_bins,
        "rows": sketch.rows,
        "weight": sketch.weight,
        **{name: np.array([getattr(h, name) for h in columns]) for name in _PER_COLUMN},
        "values": np.array([h.rows for h in columns]),
        "lengths": np.array([len(h.bins) for h in columns]),
        **{name: np.concatenate([getattr(h, name) for h in columns]) for name in _PER_BIN},
    }


def read_sketch(field: Field, n_features: int, *, empty: bool = False) -> Sketch:
    """Return a checked sketch; with `empty` it, or some of its columns, may have no value."""
    names = ("n_bins", "rows", "weight", *_PER_COLUMN, "values", "lengths", *_PER_BIN)
    members = dict(zip(names, field.members(*names), strict=True))
    least = 0 if empty else 1
    n_bins, rows = members["n_bins"].integer(LEAST_BINS, MOST_BINS), members["rows"].integer(least)
    weight = members["weight"].positive() if rows else members["weight"].number()
    slack = _SLACK * (1.0 + weight)
    begins = arrays.starts(members["lengths"], n_features, n_bins, least=least)
    columns = _read_columns(members, np.diff(begins), empty=empty)
    bins = _read_bins(members, begins, slack)
    histograms = [
        Histogram(exponent, *(each[begin:end] for each in bins), *others)
        for (begin, end), exponent, *others in zip(pairwise(begins), *columns, strict=True)
    ]
    with np.errstate(over="ignore"):
        for k, histogram in enumerate(histograms):
            _check_histogram(members, histogram, k, weight, slack)
    return Sketch(n_bins, histograms, rows, weight)


def _read_columns(members: dict[str, Field], lengths: Integers, *, empty: bool) -> list[list[Any]]:
    """Return exponents, ends, what is missing and how many values there are, column by column."""
    d = len(lengths)
    exponents = arrays.integers(members["exponent"], d, least=_EXPONENTS[0], most=_EXPONENTS[1])
    low, high = (arrays.floats(members[name], d) for name in ("low", "high"))
    arrays.require(members["high"], high, high >= low, "must not be below the smallest value")
    missing = arrays.floats(members["missing"], d, least=0.0)
    values = arrays.integers(members["values"], d, least=0)
    if empty:
        fits = (values == 0) == (lengths == 0)
        arrays.require(members["values"], values, fits, "must be 0 if, and only if, no bin is")
    return [each.tolist() for each in (exponents, low, high, missing, values)]


def _read_bins(members: dict[str, Field], begins: list[int], slack: float) -> tuple[Any, ...]:
    """Return bins that ascend in their column, their counts, and positions that lie within them."""
    n = begins[-1]
    bins = arrays.integers(members["bins"], n)
    arrays.require_rising(members["bins"], bins, begins)
    counts = arrays.floats(members["counts"], n, above=0.0)
    positions = arrays.floats(members["positions"], n)
    within = (positions >= -slack) & (positions <= counts + slack)
    arrays.require(members["positions"], positions, within, "must lie between 0 and the count")
    return bins, counts, positions


def _check_histogram(
    members: dict[str, Field], histogram: Histogram, k: int, total: float, slack: float
) -> None:
    """Refuse bins outside the range of their column, or with other rows than it has values."""
    if len(histogram.bins):
        ends = np.ldexp([histogram.low, histogram.high], -histogram.exponent)
        first, last = float(histogram.bins[0]), float(histogram.bins[-1])
        if not (ends[0] <= first + 1.0 and ends[1] >= last):
            members["bins"].refuse(
                f"those of column {k} must lie between its smallest and its largest value"
            )
        if not np.isfinite(histogram.centroids()[0]).all():
            members["positions"].refuse(f"those of column {k} must lie in finite bins")
    counted = float(histogram.counts.sum()) + histogram.missing
    if not abs(counted - total) <= slack:
        members["counts"].refuse(
            f"those of column {k} and what is missing add up to {counted!r}, the weight of all is "
            f"{total!r}"
        )
