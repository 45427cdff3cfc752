"""The folding operations of the paper: abs, sqr, cos-abs, cos, sin, tanh, or the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Array = Any  # an array of any namespace that follows the array API standard


@dataclass(frozen=True)
class Fold:
    """An element-wise operation and how much it can amplify a small error."""

    value: Callable[[Any, Array], Array]  # ``value(xp, y)`` is the folded array
    slope: Callable[[Any, Array], Array]  # ``slope(xp, y)`` is the magnitude of its derivative


def _cos_abs(xp: Any, y: Array) -> Array:
    return xp.where(xp.abs(y) <= 1.0, xp.cos(y), xp.abs(y))


def _cos_abs_slope(xp: Any, y: Array) -> Array:
    return xp.where(xp.abs(y) <= 1.0, xp.abs(xp.sin(y)), xp.ones_like(y))


FOLDS: dict[str, Fold] = {
    "abs": Fold(lambda xp, y: xp.abs(y), lambda xp, y: xp.ones_like(y)),
    "sqr": Fold(lambda xp, y: y * y, lambda xp, y: 2.0 * xp.abs(y)),
    "cos-abs": Fold(_cos_abs, _cos_abs_slope),
    "cos": Fold(lambda xp, y: xp.cos(y), lambda xp, y: xp.abs(xp.sin(y))),
    "sin": Fold(lambda xp, y: xp.sin(y), lambda xp, y: xp.abs(xp.cos(y))),
    "tanh": Fold(lambda xp, y: xp.tanh(y), lambda xp, y: 1.0 - xp.tanh(y) ** 2),
}

# Wide enough that rounding does not matter, narrow enough for any sensible fold.
_STEP = 1e-6


def resolve(fold: str | Callable[[Array], Array]) -> Fold:
    """Return the named fold, or wrap the user's callable."""
    return FOLDS[fold] if isinstance(fold, str) else _wrap(fold)


def _wrap(function: Callable[[Array], Array]) -> Fold:
    def value(xp: Any, y: Array) -> Array:
        folded = function(y)
        if getattr(folded, "shape", None) != y.shape:
            raise ValueError(
                f"The fold {function!r} must return an array of the shape it was given, "
                f"{tuple(y.shape)}, but returned {getattr(folded, 'shape', type(folded).__name__)}."
            )
        if not bool(xp.all(xp.isfinite(folded))):
            raise ValueError(
                f"The fold {function!r} returned NaN or infinity for a finite value. It must be "
                "defined for every number."
            )
        return xp.astype(folded, y.dtype, copy=False)

    def slope(xp: Any, y: Array) -> Array:
        # The larger of the two one-sided differences: at a kink the steeper side counts.
        step = _STEP * (1.0 + xp.abs(y))
        here = value(xp, y)
        left = xp.abs(here - value(xp, y - step)) / step
        right = xp.abs(value(xp, y + step) - here) / step
        return xp.where(left > right, left, right)

    return Fold(value, slope)
