"""Whether rows should be judged by what is normal for their group."""

from __future__ import annotations

import numpy as np

from refold._typing import Booleans
from refold.base.errors import UserError
from refold.base.findings import Finding
from refold.checks._table.table import CheckedTable
from refold.columns.table import Table
from refold.models.detector import Detector
from refold.models.detector.context_noticed import groups_matter


def notice_groups(table: CheckedTable) -> Finding | None:
    """Say that a category hides faults of numbers; a model is fitted only if it may."""
    rows = table.sample.parsed

    def outliers(faulty: Table) -> Booleans:
        model = Detector()
        model._quiet = True
        return np.asarray(model.fit(rows).predict(faulty) == -1)

    try:
        return groups_matter(rows, outliers)
    except UserError:  # nothing can be learned from it, which is said elsewhere
        return None
