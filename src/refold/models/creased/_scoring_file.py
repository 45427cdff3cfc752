"""What scores, in a model file. It is factored from the sums again; its unit is not."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from refold.decisions import calibration_file
from refold.modelfile import arrays
from refold.modelfile.fields import Field
from refold.models.creased._creases_file import largest_features
from refold.models.creased._scoring import Scoring, Unit


def written(scoring: Scoring) -> dict[str, Any]:
    """Return a scoring as the document has it."""
    return {
        "ridge": scoring.leverage.ridge,
        "typical": scoring.typical,
        "unit": scoring.unit,
        "left_out": arrays.written(scoring.left_out),
        "calibration": calibration_file.written(scoring.calibration),
    }


def read(field: Field, rows: int) -> Unit:
    """Return what the scoring cannot be made again without; `rows` are kept."""
    ridge, typical, unit, left_out, calibration = field.members(
        "ridge", "typical", "unit", "left_out", "calibration"
    )
    n = arrays.length_of(left_out, rows, least=0)
    if n not in (0, rows):
        left_out.refuse(f"must have a number for each of the {rows} rows that are kept, or none")
    distances = arrays.floats(left_out, n)
    arrays.require(left_out, distances, distances >= 0.0, "must not be negative")
    return Unit(
        float(ridge.positive()),
        float(typical.positive()),
        float(unit.positive()),
        calibration_file.read(calibration, ties=True),
        distances,
    )


def check_evaluable(field: Field, scoring: Scoring) -> None:
    """Refuse numbers that are possible one by one but overflow together."""
    leverage = scoring.leverage
    with np.errstate(all="ignore"):
        row = largest_features(scoring.creases) + np.abs(leverage.center)
        if leverage.dual:
            gain = 1.0 + np.square(leverage.factor).sum() / leverage.ridge + 1.0 / leverage.ridge
        else:
            identity = np.eye(len(row), order="F")
            inverse = solve_triangular(
                leverage.factor, identity, lower=True, overwrite_b=True, check_finite=False
            )
            gain = np.square(inverse).sum()
        largest = (1.0 / leverage.weight + gain * np.square(row).sum()) / scoring.typical
        largest = (largest + scoring.most_outside) / scoring.unit
    if not np.isfinite(largest):
        field.refuse(
            "creases, sums and unit overflow together: a row would have no finite distance"
        )
