"""Tables in: arrays of any kind and dataframes become one float array, columns checked by name."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import array_api_compat
import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn import __version__ as sklearn_version
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from refold._typing import Array, Floats
from refold.algorithm.kernels import MOST_WEIGHT
from refold.base import errors
from refold.base.arrays import is_foreign_array, to_numpy
from refold.base.errors import UserError
from refold.base.needs import needs

_OLD_NAMES = tuple(map(int, sklearn_version.split(".")[:2])) < (1, 9)


def validate_table(estimator: Any, X: Any, *, reset: bool, native: bool) -> Array:
    """Return X as a two-dimensional float array and check (or, with `reset`, learn) its columns.

    With `native`, an array of another library than NumPy is kept as it is.
    """
    if not reset and _as_learned(estimator, X):
        return X
    X = batch_to_table(X)
    if isinstance(X, np.ma.MaskedArray):  # what is masked is missing
        X = np.where(np.ma.getmaskarray(X), np.nan, np.ma.getdata(X))
    refuse_text(X)
    if isinstance(X, np.ndarray):  # first, because looking for dataframes takes its time
        if X.dtype.kind in ("M", "m"):
            raise ValueError(f"X holds {X.dtype}, not numbers. {_ADVICE}")
    elif nw.dependencies.is_into_dataframe(X):
        if reset or column_names(X) != _learned_names(estimator):
            _check_columns(estimator, X, reset=reset)
        return _to_array(estimator, frame_to_numpy(X))
    elif native and is_foreign_array(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return _check_foreign(X)
    elif isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise TypeError(_LAZY)
    try:
        return validate_data(estimator, X, reset=reset, **_ARRAY_RULES)
    except OverflowError:
        X = np.frompyfunc(to_float, 1, 1)(np.asarray(X, dtype=object))
        return validate_data(estimator, X, reset=reset, **_ARRAY_RULES)
    except ValueError:
        _blame_text(X)
        raise


def row_names_of(X: Any, id_column: str | None = None) -> list[Any] | None:
    """Return what rows are called: cells of the id column, or labels of an index of pandas."""
    if id_column is not None:
        if isinstance(X, list) and X and isinstance(X[0], Mapping):
            return [row.get(id_column) for row in X]
        if nw.dependencies.is_into_dataframe(X) and id_column in column_names(X):
            frame = nw.from_native(X, eager_only=True)
            return list(frame[:, column_names(X).index(id_column)].to_list())
    if not nw.dependencies.is_pandas_dataframe(X):
        return None
    labels: list[Any] = X.index.tolist()
    return None if labels == list(range(len(labels))) else labels


def refuse_text(X: Any) -> None:
    """Refuse the name of a file, a dict of columns, or no table at all, in place of a table."""
    if X is None or isinstance(X, Iterator):
        kind = "None" if X is None else f"of the type {type(X).__name__}"
        raise UserError(
            f"X is {kind}, not a table. Give a dataframe, an array, an Arrow table or a list of "
            "dicts; read a file first, such as with pandas.read_csv."
        )
    if isinstance(X, Mapping) and not hasattr(X, "toarray"):  # a sparse matrix of SciPy is one too
        raise UserError(
            "X is a dict, not a table. Make a table of it first, such as pandas.DataFrame(X); one "
            "row as a dict is [X]."
        )
    if isinstance(X, str | bytes | os.PathLike):
        name = os.fspath(X)
        raise UserError(
            f"X is the text {name!r}, not a table. Read the file first, such as with "
            f"pandas.read_csv({name!r}), or learn from files with refold.scale.learn({name!r})."
        )


def to_float(cell: Any) -> float:
    """Return a number as a float: infinity, which is refused by its place, if it is too large."""
    try:
        return float(cell)
    except OverflowError:  # a whole number of more than 308 digits
        return math.inf if cell > 0 else -math.inf


def one_row(X: Any, row: int) -> Any:
    """Return a table of one row of X, of whatever kind that is, without looking at the others."""
    if not -len(X) <= row < len(X):
        raise IndexError(f"There is no row {row}: the table has {len(X)} rows.")
    return take_rows(X, slice(row, row + 1 or None))


def take_rows(X: Any, rows: slice | NDArray[np.intp]) -> Any:
    """Return these rows of X as a table of the same kind."""
    X = batch_to_table(X)
    if not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[rows].to_native()
    if isinstance(X, list) and not isinstance(rows, slice):
        return [X[row] for row in rows]
    return X[rows]


def batch_to_table(X: Any) -> Any:
    """Return an Arrow batch as the table it is part of; everything else as it is.

    A lazy frame of polars has no rows yet, and is refused.
    """
    if nw.dependencies.is_polars_lazyframe(X):
        raise TypeError(_LAZY)
    pa = nw.dependencies.get_pyarrow()  # None as long as nobody has imported it
    return pa.Table.from_batches([X]) if pa and isinstance(X, pa.RecordBatch) else X


_LAZY = "X is a lazy frame: call its collect() first."
_ADVICE = (
    "Encode it as numbers first (scikit-learn's OneHotEncoder for categories, differences or parts "
    "of dates for times) or leave it out."
)

# Neither copied nor searched for infinity as a whole: the engines do that while they read.
_FLOATS = frozenset(map(np.dtype, ("float64", "float32")))
_PLAIN = _FLOATS | frozenset(map(np.dtype, ("bool", *np.typecodes["AllInteger"])))
_ARRAY_RULES = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}


def _as_learned(estimator: Any, X: Any) -> bool:
    """Say whether X is an array that scikit-learn, after a longer look, would return as it is.

    It would warn of one without names where there were names in ``fit``.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in _FLOATS
        and len(X) > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", 0)
        and not hasattr(estimator, "feature_names_in_")
    )


