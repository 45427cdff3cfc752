"""From dataframes, Arrow tables and lists of records, whatever they hold."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.base.advice import set_role
from refold.base.errors import UserError
from refold.base.needs import needs
from refold.columns.frames import (
    PERIODS,
    batch_to_table,
    distinct_names,
    float_values,
    is_bytes,
    is_period,
)
from refold.columns.missing import IN_MEMORY, SourceFormat
from refold.columns.number_form import GROUPED_POINTS, NumberForm
from refold.columns.records import columns_of_records, flat_records
from refold.columns.table import EXACT, Column, DateColumn, NumberColumn, Table, TextColumn

_DAY = 86_400.0
_PLAIN_ENOUGH = frozenset("0123456789.-+eE")
_LOOKED_AT = 100
_FEW = 64
_NUMBERS = (int, float, Decimal, np.number)
_DURATIONS = (dt.timedelta, np.timedelta64)
LONGEST_TEXT = 500  # characters of a text that are remembered
_DIGITS = 16  # of the checksum behind the beginning of a longer one


def is_table(X: Any) -> bool:
    """Whether X has columns with names: a dataframe, an Arrow table, or a list of records."""
    if isinstance(X, np.ndarray):
        return False
    if isinstance(X, list):
        return bool(X) and all(isinstance(record, Mapping) for record in X)
    return bool(nw.dependencies.is_into_dataframe(batch_to_table(X)))


def to_table(X: Any, ignore: Collection[str] = (), as_texts: Collection[str] = ()) -> Table:
    """Return the columns of a table, or of a list of records, but for those to be ignored.

    The texts of the columns `as_texts` stay texts, though they may all be plain numbers.
    """
    if isinstance(X, list):
        return _of_records(X, ignore)
    X = batch_to_table(X)
    names = distinct_names(X)
    wanted = [k for k, name in enumerate(names) if name not in ignore]
    written = IN_MEMORY
    if nw.dependencies.is_pandas_dataframe(X):
        columns = [_of_pandas(names[k], X.iloc[:, k]) for k in wanted]
    else:
        if nw.dependencies.is_pyarrow_table(X):
            written = SourceFormat.of_metadata(X.schema.metadata)
            for k in wanted:
                if is_period(X.schema.field(k)):
                    advice = set_role("Or leave it out", names[k], "ignore")
                    raise UserError(f"Column {names[k]!r} {PERIODS}", advice=advice)
        # One by one, narwhals would list the names of all columns for each.
        series = list(nw.from_native(X, eager_only=True).iter_columns())
        columns = [
            _observed(names[k], series[k], None if names[k] in as_texts else written)
            for k in wanted
        ]
    return Table([names[k] for k in wanted], columns, len(X), written=written)


def _of_pandas(name: str, column: Any) -> Column:
    """Look at a column of pandas; the most usual ones without a detour, which a row would feel."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "fiu":
        return _of_numbers(column.to_numpy())
    if dtype == "str" and len(column) <= _FEW:
        return _few_texts(name, column.tolist())
    return _observed(name, nw.from_native(column, series_only=True))


def _of_records(records: list[Mapping[str, Any]], ignore: Collection[str]) -> Table:
    cells = columns_of_records(flat_records(records), ignore)
    columns = [of_objects(name, column) for name, column in cells.items()]
    return Table(list(cells), columns, len(records))


def _observed(name: str, column: Any, written: SourceFormat | None = None) -> Column:
    """Look at a column of a dataframe; without `written`, texts stay what they are."""
    if column.dtype == nw.Categorical:
        column = _times_in_categories(column)
    dtype = column.dtype
    if dtype == nw.Boolean:
        return _truths(column)
    if dtype.is_numeric():
        return _numeric(name, column)
    if dtype.is_temporal():
        return _temporal(column)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _texts(column, written)
    if dtype in (nw.Object, nw.Unknown):  # Arrow has types of nothing, of long decimals, of UUIDs
        return of_objects(name, column.to_list())
    raise UserError(
        f"Column {name!r} holds {dtype}: numbers, texts, categories, dates and truth values can be "
        "learned.",
        advice=set_role("Leave it out", name, "ignore"),
    )


