"""Some of the rows as two models see them: what a picture shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from refold._typing import Booleans, Floats
from refold.judgement import Judge, Judgement

# Of rows that change, and of those that do not, so many are drawn.
_MOST = 1000
_SMALLEST = 1e-6  # of the limit: a logarithmic axis has no 0


@dataclass(frozen=True, eq=False)
class ScatterSample:
    """Rows drawn at random, up to 1,000 that change and 1,000 that do not.

    Attributes
    ----------
    of : {"p-value", "distance"}
        What is compared: p-values, or, unless both models are calibrated, distances as multiples of
        the limit.
    values : ndarray of shape (n, 2)
        What old and new say of each row.
    changed : ndarray of shape (n,)
        Which rows change their verdict.
    keys : ndarray of shape (n,)
        Random numbers; the smallest stay.

    Examples
    --------
    >>> import numpy as np
    >>> import refold
    >>> rows = np.random.default_rng(0).normal(size=(400, 2))
    >>> old, new = refold.REF(alpha=0.02).fit(rows), refold.REF(alpha=0.02).fit(rows * [1.0, 25.4])
    >>> found = refold.compare(old, new, rows)
    >>> found.scatter.of, found.scatter.values.shape
    ('p-value', (400, 2))
    """

    of: Literal["p-value", "distance"]
    values: Floats
    changed: Booleans
    keys: Floats

    @classmethod
    def nothing(cls, judges: tuple[Judge, Judge]) -> ScatterSample:
        """Begin without rows."""
        calibrated = all(judge.calibration is not None for judge in judges)
        return cls(
            "p-value" if calibrated else "distance",
            np.empty((0, 2)),
            np.empty(0, dtype=np.bool_),
            np.empty(0),
        )

    def __len__(self) -> int:
        return len(self.values)

    def with_rows(self, old: Judgement, new: Judgement, both: Booleans) -> ScatterSample:
        """Draw from more rows, those that both models judge."""
        # Seeded by what is there already: the same blocks give the same picture.
        rng = np.random.default_rng(len(self))
        values = np.column_stack([self._of(old), self._of(new)])[both]
        joined = replace(
            self,
            values=np.concatenate([self.values, values]),
            changed=np.concatenate([self.changed, (old.outlier != new.outlier)[both]]),
            keys=np.concatenate([self.keys, rng.random(len(values))]),
        )
        return joined._drawn()

    def _of(self, found: Judgement) -> Floats:
        if self.of == "p-value":
            assert found.p_values is not None
            return found.p_values
        limit = found.judge.threshold or 1.0
        return np.maximum(found.distances / limit, _SMALLEST)

    def _drawn(self) -> ScatterSample:
        chosen = np.sort(
            np.concatenate(
                [
                    rows[np.argsort(self.keys[rows], kind="stable")[:_MOST]]
                    for rows in (np.flatnonzero(self.changed), np.flatnonzero(~self.changed))
                ]
            )
        )
        return replace(
            self, values=self.values[chosen], changed=self.changed[chosen], keys=self.keys[chosen]
        )
