"""One file per method: ``make(**options)`` returns its name, how it learns and how it scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Method:
    name: str
    fit: Callable[[Any], Any]
    score: Callable[[Any, Any], Any]


def from_estimator(name, estimator, score="score_samples"):
    """A method from an object with ``fit`` and a scoring method."""
    return Method(name, estimator.fit, lambda model, X: getattr(model or estimator, score)(X))