def _learned_names(estimator: Any) -> list[Any] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else names.tolist()


def _blame_text(X: Any) -> None:
    """Say which cell of an array is text that cannot be read as a number."""
    cells = np.asarray(X, dtype=object)
    for row, column in np.ndindex(cells.shape) if cells.ndim == 2 else ():
        value = cells[row, column]
        try:
            float(value)
        except ValueError:
            raise errors.not_a_number(row, column, value) from None
        except TypeError:
            return


def _to_array(estimator: Any, X: NDArray[Any]) -> NDArray[Any]:
    if X.dtype in _FLOATS and X.size > 0:
        return X
    checked: NDArray[Any] = check_array(X, estimator=estimator, input_name="X", **_ARRAY_RULES)
    return checked


def _check_foreign(X: Array) -> Array:
    xp = array_api_compat.array_namespace(X)
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data with "
            "xp.reshape(X, (-1, 1)) if it has a single feature, or (1, -1) if it is a single row."
        )
    if 0 in X.shape:
        raise ValueError(
            f"Found an array of shape {tuple(X.shape)}: at least one row and one column are needed."
        )
    if not xp.isdtype(X.dtype, ("bool", "integral", "real floating")):
        raise ValueError(f"X must hold real numbers, not {X.dtype}.")
    return X


def _check_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Set or compare the column names; say which ones are in the wrong place."""
    names = distinct_names(X)
    try:
        validate_data(estimator, _with_names(X), reset=reset, skip_check_array=True)
    except ValueError as error:
        fitted = list(getattr(estimator, "feature_names_in_", []))
        if sorted(fitted) != sorted(names):
            raise
        moved = [
            f"{there!r} where {wanted!r} was"
            for wanted, there in zip(fitted, names, strict=True)
            if wanted != there
        ]
        more = f" and {len(moved) - 5} more" if len(moved) > 5 else ""
        raise ValueError(
            f"{str(error).rstrip()}\nOut of place: {', '.join(moved[:5])}{more}. "
            "Select the columns as in fit: X[model.feature_names_in_]."
        ) from None


class InterchangeNames:
    """The names of a table's columns, as scikit-learn before 1.9 asks for them.

    It knows pandas, and the interchange protocol, which polars and Arrow have given up.
    """

    def __init__(self, X: Any) -> None:
        self._names = column_names(X)
        self.shape = (len(X), len(self._names))

    def __dataframe__(self) -> InterchangeNames:
        """Return what has ``column_names``."""
        return self

    def column_names(self) -> list[Any]:
        """Return the names."""
        return self._names


def _with_names(X: Any) -> Any:
    """Return what scikit-learn can read the names of columns from."""
    return InterchangeNames(X) if _OLD_NAMES and not hasattr(X, "__dataframe__") else X


def column_names(X: Any) -> list[Any]:
    """Return the names of the columns of a dataframe or Arrow table."""
    columns = getattr(X, "column_names", None)  # Arrow calls its data `columns`
    return list(X.columns if columns is None else columns)


def distinct_names(X: Any) -> list[str]:
    """Return the names of the columns as texts; refuse those that appear more than once."""
    names = list(map(str, column_names(X)))
    if len(set(names)) < len(names):
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"Columns need different names; these appear more than once: {twice}.")
    return names


def frame_to_numpy(X: Any) -> NDArray[Any]:
    """Return a dataframe's values; integers, booleans, decimals and nulls become floats."""
    if nw.dependencies.is_pandas_dataframe(X):
        dtypes = set(X.dtypes.tolist())
        if dtypes <= _PLAIN:  # there are no gaps but NaN; pandas itself is quick about these
            one_kind = len(dtypes) == 1 and dtypes <= _FLOATS
            return np.asarray(X.to_numpy(dtype=None if one_kind else np.float64))
    frame = nw.from_native(X, eager_only=True)
    dtypes = set(frame.schema.values())
    if dtypes in ({nw.Float64}, {nw.Float32}):
        return np.asarray(frame.to_numpy())
    values = np.empty(frame.shape, order="F")
    for j, column in enumerate(frame.iter_columns()):
        values[:, j] = _column_to_numpy(column)
    return values