def _times_in_categories(column: Any) -> Any:
    """Return categories that are dates or durations as these: they are written in many ways."""
    native = column.to_native()
    if column.implementation.is_pandas():
        if hasattr(native.dtype, "pyarrow_dtype"):  # a dictionary of Arrow
            arrow = needs("pyarrow", "parquet").chunked_array([native.array.__arrow_array__()])
            return _times_in_categories(nw.from_native(arrow, series_only=True))
        kind = native.cat.categories.dtype
        return (
            nw.from_native(native.astype(kind), series_only=True) if kind.kind in "mM" else column
        )
    if column.implementation.is_pyarrow():
        kind = getattr(native.type, "value_type", native.type)  # Dask has texts in its place
        if needs("pyarrow", "parquet").types.is_temporal(kind):
            return nw.from_native(native.cast(kind), series_only=True)
    return column


def _numeric(name: str, column: Any) -> Column:
    """Return numbers as floats; whole numbers that floats do not hold, as their digits."""
    dtype = column.dtype
    if dtype.is_integer() and len(column) > column.null_count():
        ends = (column.min(), column.max())
        if max(abs(int(end)) for end in ends if end is not None) > EXACT:
            return of_objects(name, column.to_list())
    if dtype == nw.Float32:
        return NumberColumn(shortest(column.cast(nw.Float64).to_numpy().astype(np.float32)))
    if column.implementation.is_pyarrow():
        return NumberColumn(float_values(column.to_native()))
    return NumberColumn(np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64))


def _of_numbers(values: NDArray[Any]) -> Column:
    """Return a NumPy array of numbers; whole numbers that floats do not hold, as their digits."""
    ends = (values.min(), values.max()) if values.dtype.kind in "iu" and len(values) else ()
    if any(abs(int(end)) > EXACT for end in ends):
        return texts_of([str(value) for value in values.tolist()])
    if values.dtype == np.float32:
        return NumberColumn(shortest(values))
    return NumberColumn(values.astype(np.float64))


def shortest(values: NDArray[np.float32]) -> Floats:
    """Return each float32 as the float64 with the fewest digits that it stands for: 0.1 as 0.1.

    So it is the number that a file would have.
    """
    exact = values.astype(np.float64)
    out, left = exact.copy(), np.flatnonzero(np.isfinite(exact) & (exact != 0.0))
    for digits in range(6, 10):
        places = digits - 1 - np.floor(np.log10(np.abs(exact[left]))).astype(np.int64)
        scale = 10.0 ** np.abs(places)
        down = places < 0
        whole_ = np.rint(np.where(down, exact[left] / scale, exact[left] * scale))
        found = np.where(down, whole_ * scale, whole_ / scale)
        same = found.astype(np.float32) == values[left]
        out[left[same]] = found[same]
        left = left[~same]
    return out


def _truths(column: Any) -> TextColumn:
    values = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return TextColumn(["False", "True"], np.where(np.isnan(values), -1.0, values).astype(np.int64))


def _temporal(column: Any) -> Column:
    dtype = column.dtype
    if dtype == nw.Duration:
        return NumberColumn(_durations(column.to_numpy()), form=NumberForm(kind="duration"))
    if dtype == nw.Time:
        return of_objects(column.name, column.to_list())
    zone = dtype.time_zone if isinstance(dtype, nw.Datetime) else None
    if zone is None:
        return _moments(_clock_seconds(column))
    seconds = _clock_seconds(column.dt.replace_time_zone(None))
    in_utc = _clock_seconds(column.dt.convert_time_zone("UTC").dt.replace_time_zone(None))
    return replace(_moments(seconds), offsets=seconds - in_utc, zone=zone)


