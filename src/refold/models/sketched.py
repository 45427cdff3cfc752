"""REF learned from a sketch that was made elsewhere: of a file, on a cluster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from refold.algorithm.engines.sketch import Sketch
from refold.models.learned import FromSketch
from refold.models.ref import REF


def check_sketching(model: REF) -> None:
    """Refuse a model that cannot be learned from parts of a table."""
    if model.engine != "sketch":
        raise ValueError(
            f"The model has engine={model.engine!r}; parts of a table can be added up only by "
            "REF(engine='sketch')."
        )
    model._validate_params()
    model._check_engine("sketch")
    model._check_without_alpha()


def fit_sketch(model: REF, sketch: Sketch, names: Sequence[str] | None) -> REF:
    """Make the model what ``fit`` on the sketched rows would; if it fails, leave it as it was."""
    with model._learning() as new:
        new.n_features_in_ = len(sketch.histograms)
        new.__dict__.pop("feature_names_in_", None)
        if names is not None:
            new.feature_names_in_ = np.array(names, dtype=object)
        new._settle(sketch.weight)
        new.noticed_ = ()  # rows are gone
        new._learned = FromSketch(sketch, new._recipe())
        new._learned.chain  # noqa: B018  # now, so that what is wrong with the rows is said
        new.engine_ = "sketch"
        new._decide_at(new.threshold)
    return model
