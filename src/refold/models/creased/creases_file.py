"""The creases in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh

from refold._typing import Floats
from refold.modelfile import arrays
from refold.modelfile.fields import Field
from refold.modelfile.json_text import Budget
from refold.models.creased.creases import LARGEST, Creases, n_plain
from refold.models.creased.drawing import MOST_KNOTS, RankGauss

MOST_CREASES = 2**20
_ARRAYS = ("center", "scale", "directions", "offsets", "shifts", "spreads", "precision")
_GAUSS = ("knots", "heights", "starts", "slopes")
# A direction has the length 1, but for the rounding of its numbers.
_ROUNDING = 1e-6
# Expected values beyond this could overflow where they are multiplied.
_LARGEST_EXPECTED = 1e100


def creases_written(creases: Creases, budget: Budget) -> dict[str, Any]:
    """Return creases as the document has them."""
    _charge_check(budget, len(creases.precision), "creases.precision")
    return {
        "constant": np.flatnonzero(~creases.varying),
        **{name: getattr(creases, name) for name in _ARRAYS},
        "gauss": {name: getattr(creases.gauss, name) for name in _GAUSS},
    }


def read_creases(field: Field, n_features: int, n_levels: int, *, blind: bool) -> Creases:
    """Return checked creases."""
    constant, center, scale, directions, offsets, shifts, spreads, precision, gauss = field.members(
        "constant", *_ARRAYS, "gauss"
    )
    varying = _varying(constant, n_features)
    v = int(varying.sum())
    n = arrays.length_of(offsets, MOST_CREASES if v else 0, least=1 if v else 0)
    return Creases(
        center=arrays.floats(center, n_features),
        scale=arrays.floats(scale, n_features, above=0.0),
        varying=varying,
        directions=_directions(directions, n, v),
        offsets=arrays.floats(offsets, n),
        shifts=arrays.floats(shifts, n_levels, n),
        spreads=arrays.floats(spreads, n_levels, n, least=0.0),
        precision=_precision(precision, v),
        gauss=_gauss(gauss, v),
        blind=blind and v > 0,
    )


def largest_features(creases: Creases) -> Floats:
    """Return how large each feature of any finite row can become."""
    with np.errstate(all="ignore"):
        bent = np.abs(creases.gauss.heights).max(initial=0.0)
        bent += 2.0 * LARGEST * creases.gauss.slopes.max(initial=0.0)
        largest = np.full(len(creases.offsets), LARGEST)
        largest[n_plain(len(largest)) :] = bent
        size = largest * np.abs(creases.directions).sum(axis=1) + np.abs(creases.offsets)
        levels = []
        for shift, spread in zip(creases.shifts, creases.spreads, strict=True):
            size = np.where(spread > 0.0, (size + np.abs(shift)) * (1.0 / spread), 0.0)
            levels.append(size)
        changed = [LARGEST] if creases.has_constants else []
    return np.concatenate([*levels, changed])


def _gauss(field: Field, v: int) -> RankGauss:
    """Read the bends: the knots of a column ascend, and so does what becomes of them."""
    knots, heights, starts, slopes = field.members(*_GAUSS)
    begins = arrays.integers(starts, v + 1)
    k = arrays.length_of(knots, MOST_KNOTS * v, least=0)
    steps = np.diff(begins)
    fine = np.append(begins[0] == 0, (steps >= 1) & (steps <= MOST_KNOTS))
    arrays.require(starts, begins, fine, f"must be 1 to {MOST_KNOTS} after the one before it")
    if begins[-1] != k:
        starts.refuse(f"must end with the number of knots, {k}")
    places, becomes = arrays.floats(knots, k), arrays.floats(heights, k)
    arrays.require_rising(knots, places, begins.tolist())
    arrays.require_rising(heights, becomes, begins.tolist())
    return RankGauss(places, becomes, begins, arrays.floats(slopes, v, above=0.0))


def _varying(field: Field, n_features: int) -> NDArray[np.bool_]:
    """Read which columns are constant."""
    length = arrays.length_of(field, n_features, least=0)
    varying = np.ones(n_features, dtype=np.bool_)
    varying[arrays.integers(field, length, least=0, most=n_features - 1, rising=True)] = False
    return varying


def _directions(field: Field, n: int, v: int) -> Floats:
    directions = arrays.floats(field, n, v)
    with np.errstate(over="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", directions, directions))
    for number in np.flatnonzero(~(np.abs(lengths - 1.0) <= _ROUNDING))[:1]:
        field.at(number).refuse(f"must have the length 1, not {float(lengths[number])!r}")
    return directions


def _charge_check(budget: Budget, v: int, where: str) -> None:
    budget.charge(2 * 8 * v * v, "The check of the array", where)


def _precision(field: Field, v: int) -> Floats:
    """Read what columns say about each other: every gap must have an expected value."""
    _charge_check(field.budget, v, field.path)
    precision = np.asfortranarray(arrays.floats(field, v, v))  # as when it was learned
    # Halves first: the sum of two large numbers may overflow.
    values = eigvalsh(precision / 2.0 + precision.T / 2.0, overwrite_a=True) if v else np.ones(1)
    with np.errstate(all="ignore"):
        expected = LARGEST * v * np.abs(precision).sum() / values[0]  # NumPy divides by zero
    if not (values[0] > 0.0 and expected < _LARGEST_EXPECTED):
        field.refuse("must be positive definite: gaps could not be filled")
    return precision