def _moments(seconds: Floats) -> DateColumn:
    clock = bool(np.any(np.mod(seconds[~np.isnan(seconds)], _DAY)))
    return DateColumn(seconds, has_date=True, has_clock=clock)


def _clock_seconds(column: Any) -> Floats:
    # Arrow would rather fail than lose nanoseconds.
    fine = isinstance(column.dtype, nw.Datetime) and column.dtype.time_unit == "ns"
    ticks = column.cast(nw.Datetime("ns" if fine else "us")).to_numpy().astype("M8[us]")
    return _seconds(ticks, 1e6)


def _durations(values: NDArray[Any]) -> Floats:
    """Return durations in seconds, as short as they may be: frames count nanoseconds."""
    if values.dtype == "m8[ns]":
        return _seconds(values, 1e9)
    return _seconds(values.astype("m8[us]"), 1e6)


def _seconds(ticks: NDArray[Any], of_a_second: float) -> Floats:
    return np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64) / of_a_second)


def _texts(column: Any, written: SourceFormat | None) -> TextColumn | NumberColumn:
    """Find the different texts by the dataframe's own means."""
    native = column.to_native()
    if column.implementation.is_pyarrow():
        if needs("pyarrow", "parquet").types.is_string_view(native.type):  # it can do little
            native = native.cast(needs("pyarrow", "parquet").large_string())
        numbers = None if written is None else _plain_numbers(native, written)
        return _decoded(column.name, native) if numbers is None else numbers
    if column.implementation.is_polars():
        pl = nw.get_native_namespace(column)
        words = native.cast(pl.String)
        values = words.drop_nulls().unique(maintain_order=True)
        codes = words.cast(pl.Enum(values)).to_physical().cast(pl.Int64).fill_null(-1)
        return _known(values.to_list(), codes.to_numpy())
    if len(column) <= _FEW:
        return _few_texts(column.name, native.tolist())
    codes, values = nw.get_native_namespace(column).factorize(native)
    texts = _written(column.name, values.to_numpy(dtype=object))
    return _known(texts, np.asarray(codes, dtype=np.int64))


def _decoded(name: str, column: Any) -> TextColumn:
    pa = needs("pyarrow", "parquet")
    kind = getattr(column.type, "value_type", column.type)
    if is_bytes(kind):
        raise _bytes(name)
    try:
        return texts_of_arrow(column)
    except pa.ArrowNotImplementedError:  # a dictionary of something that is no text
        raise UserError(
            f"Column {name!r} holds categories of {kind}: categories are texts, numbers, dates or "
            "truth values.",
            advice=set_role("Leave it out", name, "ignore"),
        ) from None
    except pa.ArrowInvalid:
        raise UserError(f"Column {name!r} holds text that is not UTF-8.") from None


def _few_texts(name: str, cells: Sequence[Any]) -> TextColumn:
    """Return a few texts, or categories: these are found sooner one by one."""
    return texts_of(_written(name, cells))


def _written(name: str, cells: Iterable[Any]) -> list[str]:
    """Return the texts of some objects."""
    return [c if isinstance(c, str) else "" if _is_none(c) else _text_of(name, c) for c in cells]


def _bytes(name: str) -> UserError:
    return UserError(
        f"Column {name!r} holds bytes: decode them to texts.",
        advice=set_role("Or leave it out", name, "ignore"),
    )


def texts_of_arrow(column: Any) -> TextColumn:
    """Return an Arrow column of text as texts."""
    pa = needs("pyarrow", "parquet")
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):  # no sooner: texts of 2 GB do not fit into one piece
        column = column.unify_dictionaries().combine_chunks()
    # What polars writes has codes without a sign.
    codes = column.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    values = column.dictionary
    if values.null_count:  # a category may be null
        codes = np.where(values.is_null().to_numpy(zero_copy_only=False)[codes], -1, codes)
        values = values.fill_null("")
    values = values.cast(pa.string())
    texts = values.to_pylist()
    return TextColumn(texts, codes) if _all_ordinary(values) else _known(texts, codes)


