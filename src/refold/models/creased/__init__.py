"""Folds along data-driven creases: REF for features that depend on each other."""

from refold.models.creased._batches import fit_batches
from refold.models.creased._creases import LARGEST, Creases
from refold.models.creased._estimator import CreasedREF
from refold.models.creased._leverage import Leverage
from refold.models.creased._reasons import Reasons
from refold.models.creased._scorer import CreasedScorer

__all__ = [
    "LARGEST",
    "CreasedREF",
    "CreasedScorer",
    "Creases",
    "Leverage",
    "Reasons",
    "fit_batches",
]
