"""Some texts of a column that speak for all, and how they can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from refold._typing import Floats
from refold.columns.table import TextColumn

Form = TypeVar("Form")

_FREQUENT, _DRAWN = 500, 2000


@dataclass(frozen=True, eq=False)
class TextSample:
    """Different texts without the space around them, and how many rows each speaks for.

    Parameters
    ----------
    texts : list of str
    weights : ndarray of shape (n,)
        They add up to the rows that have a value.
    """

    texts: list[str]
    weights: Floats

    @classmethod
    def of(cls, column: TextColumn) -> TextSample:
        """Return the most frequent texts and some of the others, always the same."""
        counts = column.counts.astype(np.float64)
        order = np.argsort(-counts, kind="stable")
        order = order[counts[order] > 0.0]
        often, rest = order[:_FREQUENT], order[_FREQUENT:]
        if len(rest) > _DRAWN:
            drawn = np.random.default_rng(0).choice(rest, _DRAWN, replace=False)
            scale = counts[rest].sum() / counts[drawn].sum()
        else:
            drawn, scale = rest, 1.0
        texts = [column.values[place].strip() for place in [*often.tolist(), *drawn.tolist()]]
        return cls(texts, np.concatenate([counts[often], scale * counts[drawn]]))

    def share(self, values: Floats) -> float:
        """Return the share of the rows that have a number, given one for each text."""
        return float(self.weights[~np.isnan(values)].sum() / self.weights.sum())


@dataclass(frozen=True)
class FormReading(Generic[Form]):
    """A form, the share of cells that it reads, and another that reads as many as other values."""

    form: Form
    share: float
    rival: Form | None = None


def disagree(a: Floats, b: Floats) -> bool:
    """Whether two readings of the same texts give one of them different values."""
    both = ~np.isnan(a) & ~np.isnan(b)
    return bool((a[both] != b[both]).any())
