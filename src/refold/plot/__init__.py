"""Pictures of a model and its answers, by scikit-learn's convention for displays.

``from_estimator`` computes and draws, ``plot(ax=…)`` draws again; nothing is ever shown unasked.
They need matplotlib: ``pip install 'refold[plot]'``.
"""

from refold.plot._comparison import ComparisonDisplay, comparison
from refold.plot._contributions import ContributionsDisplay
from refold.plot._distances import DistancesDisplay
from refold.plot._fold_map import FoldMapDisplay
from refold.plot._levels import LevelsDisplay
from refold.plot._limits import LimitsDisplay
from refold.plot._regions import RegionsDisplay

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
