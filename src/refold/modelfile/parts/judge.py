"""What turns a row into a distance. It is factored from the sums again; its unit is not."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular

from refold.modelfile.fields import Field
from refold.modelfile.parts import calibration
from refold.modelfile.parts.creases import largest_features
from refold.models.creased._leverage import Leverage
from refold.models.creased._scoring import Scoring
from refold.models.creased._state import TrainingState


def written(judge: Scoring) -> dict[str, Any]:
    """Return a judge as the document has it."""
    return {
        "ridge": judge.leverage.ridge,
        "unit": judge.unit,
        "calibration": calibration.written(judge.calibration),
    }


def read(field: Field, seen: TrainingState) -> Scoring:
    """Return the checked judge of what was seen, which has creases and sums."""
    assert seen.creases is not None
    assert seen.sums is not None
    ridge, unit, calibrated = field.members("ridge", "unit", "calibration")
    least, T = float(ridge.positive()), float(unit.positive())
    if seen.sums.weight <= 0.0:
        field.refuse("must be null where no row has been learned")
    # Two factors, their inverse, and what they are made of.
    field.budget.charge(4 * 8 * seen.creases.n_outputs**2, "The factored sums", "sums")
    try:
        with np.errstate(all="ignore"):
            leverage = Leverage.of(seen.sums, least)
    except (LinAlgError, ValueError) as error:  # not positive definite, or not finite
        field.refuse(f"cannot be made of the sums: {error}")
    judge = Scoring(seen.creases, leverage, T, calibration.read(calibrated, ties=True))
    _check_evaluable(field, judge)
    return judge


def _check_evaluable(field: Field, judge: Scoring) -> None:
    """Refuse numbers that are possible one by one but overflow together."""
    leverage = judge.leverage
    with np.errstate(all="ignore"):
        row = largest_features(judge.creases) + np.abs(leverage.center)
        if leverage.dual:
            gain = 1.0 + np.square(leverage.factor).sum() / leverage.ridge + 1.0 / leverage.ridge
        else:
            identity = np.eye(len(row), order="F")
            inverse = solve_triangular(
                leverage.factor, identity, lower=True, overwrite_b=True, check_finite=False
            )
            gain = np.square(inverse).sum()
        largest = (1.0 / leverage.weight + gain * np.square(row).sum()) / judge.unit
    if not np.isfinite(largest):
        field.refuse(
            "creases, sums and unit overflow together: a row would have no finite distance"
        )
