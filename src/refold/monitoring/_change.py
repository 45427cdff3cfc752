"""Whether a stream has changed: a question that may be asked after every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.base.results import plain_fields
from refold.base.words import p_text
from refold.decisions.intervals import interval_of_rate
from refold.judgement import Judge, Judgement
from refold.monitoring._drift_counts import Baseline
from refold.monitoring._martingale import BLOCK, ConformalMartingale


@dataclass(frozen=True)
class StreamChange:
    """What a stream has shown so far.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.monitoring import DriftMonitor
    >>> rng = np.random.default_rng(0)
    >>> model = REF(alpha=0.01).fit(rng.normal(size=(1000, 2)))
    >>> monitor = DriftMonitor(model).update(rng.normal(size=(500, 2)))
    >>> monitor.change().changed
    False
    >>> monitor.update(rng.normal([0.0, 0.7], 1.0, size=(200, 2))).change().column
    'x1'
    """

    rows: int  #: how many rows have come
    #: The largest evidence of a change so far, the capital of a fair bet that began with 1
    e_value: float
    #: 1 / e_value: however often one looks, it falls below alpha with probability alpha at most as
    #: long as nothing changes
    p_value: float
    changed: bool  #: whether it is at most the alpha of the monitor
    column: str | None  #: the column with most evidence; None if it is the distance of rows
    outliers: int  #: how many of the rows are outliers
    #: Where the share of outliers lies, at 95 %, if it is looked at once
    interval: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return plain_fields(self)

    def __str__(self) -> str:
        what = "the distances of rows" if self.column is None else f"column {self.column!r}"
        if self.changed:
            return f"The stream has changed ({p_text(self.p_value)}), most in {what}."
        return f"No change is proven in {self.rows:,} rows ({p_text(self.p_value)})."


class ChangeTest:
    """A martingale for the distance and one for each column of numbers; their mean is one too."""

    def __init__(self, judge: Judge, training: Baseline) -> None:
        self.streams: dict[str | None, ConformalMartingale] = {}
        if judge.calibration is not None:
            known = judge.calibration
            self.streams[None] = ConformalMartingale(known.scores, known.weights)
        if training.summary is not None:
            quantiles = training.summary.quantiles
            for place, k in enumerate(training.numeric):
                values, counts = np.unique(quantiles[:, place], return_counts=True)
                rows = training.rows - training.states[k, 1:].sum()
                if rows > 0 and np.isfinite(values).all():
                    shares = counts * (rows / counts.sum())
                    self.streams[training.names[k]] = ConformalMartingale(values, shares)
        self.rows = self.outliers = 0
        self.place = 0  # in the block of its own rows
        self.sources = 1  # streams that were merged
        self.log_e_value = 0.0  # of the source that has most
        self.column: str | None = None

    def update(self, found: Judgement) -> None:
        """Look at more rows, in their order."""
        values: dict[str | None, Floats] = {None: found.distances}
        for place, k in enumerate(found.judge.numeric):
            values[found.names[k]] = found.numbers[:, place]
        begin = 0
        while begin < len(found):
            end = min(begin + BLOCK - self.place, len(found))
            for name, stream in self.streams.items():
                stream.update(np.asarray(values[name][begin:end], dtype=np.float64))
            self.rows += end - begin
            self.place = (self.place + end - begin) % BLOCK
            begin = end
            self._weigh()
        self.outliers += int(found.outlier.sum())

    def _weigh(self) -> None:
        capital = np.array([stream.log_capital for stream in self.streams.values()])
        mean = float(np.logaddexp.reduce(capital) - np.log(len(capital))) if len(capital) else 0.0
        if mean > self.log_e_value:
            self.log_e_value = mean
            self.column = list(self.streams)[int(capital.argmax())]

    def merge(self, other: ChangeTest) -> None:
        """Take over what another stream has shown; rows to come are of this one.

        The mean of the capitals of several streams is a martingale, too, and is never less than
        the largest of them divided by their number. That is what is kept.
        """
        if other.log_e_value > self.log_e_value:
            self.log_e_value, self.column = other.log_e_value, other.column
        self.sources += other.sources
        self.rows += other.rows
        self.outliers += other.outliers

    def result(self, alpha: float) -> StreamChange:
        """Return what the rows so far have shown."""
        log_e = max(self.log_e_value - float(np.log(self.sources)), 0.0)
        p_value = float(np.exp(-log_e))
        return StreamChange(
            rows=self.rows,
            e_value=float(np.exp(min(log_e, 700.0))),
            p_value=p_value,
            changed=p_value <= alpha,
            column=self.column,
            outliers=self.outliers,
            interval=interval_of_rate(self.outliers, self.rows) if self.rows else (0.0, 1.0),
        )
