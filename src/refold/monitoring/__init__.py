"""Whether new rows are still like those that a model was trained on.

>>> import numpy as np
>>> from refold import REF, drift
>>> rng = np.random.default_rng(0)
>>> model = REF().fit(rng.normal(size=(2000, 3)))
>>> model = model.calibrate(rng.normal(size=(2000, 3)), alpha=0.01)
>>> new = rng.normal(size=(2000, 3))
>>> drift(model, new).verdict
'same'
>>> new[:, 1] += 0.5
>>> drift(model, new).verdict
'changed'
"""

from refold.monitoring._change import StreamChange
from refold.monitoring._drift_result import VERDICTS, ColumnDrift, Drift, Verdict
from refold.monitoring._incident import Incident, Incidents
from refold.monitoring._monitor import DriftMonitor
from refold.monitoring._monitor import drift as drift
from refold.monitoring.incident_finder import incidents as incidents

__all__ = [
    "VERDICTS",
    "ColumnDrift",
    "Drift",
    "DriftMonitor",
    "Incident",
    "Incidents",
    "StreamChange",
    "Verdict",
]
