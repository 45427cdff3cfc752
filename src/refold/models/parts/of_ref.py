"""REF from a table in parts: one pass, for a histogram of each column is all that it needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from refold._typing import Floats
from refold.algorithm.engines.sketch import Sketch
from refold.models.learned import FromSketch
from refold.models.parts.drawn import matrix
from refold.models.parts.learner import NumberLearner, held_out, observed
from refold.models.parts.look import FirstLook, Look
from refold.models.ref import REF


class RefLearner(NumberLearner):
    """Teaches REF."""

    model: REF

    @property
    def alpha(self) -> float | None:
        """The parameter."""
        return self.model.alpha

    @property
    def first(self) -> FirstLook:
        """What is done with each part: rows that may not be held out are sketched at once."""
        return replace(super().first, n_bins=self.model.n_bins, apart=self.alpha is not None)

    def frozen(self, look: Look, held: int) -> None:
        """Return that all is counted."""

    def learn(self, look: Look, held: int, counted: None) -> None:
        """Learn from the sketch."""
        out, others = look.drawn.divided(held)
        learn_sketch(self.model, look.sketch_with(others), matrix(out))
        self.model._notice(self._of_threshold())

    def _check(self) -> None:
        if self.model.engine not in ("auto", "sketch"):
            raise ValueError(
                f"The model has engine={self.model.engine!r}, which needs all rows in memory; "
                "parts of a table are learned by 'sketch', or 'auto'."
            )
        self.model._check_engine("sketch")
        self.model._check_decision()


def learn_sketch(model: REF, sketch: Sketch, out: Floats) -> None:
    """Make a model that of the rows of a sketch; rows that are not in it set the threshold."""
    model._settle(sketch.weight)
    model._learned = FromSketch(sketch, model._recipe())
    model._learned.chain  # noqa: B018  # now, so that what is wrong with the rows is said
    model.engine_, model.dropped_ = "sketch", np.empty(0, dtype=np.int64)
    model._decide_at(model.threshold)
    if model.alpha is not None:
        model._decide_by(held_out(model.scorer().distances(observed(out))), float(model.alpha))
