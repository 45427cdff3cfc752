"""What to notice about a table, what a detector would miss, what a new one would change.

>>> import numpy as np
>>> from refold import REF, limits
>>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(500, 2)))
>>> found = limits(model)
>>> found["x0"].up_50 < found["x0"].up_90
True
"""

from refold.checks._changes import CellChange
from refold.checks._compare import compare
from refold.checks._compare.columns import ColumnAsLearned, ComparedColumn
from refold.checks._compare.counting import Comparer
from refold.checks._compare.models import ComparedModel, Difference
from refold.checks._compare.result import Comparison
from refold.checks._compare.rows import ChangedRow, ChangeReason, Opinion, ScatterSample
from refold.checks._compare.units import UnitChange
from refold.checks._learned_rules import learned_rules
from refold.checks._limits import limits
from refold.checks._result import Limit, Limits
from refold.checks._rows import drawn
from refold.checks._rules_result import LearnedRule, LearnedRules
from refold.checks._suspects import Suspect, Suspects, suspects
from refold.checks._table import LIMIT, Findings, check

__all__ = [
    "LIMIT",
    "CellChange",
    "ChangeReason",
    "ChangedRow",
    "ColumnAsLearned",
    "ComparedColumn",
    "ComparedModel",
    "Comparer",
    "Comparison",
    "Difference",
    "Findings",
    "LearnedRule",
    "LearnedRules",
    "Limit",
    "Limits",
    "Opinion",
    "ScatterSample",
    "Suspect",
    "Suspects",
    "UnitChange",
    "check",
    "compare",
    "drawn",
    "learned_rules",
    "limits",
    "suspects",
]
