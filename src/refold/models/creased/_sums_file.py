"""The running sums in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold._typing import Floats
from refold.modelfile import arrays
from refold.modelfile.fields import Field
from refold.models.creased._sums import Sums

# Weights that are added up in another order round otherwise.
_SLACK = 1e-6


def written(sums: Sums) -> dict[str, Any]:
    """Return sums as the document has them."""
    return {
        "weight": sums.weight,
        "total": arrays.written(sums.total),
        "rows": arrays.written(sums.rows),
        "counts": arrays.written(sums.counts),
        "products": None if sums.gram is None else arrays.written(_packed(sums.gram)),
    }


def read(field: Field, p: int) -> Sums:
    """Return checked sums of `p` features."""
    weight, total, rows, counts, products = field.members(
        "weight", "total", "rows", "counts", "products"
    )
    if weight.number() < 0.0:
        weight.refuse(f"must not be negative, is {weight.value!r}")
    # With all products no row is kept by itself; otherwise there are fewer rows than features.
    r = arrays.length_of(counts, p - 1 if products.is_null() else 0, least=0)
    each = arrays.floats(counts, r)
    arrays.require(counts, each, each >= 0.0, "must not be negative")
    counted = float(each.sum())
    if products.is_null() and not abs(counted - weight.number()) <= _SLACK * counted:
        counts.refuse(f"add up to {counted!r}, the weight of all is {weight.value!r}")
    return Sums(
        weight=float(weight.number()),
        total=arrays.floats(total, p),
        rows=arrays.floats(rows, r, p),
        counts=each,
        gram=None if products.is_null() else _unpacked(products, p),
    )


def _packed(gram: Floats) -> Floats:
    """Return the lower triangle, row after row: the upper one says nothing."""
    return np.concatenate([row[: i + 1] for i, row in enumerate(gram)])


def _unpacked(field: Field, p: int) -> Floats:
    field.budget.charge(8 * p * p, "The array", field.path)
    packed = arrays.floats(field, p * (p + 1) // 2)
    gram, begin = np.zeros((p, p), order="F"), 0
    for i in range(p):
        gram[i, : i + 1] = packed[begin : begin + i + 1]
        begin += i + 1
    return gram
