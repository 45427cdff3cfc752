"""Folds along data-driven creases: REF for features that depend on each other."""

from refold.models.creased._estimator import CreasedREF
from refold.models.creased._reasons import Reasons
from refold.models.creased._scorer import CreasedScorer

__all__ = ["CreasedREF", "CreasedScorer", "Reasons"]
