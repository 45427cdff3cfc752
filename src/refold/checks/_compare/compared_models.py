"""Two models as such: how they were asked for, what they learned from, what they promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from refold.base.results import plain_fields
from refold.base.words import percent, plural
from refold.judgement import Judge, asked_for, calibrated_on, parameters, training_rows

# No result depends on these.
_IDLE = frozenset({"n_jobs"})


@dataclass(frozen=True)
class ComparedModel:
    """One of two models."""

    asked_for: str  #: the estimator, with what is not as by default
    rows_learned: int  #: how many rows it has learned from
    threshold: float  #: rows up to this distance are normal
    alpha: float | None  #: the rate that the threshold was set for, if for one
    calibration: str  #: what its p-values are read from
    rejected: int  #: how many of the rows that both judge it rejects
    rejected_share: float | None  #: the same as a share; None if there are no such rows
    p_limit: float | None  #: rejected are p-values up to this; None if it is not calibrated

    @classmethod
    def of(cls, model: Any, judge: Judge, rejected: int, rows: int) -> ComparedModel:
        """Describe a fitted model that has rejected some of so many rows."""
        calibration, limit = judge.calibration, judge.alpha
        if calibration is not None and limit is None:
            limit = calibration.rejected(judge.threshold) / (calibration.total + 1.0)
        return cls(
            asked_for=asked_for(model),
            rows_learned=training_rows(model),
            threshold=judge.threshold,
            alpha=judge.alpha,
            calibration=calibrated_on(model),
            rejected=rejected,
            rejected_share=rejected / rows if rows else None,
            p_limit=None if calibration is None else limit,
        )

    def rate_text(self) -> str:
        """Say how many rows are outliers to it, beside what it was set for."""
        share = "none judged" if self.rejected_share is None else percent(self.rejected_share)
        wanted = "no rate was set" if self.alpha is None else f"set for {percent(self.alpha)}"
        return f"{plural(self.rejected, 'outlier')} ({share}; {wanted})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return plain_fields(self)


@dataclass(frozen=True)
class Difference:
    """Something in which the two models differ."""

    #: A parameter, or "model", "steps before", "rows learned", "alpha", "calibration", "limit"
    what: str
    old: str  #: old, new: what it is in each
    new: str

    def __str__(self) -> str:
        return f"{self.what} {self.old} → {self.new}"


def differences(
    models: tuple[Any, Any], described: tuple[ComparedModel, ComparedModel]
) -> tuple[Difference, ...]:
    """Return in what two models differ."""
    old, new = described
    pairs = [("steps before", *map(_steps, models))]
    if type(models[0]) is not type(models[1]):
        pairs.append(("model", old.asked_for, new.asked_for))
    else:
        before, after = (parameters(model) for model in models)
        pairs += [(name, before[name], after[name]) for name in before if name not in _IDLE]
    pairs.append(("rows learned", f"{old.rows_learned:,}", f"{new.rows_learned:,}"))
    if not any(what == "alpha" and a != b for what, a, b in pairs):
        pairs.append(("rate", _rate(old.alpha), _rate(new.alpha)))
    pairs.append(("calibration", old.calibration, new.calibration))
    return tuple(Difference(what, a, b) for what, a, b in pairs if a != b)


def _rate(alpha: float | None) -> str:
    return "none" if alpha is None else percent(alpha)


def _steps(model: Any) -> str:
    """Name the steps that rows go through before the model sees them."""
    steps = getattr(model, "steps_before", None)
    if steps is None:
        return "none"
    return ", ".join(type(step).__name__ for _, step in steps.pipeline.steps)