def _all_ordinary(values: Any) -> bool:
    """Whether no text is long, or in other letters than ASCII, or empty."""
    pc = needs("pyarrow.compute", "parquet")
    if not pc.all(pc.string_is_ascii(values), min_count=0).as_py():
        return False
    if (pc.max(pc.binary_length(values)).as_py() or 0) > LONGEST_TEXT:
        return False
    return (pc.min(pc.binary_length(pc.utf8_trim_whitespace(values))).as_py() or 0) > 0


def _plain_numbers(column: Any, written: SourceFormat) -> NumberColumn | None:
    """Return a column of texts that are plainly written numbers as these; None if some are not.

    Arrow reads them faster than it finds out which ones differ. What begins with a needless zero is
    a name, not a number; a point before groups of three digits alone may be one of thousands.
    """
    pa, pc = needs("pyarrow", "parquet"), needs("pyarrow.compute", "parquet")
    if written.decimal_mark == "," or pa.types.is_dictionary(column.type):
        return None
    if not _PLAIN_ENOUGH.issuperset(_first_characters(column)):
        return None
    zeros = column.filter(pc.starts_with(column, "0"))
    if pc.any(pc.match_substring_regex(zeros, "^0[0-9]"), min_count=0).as_py():
        return None
    try:
        values = float_values(column.cast(pa.float64()))
    except pa.ArrowInvalid:
        return None
    plain = np.count_nonzero(np.isfinite(values)) == len(values) - column.null_count
    if not plain or (not written.decimal_mark and _only_groups(column)):
        return None
    return NumberColumn(values, form=NumberForm())


def _only_groups(column: Any) -> bool:
    """Whether texts have points, and these may all stand between thousands."""
    pc = needs("pyarrow.compute", "parquet")
    pointed = column[:0]
    for part in (column[:_LOOKED_AT], column):  # the first ones say it of most columns
        pointed = part.filter(pc.match_substring(part, "."))
        grouped = pc.match_substring_regex(pointed, f"^{GROUPED_POINTS}$")
        if not pc.all(grouped, min_count=0).as_py():
            return False
    return len(pointed) > 0


def _first_characters(column: Any) -> set[str]:
    """Return the characters of the first texts, all that a look costs."""
    return set("".join(text or "" for text in column[:_LOOKED_AT].to_pylist()))


def of_objects(name: str, cells: Sequence[Any]) -> Column:
    """Look at the Python objects of a column, which may be of several types."""
    kinds = {type(cell) for cell in cells if not _is_none(cell)}
    if kinds and all(issubclass(k, _DURATIONS) or _is_interval(k) for k in kinds):
        seconds = np.array([np.nan if _is_none(c) else _total_seconds(name, c) for c in cells])
        return NumberColumn(seconds, form=NumberForm(kind="duration"))
    if kinds and all(issubclass(k, np.float32) for k in kinds):
        return NumberColumn(shortest(np.array([np.nan if _is_none(c) else c for c in cells], "f4")))
    numeric = not kinds & {bool, np.bool_} and all(issubclass(k, _NUMBERS) for k in kinds)
    if numeric and not any(map(_is_long, cells)):
        return NumberColumn(np.array([np.nan if _is_none(c) else float(c) for c in cells]))
    if kinds and all(issubclass(k, (dt.date, dt.time)) for k in kinds):
        return _of_moments(cells, kinds)
    if any(issubclass(k, (complex, np.complexfloating)) for k in kinds):
        raise UserError(
            f"Column {name!r} holds complex numbers: split it into two columns.",
            advice=set_role("Or leave it out", name, "ignore"),
        )
    if any(issubclass(k, (dict, list, tuple, set, np.ndarray)) for k in kinds):
        raise UserError(
            f"Column {name!r} holds lists or records.",
            advice=set_role("Leave it out", name, "ignore"),
        )
    return texts_of(_written(name, cells))


