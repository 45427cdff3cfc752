"""What the types of Arrow columns mean here."""

from __future__ import annotations

from typing import Any

from refold.base.needs import needs


def is_number(kind: Any) -> bool:
    """Whether an Arrow type can be read as numbers; a column of nulls is one of missing values."""
    is_ = needs("pyarrow", "parquet").types
    return bool(
        is_.is_integer(kind)
        or is_.is_floating(kind)
        or is_.is_decimal(kind)
        or is_.is_boolean(kind)
        or is_.is_null(kind)
    )
