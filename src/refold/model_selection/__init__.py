"""Choosing hyperparameters when some outliers are known.

A one-class model learns from target rows alone; known outliers only help to choose between
settings. :class:`TargetOnly` makes scikit-learn's own splitters and searches do that,
:class:`ThresholdSearchCV` tries a whole grid of thresholds for one fit per fold.
"""

from refold.decisions.labelled import gmean_score, gmean_scorer
from refold.model_selection._target_only import TargetOnly
from refold.model_selection._threshold_search import ThresholdSearchCV

__all__ = ["TargetOnly", "ThresholdSearchCV", "gmean_score", "gmean_scorer"]
