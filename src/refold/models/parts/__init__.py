"""One model from a table that lies in many parts, wherever these are.

Rows are told apart by their place in the whole table, so the model does not depend on how that is
divided. From below: `drawn` (rows drawn by place), `passes` (the two passes over the parts),
`learner` (what each estimator makes of them), `learn` (all of it in order). Who has the
parts goes over them and adds up: `refold.scale`.
"""

from refold.models.parts.drawn import DrawnRows, Header, number_columns
from refold.models.parts.learn import TableParts, Work, check_learnable, learn_parts
from refold.models.parts.passes import FirstPass, PassResult, PiecewisePass

__all__ = [
    "DrawnRows",
    "FirstPass",
    "Header",
    "PassResult",
    "PiecewisePass",
    "TableParts",
    "Work",
    "check_learnable",
    "learn_parts",
    "number_columns",
]
