"""How far learning has come: a share that only grows, up to 1."""

import numpy as np
import pandas as pd
import pytest

from refold import REF, CreasedREF, Detector
from refold.base.progress import watched

MAKES = {
    "creased": lambda: CreasedREF(n_creases=16),
    "few rows": lambda: CreasedREF(n_creases=8),
    "Detector": lambda: Detector(),
    "Detector, ref": lambda: Detector(method="ref"),
    "Detector, trimmed": lambda: Detector(trim=0.1),
    "Detector by": lambda: Detector(method="ref", by="kind"),
    "REF": lambda: REF(alpha=0.05),
}


@pytest.mark.parametrize("name", MAKES)
def test_the_share_of_learning_only_grows_up_to_all(name, rng):
    rows = 60 if name == "few rows" else 300
    table = pd.DataFrame(rng.normal(size=(rows, 3)), columns=list("abc"))
    if name.startswith("Detector"):
        table["kind"] = rng.choice(["x", "y"], rows)
    seen = []
    with watched(seen.append):
        MAKES[name]().fit(table)
    assert (np.diff(seen) >= 0.0).all()
    assert all(0.0 <= share <= 1.0 for share in seen)
    assert min(seen, default=0.0) < 0.5
