"""Results for programs: plain values, dataframes and sequences."""

from __future__ import annotations

import copy
import datetime as dt
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Self, TypeVar, overload

import narwhals.stable.v2 as nw
import numpy as np

Backend = Literal["pandas", "polars", "pyarrow"]
Item = TypeVar("Item", covariant=True)


class ResultSequence(Sequence[Item]):
    """Results in their order, by number and slice; a slice keeps everything else."""

    _items: tuple[Item, ...]

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Item | Self:
        if not isinstance(index, slice):
            return self._items[index]
        part = copy.copy(self)
        part._items = self._items[index]
        return part

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def __str__(self) -> str:
        return "\n".join(map(str, self._items))


def plain(value: Any) -> Any:
    """Return what JSON can hold: null for NaN and infinity, dates as texts.

    Examples
    --------
    >>> plain({"at": dt.datetime(2026, 1, 2), "ends": (1.5, math.inf)})
    {'at': '2026-01-02 00:00:00', 'ends': [1.5, None]}
    """
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return plain_fields(value)
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain_fields(result: Any, but: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass as plain values, some left out."""
    names = (field.name for field in fields(result) if field.name not in but)
    return {name: plain(getattr(result, name)) for name in names}


def native_frame(
    columns: Mapping[str, Sequence[Any]],
    backend: Backend,
    *,
    integers: Collection[str] = (),
    texts: Collection[str] = (),
    booleans: Collection[str] = (),
) -> Any:
    """Return columns as a dataframe; those that are not said to be something else hold floats."""
    types: dict[str, Any] = {
        **dict.fromkeys(integers, nw.Int64()),
        **dict.fromkeys(texts, nw.String()),
        **dict.fromkeys(booleans, nw.Boolean()),
    }
    schema = {name: types.get(name, nw.Float64()) for name in columns}
    return nw.from_dict(columns, schema, backend=backend).to_native()


def numbered_reasons(reasons: Sequence[Sequence[str]]) -> dict[str, list[str | None]]:
    """Return columns ``reason_1`` …, one entry per row, None where a row has fewer."""
    most = max(map(len, reasons), default=0)
    return {
        f"reason_{k + 1}": [each[k] if k < len(each) else None for each in reasons]
        for k in range(most)
    }
