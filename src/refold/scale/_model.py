"""The model on either side of a distributed run: what goes in, what comes out, what travels."""

from __future__ import annotations

from refold.models.detector import Detector
from refold.models.ref import REF
from refold.models.sketched import check_sketching


def sketching(model: REF | None) -> REF:
    """Return the model to learn, by default a new one; refuse one that cannot be learned so."""
    if model is None:
        return REF(engine="sketch")
    if isinstance(model, Detector):
        raise TypeError(
            "A Detector cannot be learned here; REF(engine='sketch') can. A Detector learns a "
            "table of any size part by part: call its partial_fit with one dataframe or Arrow "
            "batch after the other. Once it has learned, it can score tables here."
        )
    if not isinstance(model, REF):
        raise TypeError(
            f"A {type(model).__name__} cannot be learned here; REF(engine='sketch') can. A "
            "CreasedREF is learned from files by fit_parquet and its like, or by its partial_fit."
        )
    check_sketching(model)
    return model
