"""FoldChain: what REF learns, as numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.algorithm import kernels
from refold.base.once import fields_only, once

# How much a rounding error in a training row may be amplified, unless a user says otherwise.
MAX_GAIN = 1e6


class Steps(NamedTuple):
    """A chain laid out for evaluating one feature after another, free of over- and underflow.

    ``v = x * unit - offset`` starts a feature, where `unit` is a power of two near 1/σ₁, so that
    nothing is rounded. For abs, level j is ``v = |v| - shift[j]`` and a value is read as
    ``y = v * factor[j]``: abs is positively homogeneous, inner scales cancel. For the other folds
    ``y = v * factor[0]``, then ``y = (fold(y) - shift[j]) * factor[j]``.

    `offset` and `unit` have shape (d,), `shift` and `factor` (d, J).
    """

    offset: Floats
    unit: Floats
    shift: Floats
    factor: Floats


@dataclass(frozen=True, eq=False)
class FoldChain:
    """The learned shifts and scales of a fold chain: M and S of the paper's Algorithm 1.

    A value x of feature d is mapped to y by ``y = (x - shifts[0, d]) / scales[0, d]`` and then, for
    j = 1 … levels[d] - 1, by ``y = (fold(y) - shifts[j, d]) / scales[j, d]``.
    """

    fold: str | Callable[[Any], Any]  # the folding operation
    # shifts, scales: (J, d): mean and standard deviation of each level; 0 and 1 where a feature no
    # longer folds.
    shifts: Floats
    scales: Floats
    levels: NDArray[np.int64]  # how many levels each feature uses, 1 … J
    # (d,): how much a rounding error in a training row can have been amplified by the levels used.
    gain: Floats

    @property
    def n_iter(self) -> int:
        """The paper's J."""
        return int(self.shifts.shape[0])

    @property
    def n_features(self) -> int:
        """The paper's D."""
        return int(self.shifts.shape[1])

    @property
    def unit(self) -> Floats:
        """A power of two near each feature's standard deviation: dividing by it rounds nothing.

        In such units the differences of very large values do not overflow.
        """
        exponent = np.clip(np.frexp(self.scales[0])[1], -1000, 1000)
        return np.asarray(np.ldexp(1.0, exponent), dtype=np.float64)

    def of_features(self, only: Integers | Booleans) -> FoldChain:
        """Return the chain of some of the features."""
        return FoldChain(
            self.fold,
            self.shifts[:, only],
            self.scales[:, only],
            self.levels[only],
            self.gain[only],
        )

    def unscaled(self) -> tuple[Floats, Floats]:
        """Return the abs chain in each feature's own units.

        Returns
        -------
        m, s : ndarray of shape (J, d)
            ``y_j = |…||x - m[0]| - m[1]|… - m[j]| / s[j]``. Where a feature no longer folds, `m`
            is 0 and `s` keeps its last scale.
        """
        if self.fold != "abs":
            raise ValueError("Only the abs chain can be written without inner scales.")
        s = np.cumprod(self.scales, axis=0, dtype=np.float64)
        return np.vstack([self.shifts[:1], self.shifts[1:] * s[:-1]]), s

    @once
    def steps(self) -> Steps:
        """The chain as the compiled kernel and the exports evaluate it."""
        scales = self.scales.copy()
        scales[0] /= self.unit
        shift = self.shifts.copy()
        shift[0] = 0.0
        if self.fold == "abs":
            # Learning multiplied in this order too: training rows meet the same bits again.
            scales = np.cumprod(scales, axis=0, dtype=np.float64)
            shift[1:] *= scales[:-1]
        return Steps(
            offset=self.shifts[0] / self.unit,
            unit=1.0 / self.unit,
            shift=np.ascontiguousarray(shift.T),
            factor=np.ascontiguousarray((1.0 / scales).T),
        )

    @once
    def compiled(self) -> kernels.Steps:
        """The same as the kernels hold it: for one row it takes longer to make than to use."""
        return kernels.fold_steps(str(self.fold), *self.steps, self.levels)

    __getstate__ = fields_only
