"""CreasedREF from a table that comes in batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.base import clone

from refold.base.learning import learning
from refold.models.creased._estimator import CreasedREF


def fit_batches(model: CreasedREF, batches: Iterable[Any]) -> CreasedREF:
    """Make the model what ``partial_fit`` on all batches makes of a new one.

    If it fails, the model stays as it was.
    """
    fresh: CreasedREF = clone(model)
    for batch in batches:
        fresh.partial_fit(batch)
    _ = fresh.scoring_  # now: what is wrong with the rows is said here
    with learning(model) as learned:
        learned.__dict__ = dict(vars(fresh))
    return model
