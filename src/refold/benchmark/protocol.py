"""What is done for one cell: one data set, method and seed."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from time import process_time
from typing import Literal

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

from refold._typing import Booleans, Floats
from refold.benchmark.data import Dataset, Division, divide
from refold.benchmark.methods import Method
from refold.model_selection import gmean_score

Outcome = Literal["done", "failed", "too long"]

# Of these higher is better, and methods are ranked by them.
RANKED = ("auroc", "auprc", "gmean")
MEASURES = (*RANKED, "false_alarms", "fit_seconds", "score_seconds")

_LONGEST_NOTE = 300


@dataclass(frozen=True)
class Cell:
    """What came of one cell.

    Parameters
    ----------
    outcome : {"done", "failed", "too long"}
        Whether there are measures.
    measures : dict of str to float
        Each of :data:`MEASURES`: fractions of 1, and seconds of processor time; empty unless done.
    note : str
        The error, or what the method warned of.
    time_limit : float or None
        The seconds after which it was stopped, if it was.
    """

    outcome: Outcome
    measures: dict[str, float]
    note: str = ""
    time_limit: float | None = None

    @classmethod
    def failed(cls, error: BaseException) -> Cell:
        """Return the cell of a method that raised an error."""
        return cls("failed", {}, _short(f"{type(error).__name__}: {error}"))

    @classmethod
    def too_long(cls, limit: float) -> Cell:
        """Return the cell of a method that was stopped."""
        return cls("too long", {}, f"stopped after {limit:g} s", limit)


def run_cell(method: Method, dataset: Dataset, seed: int) -> Cell:
    """Learn from normal rows, judge the others, and measure.

    Parameters
    ----------
    method : Method
        Whatever error it raises becomes the cell's outcome.
    dataset : Dataset
        Divided here, by the seed.
    seed : int
        Also that of the method's own draws.

    Returns
    -------
    Cell
    """
    rows = divide(dataset, seed)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            measures = _measured(method, rows, seed)
        except Exception as error:
            return Cell.failed(error)
    note = "; ".join(dict.fromkeys(_short(str(warning.message)) for warning in said))
    return Cell("done", measures, _short(note))


def measure(is_anomaly: Booleans, scores: Floats, rejected: Booleans) -> dict[str, float]:
    """Return how well anomalies were told apart, and the share of normal rows that was rejected.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.benchmark.protocol import measure
    >>> scores = np.array([1.0, 3.0, 2.0, 4.0])
    >>> measured = measure(np.array([False, False, True, True]), scores, scores > 2.5)
    >>> {name: round(value, 3) for name, value in measured.items()}
    {'auroc': 0.75, 'auprc': 0.833, 'gmean': 0.5, 'false_alarms': 0.5}
    """
    return {
        "auroc": float(roc_auc_score(is_anomaly, scores)),
        "auprc": float(average_precision_score(is_anomaly, scores)),
        "gmean": gmean_score(np.where(is_anomaly, -1, 1), np.where(rejected, -1, 1)),
        "false_alarms": float(rejected[~is_anomaly].mean()),
    }


def _measured(method: Method, rows: Division, seed: int) -> dict[str, float]:
    model = method.make(seed)
    started = process_time()
    scaler = None if method.standardizes else StandardScaler().fit(rows.train)
    model.fit(rows.train if scaler is None else scaler.transform(rows.train))
    fitted = process_time()
    test = rows.test if scaler is None else scaler.transform(rows.test)
    scores = np.asarray(method.conventions.score(model, test))
    scored = process_time()
    if not np.isfinite(scores).all():
        raise ValueError(f"{np.sum(~np.isfinite(scores))} scores are not finite.")
    rejected = method.conventions.reject(model, test, scores)
    seconds = {"fit_seconds": fitted - started, "score_seconds": scored - fitted}
    return measure(rows.is_anomaly, scores, rejected) | seconds


def _short(text: str) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= _LONGEST_NOTE else line[: _LONGEST_NOTE - 1] + "…"
