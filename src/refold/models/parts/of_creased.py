"""CreasedREF from a table in parts: creases from rows drawn of all, then sums over all."""

from __future__ import annotations

from refold._typing import Floats
from refold.models.creased import CreasedREF
from refold.models.creased._state import TrainingState
from refold.models.parts.counting import CreasedCount
from refold.models.parts.drawn import HeldOut, matrix
from refold.models.parts.learner import NumberLearner, held_out, observed
from refold.models.parts.look import Look


class CreasedLearner(NumberLearner):
    """Teaches CreasedREF."""

    model: CreasedREF

    @property
    def alpha(self) -> float:
        """The parameter."""
        return float(self.model.alpha)

    @property
    def n_init(self) -> int:
        """The parameter."""
        return int(self.model.n_init)

    def frozen(self, look: Look, held: int) -> CreasedCount:
        """Make the creases."""
        _, first, _ = look.drawn.divided(held, self.n_init)
        return creased_count(self.model, matrix(first), look.drawn.held_out(held))

    def learn(self, look: Look, held: int, counted: TrainingState) -> None:
        """Learn from the sums."""
        model, (out, _) = self.model, look.drawn.divided(held)
        model._learn(counted)
        distances = model.scoring_.distances(observed(matrix(out)), model.n_jobs)
        model._decide_by(held_out(distances), self.alpha)
        model._notice([*model._absurd_cells(), *self._of_threshold()])


def creased_count(model: CreasedREF, first: Floats, held: HeldOut) -> CreasedCount:
    """Make creases from rows; return what adds up all rows by them."""
    nothing = TrainingState.nothing(model._recipe(), first.shape[1])
    return CreasedCount(nothing.plus_rows(first, None, last=True).emptied(), held)
