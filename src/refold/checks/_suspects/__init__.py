"""Training rows that look least like the rest.

From below: `_judged` (a table and the model that judges it), `_rest` and `_trusted` (what its rows
are compared with), `_results`, `_suspects`.
"""

from refold.checks._suspects._results import Suspect, Suspects
from refold.checks._suspects._suspects import suspects

__all__ = ["Suspect", "Suspects", "suspects"]
