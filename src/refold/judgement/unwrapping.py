"""Pipelines as models; what takes them apart is imported when the first one comes."""

from __future__ import annotations

import sys
from typing import Any


def unwrapped(model: Any) -> Any:
    """Return a model that takes what a pipeline takes, and speaks of it in the pipeline's words.

    Every room that is handed a model calls this first; :meth:`Judgement.of` then lets rows go
    through the steps. One of refold's models is returned as it is, of a fitted ``Pipeline`` that
    ends in one a copy of its last step. Its features have the names of the columns that they come
    from where the steps say so (``island = 'Dream'`` after one-hot encoding), and are in these
    columns' units where the steps only scale.

    >>> import numpy as np, pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from refold import REF
    >>> table = pd.DataFrame({"heat": np.linspace(60.0, 80.0, 21), "flow": [3.0, 4.0, 5.0] * 7})
    >>> model = unwrapped(make_pipeline(StandardScaler(), REF()).fit(table))
    >>> list(model.feature_names_in_), model.summary_.high
    (['heat', 'flow'], array([80.,  5.]))
    """
    known = sys.modules.get("sklearn.pipeline")  # whoever has a pipeline has imported it
    if known is None or not isinstance(model, known.Pipeline):
        return model
    from refold.judgement.pipelines import taken_apart

    return taken_apart(model)
