"""Pictures of a model and its answers, by scikit-learn's convention for displays.

``from_estimator`` computes and draws, ``plot(ax=…)`` draws again; nothing is ever shown unasked.
They need matplotlib: ``pip install 'refold[plot]'``.
"""

from refold.plot._check_plots import ComparisonDisplay, LimitsDisplay, comparison
from refold.plot._folding import FoldMapDisplay, LevelsDisplay
from refold.plot._row_plots import ContributionsDisplay, DistancesDisplay, RegionsDisplay

__all__ = [
    "ComparisonDisplay",
    "ContributionsDisplay",
    "DistancesDisplay",
    "FoldMapDisplay",
    "LevelsDisplay",
    "LimitsDisplay",
    "RegionsDisplay",
    "comparison",
]