def _column_to_numpy(column: Any) -> NDArray[np.float64]:
    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        if column.implementation.is_pyarrow():  # whose own cast refuses large whole numbers
            return float_values(column.to_native())
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if dtype == nw.Object:
        try:
            return np.asarray(column.to_numpy(), dtype=np.float64)
        except (TypeError, ValueError):
            pass
    raise ValueError(f"Column {column.name!r} holds {dtype}, not numbers. {_ADVICE}")


def feature_names(estimator: Any) -> list[str]:
    """Return the names of a fitted estimator's features; x0, x1, … if it has none."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(estimator.n_features_in_)]
    return [str(name) for name in names]


def features_of(model: Any, columns: Sequence[str] | None) -> list[str]:
    """Return the columns that the model scores, in its order."""
    check_is_fitted(model)
    names = getattr(model, "feature_names_in_", None)
    if columns is None:
        if names is None:
            raise ValueError(
                "The model was fitted without column names: say with columns= which "
                f"{model.n_features_in_} columns it scores, in the order of its features."
            )
        return list(map(str, names))
    if len(columns) != model.n_features_in_:
        raise ValueError(
            f"columns= has {len(columns)} names; the model has {model.n_features_in_} features."
        )
    if names is not None and list(columns) != list(names):
        raise ValueError(f"columns= says {list(columns)}; the model was fitted on {list(names)}.")
    return list(columns)


def feature_number(estimator: Any, feature: int | str) -> int:
    """Return the number of a fitted estimator's feature, given by number or by name."""
    count, names = estimator.n_features_in_, list(getattr(estimator, "feature_names_in_", []))
    if isinstance(feature, str):
        if feature in names:
            return names.index(feature)
        known = f"It has {names}." if names else f"It has {count} features without names."
        raise ValueError(f"The model has no feature {feature!r}. {known}")
    if not 0 <= feature < count:
        raise ValueError(f"The model has no feature {feature}: they are numbered 0 to {count - 1}.")
    return int(feature)


def read_weights(rows: int, sample_weight: Array | None) -> NDArray[np.float64] | None:
    """Return checked weights, one for each of so many rows; None if all rows count once."""
    if sample_weight is None:
        return None
    if is_foreign_array(sample_weight):
        sample_weight = to_numpy(sample_weight)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(rows, sample_weight)
    weights: NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight"
    )
    if weights.shape != (rows,):
        raise ValueError(
            f"sample_weight has the shape {weights.shape}: it needs one weight for each of the "
            f"{rows} rows."
        )
    if (negative := np.flatnonzero(weights < 0)).size:
        row = int(negative[0])
        raise ValueError(f"sample_weight is negative in row {row}: {weights[row]:g}.")
    if rows and not weights.any():
        raise ValueError("sample_weight is zero in every row: nothing is left to learn from.")
    return weights


def check_enough(rows: int, weights: NDArray[np.float64] | float | None) -> None:
    """Refuse to learn from rows that are too few, or weigh too little, for a variance."""
    if weights is None and rows < 2:
        raise ValueError(
            f"Found array with {rows} sample(s) (n_samples={rows}): a standard deviation needs at "
            "least 2 rows. Add rows, or give the row a sample_weight above 1 if it stands for "
            "several."
        )
    if weights is None:
        return
    with np.errstate(over="ignore"):
        total = float(np.sum(weights))
    if not 1.0 < total <= MOST_WEIGHT:
        raise ValueError(
            f"sample_weight sums to {total:g}. Weights are frequencies: the variance divides by "
            f"their sum minus 1, and above {MOST_WEIGHT:g} squares overflow. Please rescale them, "
            "for example to a mean of 1."
        )


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


def is_bytes(kind: Any) -> bool:
    """Whether an Arrow type holds bytes, which may be text in any encoding, or none."""
    is_ = needs("pyarrow", "parquet").types
    kinds = (is_.is_binary, is_.is_large_binary, is_.is_binary_view, is_.is_fixed_size_binary)
    return any(is_kind(kind) for is_kind in kinds)


PERIODS = (
    "holds periods of pandas, which Arrow and Parquet only count: write them as texts, by "
    ".astype(str)."
)


def is_period(field: Any) -> bool:
    """Whether a field of Arrow holds periods of pandas, or categories that are such."""
    if (field.metadata or {}).get(b"ARROW:extension:name") == b"pandas.period":
        return True  # where pandas is not imported, Arrow does not know the type
    kind = getattr(field.type, "value_type", field.type)
    return getattr(kind, "extension_name", "") == "pandas.period"


def type_text(kind: Any) -> str:
    """Say what a column holds that holds neither numbers nor text."""
    times = needs("pyarrow", "parquet").types.is_temporal(kind)
    return f"{'dates or times' if times else 'something else than numbers'} ({kind})"


def float_values(values: Any) -> Floats:
    """Return a column of numbers as floats, NaN where it is null; without a copy if possible.

    As everywhere in Python, whole numbers beyond 2**53 become the nearest float.
    """
    pa = needs("pyarrow", "parquet")
    if values.type != pa.float64():
        values = values.cast(pa.float64(), safe=False)
    converted: Floats = values.to_numpy(zero_copy_only=False)
    return converted
