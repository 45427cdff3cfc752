"""From dataframes, Arrow tables and lists of records, whatever they hold."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.base.advice import set_role
from refold.base.errors import UserError
from refold.base.needs import needs
from refold.columns.frames import column_names, floats, to_float, whole
from refold.columns.records import columns_of_records, flat_records
from refold.columns.table import Column, DateColumn, NumberColumn, Table, TextColumn
from refold.columns.text_cells import LONGEST, MISSING_WORDS, is_missing, kept

_DAY = 86_400.0
_PLAIN_ENOUGH = frozenset("0123456789.-+eE")
_LOOKED_AT = 100
_FEW = 64
_NUMBERS = (int, float, Decimal, np.number)


def is_table(X: Any) -> bool:
    """Whether X has columns with names: a dataframe, an Arrow table, or a list of records."""
    if isinstance(X, np.ndarray):
        return False
    if isinstance(X, list):
        return bool(X) and all(isinstance(record, Mapping) for record in X)
    return bool(nw.dependencies.is_into_dataframe(whole(X)))


def to_table(X: Any, ignore: Collection[str] = ()) -> Table:
    """Return the columns of a table, but for those to be ignored.

    Parameters
    ----------
    X : dataframe, Arrow table or batch, or list of dict
        The table. In records a key that is not there is a missing value.
    ignore : collection of str
        Columns that are not even looked at.
    """
    if isinstance(X, list):
        return _of_records(X, ignore)
    X = whole(X)
    names = [str(name) for name in column_names(X)]
    wanted = [k for k, name in enumerate(names) if name not in ignore]
    if nw.dependencies.is_pandas_dataframe(X):
        columns = [_of_pandas(names[k], X.iloc[:, k]) for k in wanted]
    else:
        # One by one, narwhals would list the names of all columns for each.
        series = list(nw.from_native(X, eager_only=True).iter_columns())
        columns = [_observed(names[k], series[k]) for k in wanted]
    return Table([names[k] for k in wanted], columns, len(X))


def _of_pandas(name: str, column: Any) -> Column:
    """Look at a column of pandas; the most usual ones without a detour, which a row would feel."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "fiu":
        return NumberColumn(column.to_numpy(dtype=np.float64))
    if dtype == "str" and len(column) <= _FEW:
        return _few_texts(column.tolist())
    return _observed(name, nw.from_native(column, series_only=True))


def _of_records(records: list[Mapping[str, Any]], ignore: Collection[str]) -> Table:
    cells = columns_of_records(flat_records(records), ignore)
    columns = [of_objects(name, column) for name, column in cells.items()]
    return Table(list(cells), columns, len(records))


def _observed(name: str, column: Any) -> Column:
    """Look at a column of a dataframe."""
    dtype = column.dtype
    if dtype == nw.Boolean:
        return _truths(column)
    if dtype.is_numeric():
        if column.implementation.is_pyarrow():
            return NumberColumn(floats(column.to_native()))
        return NumberColumn(np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64))
    if dtype.is_temporal():
        return _temporal(column)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _texts(column)
    if dtype == nw.Object:
        return of_objects(name, column.to_list())
    if dtype == nw.Unknown and column.is_null().all():  # Arrow's type of nothing
        return NumberColumn(np.full(len(column), np.nan))
    raise UserError(
        f"Column {name!r} holds {dtype}: numbers, texts, categories, dates and truth values can be "
        "learned.",
        advice=set_role("Leave it out", name, "ignore"),
    )


def _truths(column: Any) -> TextColumn:
    values = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return TextColumn(["False", "True"], np.where(np.isnan(values), -1.0, values).astype(np.int64))


def _temporal(column: Any) -> Column:
    dtype = column.dtype
    if dtype == nw.Duration:
        return NumberColumn(_seconds(column.to_numpy(), "m8"))
    if dtype == nw.Time:
        return of_objects(column.name, column.to_list())
    if dtype == nw.Datetime and dtype.time_zone is not None:  # by the clock on the wall
        column = column.dt.replace_time_zone(None)
    seconds = _seconds(column.cast(nw.Datetime("us")).to_numpy(), "M8")
    clock = dtype == nw.Datetime and bool(np.any(np.mod(seconds[~np.isnan(seconds)], _DAY)))
    return DateColumn(seconds, has_date=True, has_clock=clock)


def _seconds(values: NDArray[Any], kind: str) -> Floats:
    ticks = values.astype(f"{kind}[us]")
    seconds = ticks.astype(np.int64) / 1e6
    return np.where(np.isnat(ticks), np.nan, seconds)


def _texts(column: Any) -> TextColumn | NumberColumn:
    """Find the different texts by the dataframe's own means."""
    native = column.to_native()
    if column.implementation.is_pyarrow():
        numbers = _plain_numbers(native)
        return texts_of_arrow(native) if numbers is None else numbers
    if column.implementation.is_polars():
        pl = nw.get_native_namespace(column)
        words = native.cast(pl.String)
        values = words.drop_nulls().unique(maintain_order=True)
        codes = words.cast(pl.Enum(values)).to_physical().cast(pl.Int64).fill_null(-1)
        return _known(values.to_list(), codes.to_numpy())
    if len(column) <= _FEW:
        return _few_texts(native.tolist())
    codes, values = nw.get_native_namespace(column).factorize(native)
    return _known([str(value) for value in values], np.asarray(codes, dtype=np.int64))


