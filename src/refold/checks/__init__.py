"""What to notice about a table, what a detector would miss, what a new one would change.

>>> import numpy as np
>>> from refold import REF, limits
>>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(500, 2)))
>>> found = limits(model)
>>> found["x0"].up_50 < found["x0"].up_90
True
"""

from refold.checks._compare import compare
from refold.checks._compare.changed_rows import ScatterSample as ScatterSample
from refold.checks._compare.comparison_result import Comparison
from refold.checks._compare.counting import Comparer as Comparer
from refold.checks._learned_rules import learned_rules
from refold.checks._limits import limits
from refold.checks._limits_result import Limit as Limit
from refold.checks._limits_result import Limits
from refold.checks._normal_rows import draw_rows as draw_rows
from refold.checks._rules_result import LearnedRules
from refold.checks._suspects import Suspects, suspects
from refold.checks._table import LIMIT, Findings, check

__all__ = [
    "LIMIT",
    "Comparison",
    "Findings",
    "LearnedRules",
    "Limits",
    "Suspects",
    "check",
    "compare",
    "learned_rules",
    "limits",
    "suspects",
]
