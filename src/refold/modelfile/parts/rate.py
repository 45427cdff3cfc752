"""The rate of false alarms that a threshold was set for."""

from __future__ import annotations

from refold.modelfile.fields import Field


def read(field: Field) -> float | None:
    """Return a checked rate, or None where the threshold promises none."""
    if field.is_null():
        return None
    rate = float(field.number())
    if not 0.0 < rate < 1.0:
        field.refuse(f"must lie between 0 and 1, is {rate!r}")
    return rate