def _few_texts(cells: Sequence[Any]) -> TextColumn:
    """Return a few texts, or categories: these are found sooner one by one."""
    return texts_of([c if isinstance(c, str) else "" if _is_none(c) else str(c) for c in cells])


def texts_of_arrow(column: Any) -> TextColumn:
    """Return an Arrow column of text as texts."""
    pa = needs("pyarrow", "parquet")
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    values = column.dictionary
    if values.null_count:  # a category may be null
        codes = np.where(values.is_null().to_numpy(zero_copy_only=False)[codes], -1, codes)
        values = values.fill_null("")
    values = values.cast(pa.string())
    texts = values.to_pylist()
    return TextColumn(texts, codes) if _all_ordinary(values) else _known(texts, codes)


def _all_ordinary(values: Any) -> bool:
    """Whether no text is long, or in other letters than ASCII, or a word for a missing value."""
    pc = needs("pyarrow.compute", "parquet")
    if not pc.all(pc.string_is_ascii(values), min_count=0).as_py():
        return False
    if (pc.max(pc.binary_length(values)).as_py() or 0) > LONGEST:
        return False
    words = pc.utf8_trim_whitespace(values)
    short = words.filter(pc.less_equal(pc.binary_length(words), max(map(len, MISSING_WORDS))))
    return not any(map(is_missing, short.to_pylist()))


def _plain_numbers(column: Any) -> NumberColumn | None:
    """Return a column of texts that are plainly written numbers as these; None if some are not.

    Arrow reads them faster than it finds out which ones differ. What begins with a needless zero is
    a name, not a number.
    """
    pa, pc = needs("pyarrow", "parquet"), needs("pyarrow.compute", "parquet")
    if pa.types.is_dictionary(column.type) or not _PLAIN_ENOUGH.issuperset(
        _first_characters(column)
    ):
        return None
    zeros = column.filter(pc.starts_with(column, "0"))
    if pc.any(pc.match_substring_regex(zeros, "^0[0-9]"), min_count=0).as_py():
        return None
    try:
        values = floats(column.cast(pa.float64()))
    except pa.ArrowInvalid:
        return None
    plain = np.count_nonzero(np.isfinite(values)) == len(values) - column.null_count
    return NumberColumn(values) if plain else None


def _first_characters(column: Any) -> set[str]:
    """Return the characters of the first texts, all that a look costs."""
    return {character for text in column[:_LOOKED_AT].to_pylist() for character in text or ""}


def of_objects(name: str, cells: Sequence[Any]) -> Column:
    """Look at the Python objects of a column, which may be of several types."""
    kinds = {type(cell) for cell in cells if not _is_none(cell)}
    if bool not in kinds and all(issubclass(k, _NUMBERS) for k in kinds):
        return NumberColumn(np.array([np.nan if _is_none(c) else to_float(c) for c in cells]))
    if kinds and all(issubclass(k, (dt.date, dt.time)) for k in kinds):
        return _of_moments(cells, kinds)
    if any(issubclass(k, (dict, list, tuple, set, np.ndarray)) for k in kinds):
        raise UserError(
            f"Column {name!r} holds lists or records.",
            advice=set_role("Leave it out", name, "ignore"),
        )
    return texts_of(["" if _is_none(cell) else _text(cell) for cell in cells])


def _text(cell: Any) -> str:
    try:
        return str(cell)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return str(to_float(cell))


def _is_none(cell: Any) -> bool:
    if cell is None or isinstance(cell, float):
        return cell is None or cell != cell
    return not isinstance(cell, int) and str(cell) in ("NaT", "<NA>")


def _of_moments(cells: Iterable[Any], kinds: Collection[type]) -> DateColumn:
    has_date = not any(issubclass(k, dt.time) for k in kinds)
    has_clock = any(issubclass(k, (dt.time, dt.datetime)) for k in kinds)
    return DateColumn(np.array([_wall_clock(cell) for cell in cells]), has_date, has_clock)


def _wall_clock(cell: Any) -> float:
    if _is_none(cell):
        return np.nan
    days = 0 if isinstance(cell, dt.time) else cell.toordinal() - dt.date(1970, 1, 1).toordinal()
    if not isinstance(cell, (dt.time, dt.datetime)):
        return days * _DAY
    clock = cell.hour * 3600.0 + cell.minute * 60.0 + cell.second + cell.microsecond / 1e6
    return days * _DAY + clock


def texts_of(cells: Sequence[str]) -> TextColumn:
    """Return a list of texts, each different one once."""
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(cell, len(place)) for cell in cells], dtype=np.int64)
    return _known(list(place), codes)


def _known(values: list[str], codes: NDArray[np.int64]) -> TextColumn:
    """Take words for missing values as missing, and values that are one text as one."""
    place: dict[str, int] = {}
    to = [-1 if is_missing(text) else place.setdefault(kept(text), len(place)) for text in values]
    if len(place) == len(values):
        return TextColumn(list(place), codes)
    return TextColumn(list(place), np.array([*to, -1], dtype=np.int64)[codes])
