"""Cells of measures: what a method reached on some data, or why it did not."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import KFold

from refold._typing import Floats, Integers
from refold.studies.output import csv_text
from refold.studies.run import Job, Study

_PARTS = 5


def left_out_threshold(
    n: int, alpha: float, seed: int, score: Callable[[Integers, Integers], Floats]
) -> float:
    """Return the threshold that scores of left-out training rows suggest (five parts).

    Examples
    --------
    >>> import numpy as np
    >>> from refold.studies.measured import left_out_threshold
    >>> scores = -np.arange(1.0, 20.0)
    >>> left_out_threshold(19, 0.1, 0, lambda others, part: scores[part])
    -2.0
    """
    scores = np.empty(n)
    for others, part in KFold(_PARTS, shuffle=True, random_state=seed).split(scores):
        scores[part] = score(others, part)
    # The (n+1)(1-alpha)-th smallest; not by logarithms, as of distances: scores may be negative.
    return float(np.quantile(scores, 1.0 - alpha, method="weibull"))


_LONGEST_NOTE = 300


@dataclass(frozen=True)
class MeasuredCell:
    """What came of one cell."""

    outcome: Literal["done", "failed", "too long"]  # whether there are measures
    measures: dict[str, float]  # fractions of 1, and seconds of processor time; empty unless done
    note: str = ""  # the error, or what the method warned of
    time_limit: float | None = None  # the seconds after which it was stopped, if it was

    @classmethod
    def of(cls, measure: Callable[[], dict[str, float]]) -> MeasuredCell:
        """Measure; whatever error is raised becomes the outcome, whatever is warned of the note."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                measures = measure()
            except Exception as error:
                return cls.failed(error)
        note = "; ".join(dict.fromkeys(_short(str(warning.message)) for warning in said))
        return cls("done", measures, _short(note))

    @classmethod
    def failed(cls, error: BaseException) -> MeasuredCell:
        """Return the cell of a method that raised an error."""
        return cls("failed", {}, _short(f"{type(error).__name__}: {error}"))

    @classmethod
    def too_long(cls, limit: float) -> MeasuredCell:
        """Return the cell of a method that was stopped."""
        return cls("too long", {}, f"stopped after {limit:g} s", limit)


class MeasuredStudy(Study[Job, MeasuredCell]):
    """A study whose methods may fail or take too long; it goes on with the others."""

    time_limit: float  # in seconds. A method that was stopped earlier than this gets another chance

    def __init__(self, time_limit: float) -> None:
        self.time_limit = time_limit

    def read(self, **stored: Any) -> MeasuredCell:
        """Return a cell from its stored fields."""
        cell = MeasuredCell(**stored)
        if cell.time_limit is not None and cell.time_limit < self.time_limit:
            raise ValueError("There is more time now.")
        if bool(cell.measures) != (cell.outcome == "done"):
            raise ValueError("There are measures if and only if it was done.")
        return cell

    def stopped(self, error: Exception) -> MeasuredCell:
        """Return the cell of a method that took too long or crashed."""
        if isinstance(error, TimeoutError):
            return MeasuredCell.too_long(self.time_limit)
        return MeasuredCell.failed(error)


def over_seeds(measure: str, values: list[float]) -> float:
    """Return the mean; of times the median, as the first use of a method may compile code."""
    return float(median(values) if measure.endswith("_seconds") else fmean(values))


def why_unfinished(cells: Iterable[MeasuredCell]) -> str:
    """Return why some of a method's cells have no measures; empty if all have."""
    said = (f"{cell.outcome}: {cell.note}" for cell in cells if cell.outcome != "done")
    return "; ".join(dict.fromkeys(said))


def cells_csv(head: Iterable[str], results: Mapping[Any, MeasuredCell]) -> str:
    """Return one line per cell; `head` are the names of a job's parts."""
    names = list(dict.fromkeys(n for cell in results.values() for n in cell.measures))
    rows = (
        [*job, cell.outcome, *(cell.measures.get(name, "") for name in names), cell.note]
        for job, cell in results.items()
    )
    return csv_text([*head, "outcome", *names, "note"], rows)


def finite(scores: Floats) -> Floats:
    """Return scores; refuse those of which some are no numbers."""
    if not np.isfinite(scores).all():
        raise ValueError(f"{np.sum(~np.isfinite(scores))} scores are not finite.")
    return scores


def _short(text: str) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= _LONGEST_NOTE else line[: _LONGEST_NOTE - 1] + "…"
