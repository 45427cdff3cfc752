"""Whether new rows are still like those that a model was trained on.

>>> import numpy as np
>>> from refold import REF, drift
>>> rng = np.random.default_rng(0)
>>> model = REF().fit(rng.normal(size=(2000, 3)))
>>> model = model.calibrate(rng.normal(size=(2000, 3)), alpha=0.01)
>>> new = rng.normal(size=(2000, 3))
>>> drift.compare(model, new).verdict
'same'
>>> new[:, 1] += 0.5
>>> drift.compare(model, new).verdict
'changed'
"""

from refold.drift._monitor import DriftMonitor, compare
from refold.drift._result import VERDICTS, Drift, FeatureDrift, Share, Verdict

__all__ = ["VERDICTS", "Drift", "DriftMonitor", "FeatureDrift", "Share", "Verdict", "compare"]
