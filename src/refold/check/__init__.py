"""What a detector would miss: how far a column must be off before a row is rejected.

>>> import numpy as np
>>> from refold import REF, limits
>>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(500, 2)))
>>> found = limits(model)
>>> found["x0"].up_50 < found["x0"].up_90
True
"""

from refold.check._limits import limits
from refold.check._result import Limit, Limits
from refold.check._rows import drawn

__all__ = ["Limit", "Limits", "drawn", "limits"]
