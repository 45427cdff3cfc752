"""A row is judged here, once, for everybody.

>>> import numpy as np
>>> from refold import REF
>>> from refold.judgement import Judgement
>>> model = REF().fit(np.random.default_rng(0).normal(size=(500, 2)))
>>> found = Judgement.of(model, [[0.1, 0.2], [9.0, 0.1], [np.nan, np.nan]])
>>> found.labels  # the last row has no value: it is not judged
array([ 1, -1,  0], dtype=int8)
>>> found.names[found.attribution().parts[1].argmax()]
'x0'
"""

from refold.judgement.answer_columns import answer_names, answer_types, answers
from refold.judgement.facts import asked_for, calibrated_on, parameters, training_rows
from refold.judgement.judgement import LEAST_SHARE, Judge, Judgement, WorstRows
from refold.judgement.unwrapping import unwrapped

__all__ = [
    "LEAST_SHARE",
    "Judge",
    "Judgement",
    "WorstRows",
    "answer_names",
    "answer_types",
    "answers",
    "asked_for",
    "calibrated_on",
    "parameters",
    "training_rows",
    "unwrapped",
]
