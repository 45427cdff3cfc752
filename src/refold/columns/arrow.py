"""What the types of Arrow columns mean here, and their values as floats."""

from __future__ import annotations

from typing import Any

from refold._typing import Floats
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


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text, perhaps each word once."""
    is_ = needs("pyarrow", "parquet").types
    if is_.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind))


def described(kind: Any) -> str:
    """Say what a column holds that holds neither numbers nor text."""
    times = needs("pyarrow", "parquet").types.is_temporal(kind)
    return f"{'dates or times' if times else 'something else than numbers'} ({kind})"


def floats(values: Any) -> Floats:
    """Return a column of numbers as floats, NaN where it is null; without a copy if possible.

    As everywhere in Python, whole numbers beyond 2**53 become the nearest float.
    """
    pa = needs("pyarrow", "parquet")
    if values.type != pa.float64():
        values = values.cast(pa.float64(), safe=False)
    converted: Floats = values.to_numpy(zero_copy_only=False)
    return converted
