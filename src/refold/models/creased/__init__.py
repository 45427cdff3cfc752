"""Folds along data-driven creases: REF for features that depend on each other."""

from refold.models.creased.accepted import relearned, with_accepted_rows
from refold.models.creased.creases import LARGEST, Creases, n_plain
from refold.models.creased.drawing import Expected, RankGauss
from refold.models.creased.estimator import CreasedREF
from refold.models.creased.known import TOLERANCE, weights_of_marks
from refold.models.creased.leverage import Leverage
from refold.models.creased.reasons import CreasedScorer, Reasons
from refold.models.creased.scoring import BEYOND_ZERO, Learned, Scoring, rescaled

__all__ = [
    "BEYOND_ZERO",
    "LARGEST",
    "TOLERANCE",
    "CreasedREF",
    "CreasedScorer",
    "Creases",
    "Expected",
    "Learned",
    "Leverage",
    "RankGauss",
    "Reasons",
    "Scoring",
    "n_plain",
    "relearned",
    "rescaled",
    "weights_of_marks",
    "with_accepted_rows",
]
