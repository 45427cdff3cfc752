"""The fold chain in a model file: a feature's shifts are one row, its scales another."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold.algorithm.chain import FoldChain
from refold.algorithm.folds import FOLDS
from refold.modelfile import arrays
from refold.modelfile.errors import ModelFileError
from refold.modelfile.fields import Field


def written(chain: FoldChain) -> dict[str, Any]:
    """Return a chain as the document has it."""
    if not isinstance(chain.fold, str):
        raise ModelFileError(
            f"{chain.fold!r} is a function; a model file holds data only. Use a named fold, or "
            "pickle the model",
            where="chain.fold",
        )
    return {
        "fold": chain.fold,
        "n_iter": chain.n_iter,
        "levels": arrays.written(chain.levels),
        "gain": arrays.written(chain.gain),
        "shifts": arrays.written(chain.shifts.T),
        "scales": arrays.written(chain.scales.T),
    }


def read(field: Field, n_features: int) -> FoldChain:
    """Return a checked chain."""
    fold, n_iter, levels, gain, shifts, scales = field.members(
        "fold", "n_iter", "levels", "gain", "shifts", "scales"
    )
    J = n_iter.integer(1)
    used = arrays.integers(levels, n_features)
    arrays.require(levels, used, (used >= 1) & (used <= J), f"must be from 1 to {J}")
    amplified = arrays.floats(gain, n_features)
    arrays.require(gain, amplified, amplified >= 0.0, "must not be negative")
    M = arrays.floats(shifts, n_features, J)
    S = arrays.floats(scales, n_features, J)
    for number, row in enumerate(S):
        arrays.require(scales.at(number), row, row > 0.0, "must be above 0")
    return FoldChain(
        fold.text(FOLDS), np.ascontiguousarray(M.T), np.ascontiguousarray(S.T), used, amplified
    )


def check_evaluable(field: Field, chain: FoldChain) -> None:
    """Refuse numbers that are possible one by one but overflow when a compiled engine joins them.

    With finite steps and factors above zero no finite row gives anything but finite values.
    """
    with np.errstate(all="ignore"):
        offset, _, shift, factor = chain.steps
    bad = ~np.isfinite(offset)
    for number in range(chain.n_features):
        fine = np.isfinite(shift[number]) & np.isfinite(factor[number]) & (factor[number] > 0.0)
        bad[number] |= not fine.all()
    if bad.any():
        number = int(np.argmax(bad))
        field.refuse(
            f"the shifts and scales of feature {number} (counted from 0) overflow when they are "
            "applied one after another"
        )
