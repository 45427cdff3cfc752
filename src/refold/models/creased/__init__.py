"""Folds along data-driven creases: REF for features that depend on each other."""

from refold.models.creased._accepted import relearned, with_accepted_rows
from refold.models.creased._creases import LARGEST, Creases, n_plain
from refold.models.creased._drawing import RankGauss
from refold.models.creased._estimator import CreasedREF
from refold.models.creased._known import TOLERANCE, weights_of_marks
from refold.models.creased._leverage import Leverage
from refold.models.creased._reasons import CreasedScorer, Reasons
from refold.models.creased._scoring import BEYOND_ZERO, Learned, Scoring, rescaled

__all__ = [
    "BEYOND_ZERO",
    "LARGEST",
    "TOLERANCE",
    "CreasedREF",
    "CreasedScorer",
    "Creases",
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
