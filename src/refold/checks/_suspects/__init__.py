"""Training rows that look least like the rest.

From below: `_compared` (rows and what they are compared with), `_results`, `_suspects`.
"""

from refold.checks._suspects.results import Suspects
from refold.checks._suspects.suspects import suspects

__all__ = ["Suspects", "suspects"]
