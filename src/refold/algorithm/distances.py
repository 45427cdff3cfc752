"""From folded rows to one number per row: L1/D, L2/D, or the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from refold._typing import Array
from refold.algorithm.kernels import DISTANCES

__all__ = ["DISTANCES", "distance", "distance_shares"]


def distance(xp: Any, y: Array, observed: Array, kind: str | Callable[[Array], Array]) -> Array:
    """Return each row's distance to the origin, over its observed features only.

    Parameters
    ----------
    xp : namespace
        The array namespace of `y`.
    y : array of shape (n, d)
        Folded rows, 0 where not observed.
    observed : bool array of shape (n, d)
        Which values are there; at least one per row.
    kind : {"l1", "l2"} or callable
        L1/D, L2/D (‖y‖₂/D, as in the paper, not divided by √D), or a callable on folded rows.
    """
    if callable(kind):
        return _own(xp, y, observed, kind)
    count = _count(xp, y, observed)
    if kind == "l1":
        return xp.sum(xp.abs(y), axis=1) / count
    return xp.sqrt(xp.sum(y * y, axis=1)) / count


def distance_shares(xp: Any, y: Array, observed: Array, kind: str) -> Array:
    """Return each feature's share of :func:`distance`; a row's shares add up to it."""
    count = _count(xp, y, observed)[:, None]
    if kind == "l1":
        return xp.abs(y) / count
    norm = xp.sqrt(xp.sum(y * y, axis=1))[:, None]
    return y * y / (xp.where(norm > 0.0, norm, xp.ones_like(norm)) * count)


def _count(xp: Any, y: Array, observed: Array) -> Array:
    return xp.sum(xp.astype(observed, y.dtype), axis=1)


def _own(xp: Any, y: Array, observed: Array, function: Callable[[Array], Array]) -> Array:
    """Call the user's distance; rows that miss the same features go together, without those."""
    if bool(xp.all(observed)):
        return _checked(xp, function, y)
    result = xp.empty(y.shape[0], dtype=y.dtype, device=y.device)
    patterns, group = xp.unique_inverse(_pattern_numbers(xp, observed))
    for g in range(patterns.shape[0]):
        rows = xp.nonzero(group == g)[0]
        columns = xp.nonzero(observed[int(rows[0]), :])[0]
        part = xp.take(xp.take(y, rows, axis=0), columns, axis=1)
        result[group == g] = _checked(xp, function, part)
    return result


def _pattern_numbers(xp: Any, observed: Array) -> Array:
    """Give two rows the same number if they miss the same features."""
    numbers = xp.zeros(observed.shape[0], dtype=xp.int64, device=observed.device)
    for j in range(observed.shape[1]):
        pair = 2 * numbers + xp.astype(observed[:, j], xp.int64)
        numbers = xp.astype(xp.unique_inverse(pair)[1], xp.int64)
    return numbers


def _checked(xp: Any, function: Callable[[Array], Array], y: Array) -> Array:
    result = function(y)
    if getattr(result, "shape", None) != (y.shape[0],):
        raise ValueError(
            f"The distance {function!r} must return one number per row, shape ({y.shape[0]},), but "
            f"returned {getattr(result, 'shape', type(result).__name__)}."
        )
    if not bool(xp.all(xp.isfinite(result))):
        raise ValueError(f"The distance {function!r} returned NaN or infinity for a folded row.")
    return xp.astype(result, y.dtype, copy=False)
