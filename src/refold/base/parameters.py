"""Which values the parameters of an estimator may have, and the error for one that it may not.

scikit-learn has such constraints for itself; they are private and change with its releases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from numbers import Integral, Real
from typing import Any, Literal, ParamSpec

import numpy as np
from sklearn.base import BaseEstimator

P = ParamSpec("P")


class InvalidParameterError(ValueError, TypeError):
    """A parameter has a type or a value that its estimator does not take."""


@dataclass(frozen=True)
class Interval:
    """Numbers of a type between two ends; an end that is None is infinite."""

    type: Any  # Integral, Real, or float for numbers that are no integers
    low: float | None
    high: float | None
    closed: Literal["left", "right", "both", "neither"]

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, self.type) or math.isnan(value):
            return False
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        is_end = (value == low and self.closed in ("left", "both")) or (
            value == high and self.closed in ("right", "both")
        )
        return is_end or bool(low < value < high)

    def __str__(self) -> str:
        opening = "[" if self.closed in ("left", "both") else "("
        closing = "]" if self.closed in ("right", "both") else ")"
        low = "-inf" if self.low is None else self.low
        high = "inf" if self.high is None else self.high
        return f"{_called(self.type)} in the range {opening}{low}, {high}{closing}"


@dataclass(frozen=True)
class StrOptions:
    """One of several strings."""

    options: frozenset[str]

    def __init__(self, *options: str) -> None:
        object.__setattr__(self, "options", frozenset(options))

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and value in self.options

    def __str__(self) -> str:
        return f"a str among {{{', '.join(map(repr, sorted(self.options)))}}}"


@dataclass(frozen=True)
class HasMethods:
    """An object with all of these methods."""

    methods: tuple[str, ...]

    def __init__(self, *methods: str) -> None:
        object.__setattr__(self, "methods", methods)

    def __contains__(self, value: object) -> bool:
        return all(callable(getattr(value, method, None)) for method in self.methods)

    def __str__(self) -> str:
        return f"an object with the methods {', '.join(self.methods)}"


# What check_random_state takes.
RANDOM_STATE = (Interval(Integral, 0, 2**32 - 1, closed="both"), np.random.RandomState, None)
N_JOBS = (
    Interval(Integral, 1, None, closed="left"),
    Interval(Integral, None, -1, closed="right"),
    None,
)


def takes_no_rules(init: Callable[P, None]) -> Callable[P, None]:
    """Make the constructor of an estimator of numbers say who takes rules."""

    @wraps(init)
    def checked(*args: P.args, **kwargs: P.kwargs) -> None:
        if "rules" in kwargs:
            name = type(args[0]).__name__
            raise TypeError(
                f"{name} takes no rules: it is a function of numbers, which have no limits, "
                "allowed values or groups of their own. Detector(method='ref', rules=...) judges "
                "by REF and by rules, Detector(method='creased', rules=...) by CreasedREF."
            )
        init(*args, **kwargs)

    return checked


def validate_parameters(estimator: BaseEstimator) -> None:
    """Raise InvalidParameterError for the first parameter that meets none of its constraints."""
    for name, value in estimator.get_params(deep=False).items():
        check_parameter(type(estimator).__name__, estimator._parameter_constraints, name, value)


def check_parameter(
    owner: str, constraints: Mapping[str, Sequence[Any]], name: str, value: object
) -> None:
    """Raise InvalidParameterError if the value meets none of its constraints.

    A constraint is a type, None, the function ``callable``, or one of the classes above. A
    parameter without an entry may have any value.
    """
    allowed = constraints.get(name)
    if allowed is None or any(_meets(value, constraint) for constraint in allowed):
        return
    *others, last = map(_called, allowed)
    rule = f"{', '.join(others)} or {last}" if others else last
    raise InvalidParameterError(
        f"The {name!r} parameter of {owner} must be {rule}. Got {value!r} instead."
    )


def _meets(value: object, constraint: Any) -> bool:
    if isinstance(constraint, (Interval, StrOptions, HasMethods)):
        return value in constraint
    if isinstance(constraint, type):
        return isinstance(value, constraint)
    return value is None if constraint is None else callable(value)


def _called(constraint: Any) -> str:
    """Return what a person calls the constraint."""
    if constraint is None or isinstance(constraint, (Interval, StrOptions, HasMethods)):
        return str(constraint)
    if constraint is callable:
        return "a callable"
    known = {Integral: "an int", Real: "a float"}
    return known.get(constraint, f"an instance of {constraint.__qualname__!r}")
