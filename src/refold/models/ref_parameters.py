"""Parameters of REF that exclude each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refold.models.ref import REF


def check_decision(model: REF) -> None:
    """Refuse a rate and a threshold at a time."""
    if model.alpha is not None and model.threshold != 1.0:
        raise ValueError(
            f"alpha={model.alpha!r} and threshold={model.threshold!r} contradict each other: "
            "alpha sets the threshold itself. Give one of them."
        )


def check_without_alpha(model: REF) -> None:
    """Refuse to learn from parts at a rate: histograms do not tell the distances of rows."""
    if model.alpha is not None:
        raise ValueError(
            f"alpha={model.alpha!r} needs all rows in one fit: what is kept of parts of a table "
            "does not tell the distances of their rows. Set alpha=None, and when all is "
            f"learned call calibrate(X_cal, alpha={model.alpha!r}) with normal rows that were "
            "not learned."
        )


def check_engine(model: REF, engine: str) -> None:
    """Refuse what an engine cannot do."""
    if model.max_gain is None and engine != "reference":
        raise ValueError(
            "max_gain=None, never stop folding, is for engine='reference' alone; "
            f"engine={model.engine!r} needs a number, for example the default 1e6."
        )
    if callable(model.fold) and engine != "reference":
        raise ValueError(
            f"engine={engine!r} has the named folds only; a callable needs 'reference'."
        )
