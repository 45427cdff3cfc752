"""Rows whose verdict changes, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from refold._typing import Booleans, Floats
from refold.base.results import plain
from refold.base.words import number, p_text, printable
from refold.explanation import Reason, times_limit
from refold.judgement import Judge, Judgement
from refold.judgement.number_text import ranges_text

# Of rows that change, and of those that do not, so many are drawn.
_MOST = 1000
_SMALLEST = 1e-6  # of the limit: a logarithmic axis has no 0


@dataclass(frozen=True, eq=False)
class ScatterSample:
    """Rows drawn at random, up to 1,000 that change and 1,000 that do not."""

    #: What is compared: p-values, or, unless both models are calibrated, distances as multiples of
    #: the limit
    of: Literal["p-value", "distance"]
    values: Floats  #: what old and new say of each row
    changed: Booleans  #: which rows change their verdict
    keys: Floats  #: random numbers; the smallest stay

    @classmethod
    def nothing(cls, judges: tuple[Judge, Judge]) -> ScatterSample:
        """Begin without rows."""
        calibrated = all(judge.calibration is not None for judge in judges)
        return cls(
            "p-value" if calibrated else "distance",
            np.empty((0, 2)),
            np.empty(0, dtype=np.bool_),
            np.empty(0),
        )

    def __len__(self) -> int:
        return len(self.values)

    def with_rows(self, old: Judgement, new: Judgement, both: Booleans) -> ScatterSample:
        """Draw from more rows, those that both models judge."""
        # Seeded by what is there already: the same blocks give the same picture.
        rng = np.random.default_rng(len(self))
        values = np.column_stack([self._of(old), self._of(new)])[both]
        joined = replace(
            self,
            values=np.concatenate([self.values, values]),
            changed=np.concatenate([self.changed, (old.outlier != new.outlier)[both]]),
            keys=np.concatenate([self.keys, rng.random(len(values))]),
        )
        return joined._drawn()

    def _of(self, found: Judgement) -> Floats:
        if self.of == "p-value":
            assert found.p_values is not None
            return found.p_values
        limit = found.judge.threshold or 1.0
        return np.maximum(found.distances / limit, _SMALLEST)

    def _drawn(self) -> ScatterSample:
        chosen = np.sort(
            np.concatenate(
                [
                    rows[np.argsort(self.keys[rows], kind="stable")[:_MOST]]
                    for rows in (np.flatnonzero(self.changed), np.flatnonzero(~self.changed))
                ]
            )
        )
        return replace(
            self, values=self.values[chosen], changed=self.changed[chosen], keys=self.keys[chosen]
        )


Verdict = Literal["normal", "outlier"]


@dataclass(frozen=True)
class RowVerdict:
    """What one model says of a row."""

    #: distance, threshold: the row is normal if the distance is at most the threshold
    distance: float
    threshold: float
    #: How rare such a distance is among normal rows; None if the model is not calibrated
    p_value: float | None

    @property
    def times(self) -> float:
        """The distance as a multiple of the threshold."""
        if self.threshold > 0.0:
            return self.distance / self.threshold
        return math.inf if self.distance > 0.0 else 0.0

    @property
    def verdict(self) -> Verdict:
        """What becomes of the row."""
        return "outlier" if self.distance > self.threshold else "normal"

    def __str__(self) -> str:
        rare = "" if self.p_value is None else f", {p_text(self.p_value)}"
        return f"{times_limit(self.distance, self.threshold)}{rare}"


@dataclass(frozen=True)
class ChangeReason:
    """One column's part in a change."""

    reason: Reason  #: what the model says that rejects the row
    other: Reason | None  #: what the other one says of the same column; None if it does not have it

    @property
    def feature(self) -> str:
        """The column."""
        return self.reason.feature

    def other_text(self) -> str:
        """Say what the other model makes of the value, in a few words."""
        other = self.other
        if other is None:
            return "does not have this column"
        said = [f"{100 * other.share:.0f} % of the distance"]
        if other.words:
            said.append(other.words)
        if other.expected is not None:
            said.append(f"expected {number(other.expected)}")
        if other.normal:
            said.append(f"normal {ranges_text(other.normal)}")
        return ", ".join(said)


@dataclass(frozen=True)
class ChangedRow:
    """A row of which the two models say different things."""

    row: int  #: its number, from 0 (on the command line from 1)
    old: RowVerdict  #: old, new: what each says
    new: RowVerdict
    #: Why the one that rejects it does, the most important first, beside what the other says
    reasons: tuple[ChangeReason, ...]

    @property
    def now(self) -> Verdict:
        """What the row becomes with the new model."""
        return self.new.verdict

    def because(self) -> str:
        """Return the first reason; nothing if there is none."""
        return str(self.reasons[0].reason) if self.reasons else ""

    def text(self) -> str:
        """Return what a person reads: both opinions, then the reasons, a line each."""
        rejects, accepts = ("new", "old") if self.now == "outlier" else ("old", "new")
        lines = [
            f"row {self.row}: {self.old.verdict} → {self.new.verdict}; "
            f"old {self.old}; new {self.new}"
        ]
        for because in self.reasons:
            lines.append(f"  {rejects}: {because.reason}")
            lines.append(f"  {accepts}: {printable(because.feature)}: {because.other_text()}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "row": self.row,
            "now": self.now,
            "old": plain(self.old),
            "new": plain(self.new),
            "reasons": [
                {
                    "feature": because.feature,
                    "value": None if because.reason.missing else because.reason.value,
                    "share": because.reason.share,
                    "text": str(because.reason),
                    "other_share": None if because.other is None else because.other.share,
                    "other_text": because.other_text(),
                }
                for because in self.reasons
            ],
        }