def _is_long(cell: Any) -> bool:
    """Whether a cell is a whole number that a float does not hold."""
    return isinstance(cell, (int, np.integer)) and abs(int(cell)) > EXACT


def _text_of(name: str, cell: Any) -> str:
    """Write an object of a column as text."""
    if isinstance(cell, (bytes, bytearray, memoryview)):
        raise _bytes(name)
    return text_of(cell)


def text_of(cell: Any) -> str:
    """Write an object as text, a number as `as_texts` does."""
    if (
        isinstance(cell, (float, np.floating))
        and float(cell).is_integer()
        and abs(float(cell)) <= EXACT
    ):
        return str(int(cell))
    try:
        return str(cell)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return f"{'-' if cell < 0 else ''}about 2 to the power of {cell.bit_length() - 1}"


def _is_interval(kind: type) -> bool:
    """Whether objects are intervals of Arrow, as DuckDB gives them: months, days and the rest."""
    return kind.__name__ == "MonthDayNano" and issubclass(kind, tuple)


def _total_seconds(name: str, cell: Any) -> float:
    if _is_interval(type(cell)):
        if cell.months:
            raise UserError(
                f"Column {name!r} holds intervals of months, which differ in length: give days or "
                "seconds.",
                advice=set_role("Or leave it out", name, "ignore"),
            )
        return float((cell.days * 86_400 * 10**9 + cell.nanoseconds) / 10**9)
    if isinstance(cell, dt.timedelta):
        return cell.total_seconds()
    return float(cell / np.timedelta64(1, "us")) / 1e6


def _is_none(cell: Any) -> bool:
    if isinstance(cell, (str, int)):
        return False
    return (
        cell is None or (isinstance(cell, float) and cell != cell) or str(cell) in ("NaT", "<NA>")
    )


def _of_moments(cells: Sequence[Any], kinds: Collection[type]) -> DateColumn:
    has_date = not any(issubclass(k, dt.time) for k in kinds)
    has_clock = any(issubclass(k, (dt.time, dt.datetime)) for k in kinds)
    offsets = np.array([_offset(cell) for cell in cells])
    zones = {str(cell.tzinfo) for cell in cells if getattr(cell, "tzinfo", None) is not None}
    return DateColumn(
        np.array([_wall_clock(cell) for cell in cells]),
        has_date,
        has_clock,
        offsets=offsets if has_date and zones else None,
        zone=zones.pop() if len(zones) == 1 else "",
    )


def _offset(cell: Any) -> float:
    """Return by how many seconds the clock of a moment is ahead of UTC; NaN if it has no zone."""
    ahead = None if _is_none(cell) or getattr(cell, "tzinfo", None) is None else cell.utcoffset()
    return np.nan if ahead is None else float(ahead.total_seconds())


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
    """Take empty texts as missing, and values that are remembered as one text as one."""
    place: dict[str, int] = {}
    to = [place.setdefault(remembered(v), len(place)) if v.strip() else -1 for v in values]
    if len(place) == len(values):
        return TextColumn(list(place), codes)
    return TextColumn(list(place), np.array([*to, -1], dtype=np.int64)[codes])


def remembered(text: str) -> str:
    """Return a text as it is remembered, so that many of them fit into memory and a file.

    A page is told apart from another by its beginning and a checksum; half a surrogate pair, which
    no file can hold, is written as Python escapes it.
    """
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode()
    if len(text) <= LONGEST_TEXT:
        return text
    beginning = text[: LONGEST_TEXT - _DIGITS - 1]
    return f"{beginning}…{sha256(text.encode()).hexdigest()[:_DIGITS]}"
