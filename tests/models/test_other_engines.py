"""What is for the sketch alone is refused of models that have none."""

import numpy as np
import pytest

import refold
from refold import REF


def test_only_sketches_are_merged(rng):
    sketch, exact = (
        REF(engine=engine).fit(rng.normal(size=(50, 2))) for engine in ("sketch", "exact")
    )
    with pytest.raises(ValueError, match="Model 1 was learned by engine='exact'; only models of"):
        refold.merge(sketch, exact)


def test_a_model_without_a_sketch_has_no_such_attribute(rng):
    model = REF(engine="exact").fit(rng.normal(size=(50, 2)))
    assert not hasattr(model, "sketch_")
    with pytest.raises(AttributeError, match="Only a REF learned by engine='sketch'"):
        _ = model.sketch_
    assert np.isfinite(model.score_samples([[0.0, 0.0]])).all()
