"""One model from all parts of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from refold.columns.frames import check_enough
from refold.columns.table import Table
from refold.models.creased import CreasedREF
from refold.models.detector import Detector
from refold.models.parts import learner as _learner
from refold.models.parts.drawn import Header
from refold.models.parts.learner import CreasedLearner, DetectorLearner, Learner, RefLearner
from refold.models.ref import REF

Model = TypeVar("Model", REF, CreasedREF, Detector)

_LEARNERS: dict[type, type[Learner]] = {
    REF: RefLearner,
    CreasedREF: CreasedLearner,
    Detector: DetectorLearner,
}

# What is done with the rows of a part, and the place of the first of them; what comes of it has a
# `plus`.
Work = Callable[[Table, int], Any]


class TableParts(Protocol):
    """The parts of a table, wherever they are."""

    def added_up(self, work: Work) -> Any:
        """Do something with the rows of each part; return the sum, None if there are no parts."""


def check_learnable(model: object) -> type[Learner]:
    """Return what teaches a model; refuse what is none of refold's estimators."""
    for kind, learner in _LEARNERS.items():
        if isinstance(model, kind):
            return learner
    raise TypeError(
        f"A {type(model).__name__} cannot be learned here; Detector, CreasedREF and REF can."
    )


def learn_parts(model: Model, parts: TableParts, header: Header) -> Model:
    """Make the model that of all rows; if it fails, it stays as it was.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        The model to fit.
    parts : TableParts
        Gone over once or twice, with a context three times. The rows of a part are columns of
        numbers, unless the model is a Detector.
    header : Header
        What the columns are called.

    Returns
    -------
    REF, CreasedREF or Detector
        The model itself.
    """
    teach = check_learnable(model)
    with model._learning() as new:
        learner = teach(new, header)
        look = parts.added_up(learner.first)
        check_enough(0 if look is None else look.rows, None)
        if look.rows <= _learner.HELD_OUT:
            learner.fit(look.drawn.whole())
        else:
            held = learner.held_out(look.rows)
            if (sums := learner.context_sums(look, held)) is not None:
                learner.take_context(parts.added_up(sums))
            count = learner.frozen(look, held)
            counted = None if count is None else parts.added_up(count)
            learner.learn(look, held, counted)
    return model
