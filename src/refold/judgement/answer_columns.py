"""The columns that scoring adds to a table, the same wherever it is scored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from refold.base.advice import Advice
from refold.base.errors import UserError
from refold.base.needs import needs
from refold.judgement.judgement import Judge, Judgement


def answer_names(judge: Judge, reasons: int, prefix: str, taken: Iterable[str]) -> list[str]:
    """Return the names of the columns that scoring adds; refuse names that are there already.

    They are ``distance``, ``label``, ``p_value`` if the model is calibrated, and ``reason_1`` …
    """
    names = ["distance", "label", *(["p_value"] if judge.calibration is not None else [])]
    names += [f"reason_{number}" for number in range(1, reasons + 1)]
    names = [prefix + name for name in names]
    clash = sorted(set(names).intersection(taken))
    if clash:
        raise UserError(
            f"The input already has the columns {clash} that scoring would add.",
            advice=Advice("Give the new ones another prefix", "prefix", value="refold_"),
        )
    return names


def answer_types(judge: Judge, reasons: int) -> list[Any]:
    """Return the Arrow types of the columns that scoring adds."""
    pa = needs("pyarrow", "parquet")
    rarity = [pa.float64()] if judge.calibration is not None else []
    return [pa.float64(), pa.int8(), *rarity, *[pa.string()] * reasons]


def answers(found: Judgement, reasons: int) -> list[Any]:
    """Return the columns that scoring adds, as Arrow arrays; null where a row is not judged."""
    pa = needs("pyarrow", "parquet")
    if reasons and found.judge.scorer.additive:
        found.attribution()  # first: distances come with it
    because = _reasons(found, reasons) if reasons else []
    unknown = ~found.judged
    columns = [pa.array(found.distances, mask=unknown), pa.array(found.labels, mask=unknown)]
    if found.p_values is not None:
        columns.append(pa.array(found.p_values, mask=unknown))
    return columns + because


def _reasons(found: Judgement, reasons: int) -> list[Any]:
    """Name the columns that make rows outliers; null where a row has no more."""
    pa = needs("pyarrow", "parquet")
    names = pa.array(found.names, pa.string())
    places = np.full((len(found), min(reasons, len(found.names))), -1)
    if found.outlier.any():  # others have none, and are not explained
        places[found.outlier] = found.of_outliers.reasons(reasons)
    columns = [names.take(pa.array(column, mask=column < 0)) for column in places.T]
    return columns + [pa.nulls(len(found), pa.string())] * (reasons - len(columns))
