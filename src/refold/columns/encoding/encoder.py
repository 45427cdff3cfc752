"""TableEncoder, the estimator."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from refold._typing import Floats
from refold.base.arrays import is_foreign_array, to_numpy
from refold.base.errors import UserError
from refold.base.findings import Finding
from refold.base.learning import learning
from refold.base.parameters import Interval, validate_parameters
from refold.columns.context.context import ContextModel
from refold.columns.context.history import History
from refold.columns.conversion import is_table, of_objects, to_table
from refold.columns.encoding.column_info import ColumnInfo, ColumnInfos, column_info
from refold.columns.encoding.counts import Encoded, TableCounts
from refold.columns.encoding.plan import Plan
from refold.columns.encoding.state import TableState
from refold.columns.frames import (
    batch_to_table,
    distinct_names,
    feature_names,
    frame_to_numpy,
    refuse_text,
)
from refold.columns.missing import number_codes
from refold.columns.table import Table

N_INIT = 10_000


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns a table of any columns into numbers: how surprising each cell is, beside the numbers.

    Of a table that has columns of texts, categories or dates, every column gets a magnitude: how
    surprising its cell is, 0 for what is usual. Columns of numbers come first, as they are, then 0
    and 1 for each value of categories that have few. A table of numbers alone is passed on
    unchanged.

    Read more in ``docs/tables.md``.

    Parameters
    ----------
    roles : dict of str to str or None, default=None
        What columns are, where the guess would be wrong: "number", "category", "text",
        "identifier", "date" or "ignore".
    n_init : int, default=10_000
        How many of the first rows decide what each column is.
    n_jobs : int or None, default=None
        Threads for columns of numbers; None is all cores that the process may use.

    Attributes
    ----------
    columns_ : ColumnInfos
        How each column was read, and what was noticed: a list, with ``to_frame``.
    noticed_ : tuple of Finding
        All that was noticed.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Notes
    -----
    ``fit(X).transform(X)`` is not ``fit_transform(X)`` where there are texts or dates: the latter
    looks at each row as if it had not been counted, as a new row will be. What learns from the
    magnitudes should learn from those.

    Examples
    --------
    >>> from refold import TableEncoder
    >>> rows = [{"machine": "A" if k % 3 else "B", "torque": 75 + k % 7} for k in range(60)]
    >>> encoder = TableEncoder().fit(rows)
    >>> encoder.get_feature_names_out()
    array(['torque', 'machine=A', 'surprise(machine)', 'surprise(torque)'], dtype=object)
    >>> new = encoder.transform([{"machine": "A", "torque": 76}, {"machine": "Z", "torque": 76}])
    >>> bool(new[0, 2] < 1 < new[1, 2])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "roles": [dict, None],
        "n_init": [Interval(Integral, 2, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    _state: TableState

    def __init__(
        self,
        *,
        roles: Mapping[str, str] | None = None,
        n_init: int = N_INIT,
        n_jobs: int | None = None,
    ) -> None:
        self.roles = roles
        self.n_init = n_init
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn what each column is and count what it holds.

        Parameters
        ----------
        X : dataframe, Arrow table, list of dict or array of shape (n, d)
            Rows.
        y : object, default=None
            Not used; there by scikit-learn's convention.

        Returns
        -------
        TableEncoder
            The encoder itself.
        """
        self.fit_table(X)
        return self

    def fit_table(self, X: Any) -> Table:
        """Learn from rows and return them parsed; columns that are ignored stay as they came."""
        with learning(self) as encoder:
            validate_parameters(encoder)
            nothing = encoder._nothing()
            plan, table = Plan.of(encoder.read(X, reset=True), nothing.roles, self.n_init)
            counts = TableCounts.of(plan, table, n_jobs=self.n_jobs)
            encoder._state = nothing.with_counts(counts)
        return table

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Go on counting.

        As long as there are fewer than `n_init` rows they are kept; then it is decided what each
        column is. The result is that of ``fit`` on all rows.

        Parameters
        ----------
        X : dataframe, Arrow table, list of dict or array of shape (n, d)
            More rows.
        y : object, default=None
            Not used; there by scikit-learn's convention.

        Returns
        -------
        TableEncoder
            The encoder itself.
        """
        with learning(self) as encoder:
            validate_parameters(encoder)
            first = not hasattr(encoder, "_state")
            table = encoder.read(X, reset=first)
            state = encoder._nothing() if first else encoder._state
            encoder._state = state.plus_rows(table, n_jobs=encoder.n_jobs)
        return self

    def forget(self, X: Any) -> Self:
        """Undo the counting of rows; what each column is, and from when to when dates go, stays.

        Parameters
        ----------
        X : dataframe, Arrow table, list of dict or array of shape (n, d)
            Rows that were counted.

        Returns
        -------
        TableEncoder
            The encoder itself; as it was if the rows were never counted.
        """
        check_is_fitted(self)
        with learning(self) as encoder:
            less = TableCounts.of(encoder.counts.plan, encoder.read(X, reset=False))
            encoder._state = encoder._state.with_counts(encoder.counts.minus(less))
        return self

    def merge(self, other: TableEncoder) -> TableEncoder:
        """Return one encoder that has counted the rows of both.

        Parameters
        ----------
        other : TableEncoder
            One that takes columns for the same, such as a copy that has gone on counting elsewhere
            from none: ``copy.deepcopy(encoder).forget(rows)``.

        Returns
        -------
        TableEncoder
            A new encoder.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if different := self.counts.plan.differing(other.counts.plan):
            raise ValueError(
                f"The encoders take columns for different things: {different[:5]}. Give them the "
                "same roles, or let one go on from a copy of the other."
            )
        with learning(copy(self)) as encoder:
            encoder._state = encoder._state.with_counts(self.counts.plus(other.counts))
        return encoder

    def transform(self, X: Any) -> Floats:
        """Return rows as numbers and magnitudes.

        Parameters
        ----------
        X : dataframe, Arrow table, list of dict or array of shape (n, d)
            Rows; columns are found by name.

        Returns
        -------
        ndarray of shape (n, number of features out)
        """
        check_is_fitted(self)
        return features(self.encode(self.read(X, reset=False)))

    def fit_transform(self, X: Any, y: object = None, **fit_params: Any) -> Floats:
        """Learn from rows and return them as if each had been left out.

        Parameters
        ----------
        X : dataframe, Arrow table, list of dict or array of shape (n, d)
            Rows.
        y : object, default=None
            Not used; there by scikit-learn's convention.
        **fit_params : dict
            Not used.

        Returns
        -------
        ndarray of shape (n, number of features out)
        """
        return features(self.encode(self.fit_table(X), left_out=True))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the features out.

        Parameters
        ----------
        input_features : object, default=None
            Not used; there by scikit-learn's convention.

        Returns
        -------
        ndarray of str
            Columns of numbers, ``column=value`` for categories with few frequent values, then
            ``surprise(column)`` for every column.
        """
        check_is_fitted(self)
        plan = self.counts.plan
        names = [plan.names[k] for k in plan.numbers]
        names += [f"{column.name}={value}" for column in plan.used for value in column.indicators]
        if not plan.plain:
            names += [f"surprise({name})" for name in plan.names]
        return np.array(names, dtype=object)

    @property
    def columns_(self) -> ColumnInfos:
        """How each column was read."""
        check_is_fitted(self)
        used = {
            name: column_info(self.counts, k, self._noticed_about(name))
            for k, name in enumerate(self.counts.plan.names)
        }
        for name in self.scored:  # how far numbers are off is counted, not they themselves
            used[name] = replace(used[name], low=None, high=None, example="")
        return ColumnInfos(used.get(name) or self._ignored(name) for name in feature_names(self))

    @property
    def noticed_(self) -> tuple[Finding, ...]:
        """What stood out."""
        check_is_fitted(self)
        noticed = self.counts.plan.noticed
        if self.context is None:
            return noticed
        judged = self.counts.plan.names  # what is said of others was noticed before
        others = {*judged, *self.context.given.names}
        return (*noticed, *(each for each in self.inputs.noticed if each.column not in others))

    @property
    def context(self) -> ContextModel | None:
        """What numbers should be in their context; None where there is none."""
        found = self._state.read_by
        return None if found is None else found[1]

    @property
    def scored(self) -> Collection[str]:
        """The columns whose numbers are standard deviations from what their context expects."""
        return () if self.context is None else self.context.columns.keys()

    @property
    def inputs(self) -> Plan:
        """The columns to read: those that are judged, and those of their context."""
        found = self._state.read_by
        return self.counts.plan if found is None else found[0]

    @property
    def state(self) -> TableState:
        """What was learned of the table so far."""
        return self._state

    def with_state(self, state: TableState) -> TableEncoder:
        """Return an encoder of the same columns that has learned something else."""
        encoder = copy(self)
        encoder._state = state
        return encoder

    @property
    def counts(self) -> TableCounts:
        """All that is kept of the rows."""
        return self._state.ready

    def encode(self, table: Table, *, left_out: bool = False) -> Encoded:
        """Return rows that were read as numbers, magnitudes, and which cells are novel."""
        return self.counts.encode(table, left_out=left_out, n_jobs=self.n_jobs)

    def plain_rows(self, X: Any) -> Floats | None:
        """Return the numbers of a table that holds nothing else, if no more than these is learned.

        This is the short way; None is returned where it does not lead.
        """
        plan = self.counts.plan
        if (
            not plan.plain
            or isinstance(X, list)
            or self.context is not None
            or any(number_codes(column.missing) for column in plan.used)
        ):
            return None
        if isinstance(X, np.ndarray):
            if X.dtype.kind != "f" or len(plan.used) < len(plan.columns):
                return None
            self._check_width(X)
            return np.asarray(validate_data(self, X, reset=False, ensure_all_finite=False))
        X = batch_to_table(X)
        if not is_table(X):
            return None
        distinct_names(X)
        frame = nw.from_native(X, eager_only=True)
        kinds = frame.schema
        if plan.not_meant:
            return None  # their types matter
        if not all(name in kinds and kinds[name].is_numeric() for name in plan.names):
            return None
        if any(kinds[name] == nw.Float32 for name in plan.names):
            return None  # to be read as what they stand for
        return frame_to_numpy(frame.select(plan.names).to_native())

    def read(
        self,
        X: Any,
        *,
        reset: bool,
        all_columns: bool = False,
        history: History | None = None,
    ) -> Table:
        """Read a table and check (or, with `reset`, learn) its columns; or read all of them.

        With a window, rows follow those of the `history`, if there is one.
        """
        X = to_numpy(X) if is_foreign_array(X) else X
        if not isinstance(X, Table) and not is_table(X):
            numbers = self._read_array(X, reset=reset)
            if reset or self.context is None:
                return numbers
            X = numbers
        ignore = {name for name, role in (self.roles or {}).items() if role == "ignore"}
        if reset:
            table, names = _with_names(X, ignore)
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)
            self._check_roles(names)
            return table.select([name for name in table.names if name not in ignore])
        if all_columns:
            wanted = [name for name in self._state.names if name not in ignore]
        else:
            columns, wanted = self.counts.plan.columns, self.counts.plan.names
            ignore.update(column.name for column in columns if column.role == "ignore")
        counts = self._state.counts
        as_texts = () if counts is None else self.inputs.as_texts
        table = X if isinstance(X, Table) else to_table(X, ignore, set(as_texts))
        if counts is not None and table is not X:
            self.inputs.check_types(table)
        if not all_columns and self.context is not None and table.inputs is None:
            inputs = self.inputs.parse(self._find_columns(table, self.inputs.names))
            return self.context.apply(self.context.with_window(inputs, history))
        return self._find_columns(table, wanted)

    def _read_array(self, X: Any, *, reset: bool) -> Table:
        refuse_text(X)
        if not reset:
            self._check_width(X)
        X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported: split it into two columns.")
        names = feature_names(self)
        if X.dtype.kind in "biuf":
            return Table.of_numbers(names, X.T)
        columns = [of_objects(name, x.tolist()) for name, x in zip(names, X.T, strict=True)]
        return Table(names, columns, len(X))

    def _check_width(self, X: Any) -> None:
        """Refuse an array with other columns, without the name of what is inside a model."""
        shape = np.asarray(X).shape
        if len(shape) == 2 and shape[1] != self.n_features_in_:
            raise UserError(
                f"X has {shape[1]} features, but refold is expecting {self.n_features_in_} "
                "features as input: the columns that were learned."
            )

    def _check_roles(self, names: list[str]) -> None:
        unknown = [name for name in self.roles or {} if name not in names]
        if unknown:
            raise UserError(
                f"roles= names columns that are not there: {unknown}. There are {names}."
            )

    def _find_columns(self, table: Table, wanted: list[str]) -> Table:
        absent = [name for name in wanted if name not in table.names]
        if absent:
            raise UserError(
                f"The feature names should match those that were passed during fit. There is no "
                f"column {', '.join(map(repr, absent[:5]))}; the table has {table.names[:20]}."
            )
        return table.select(wanted)

    def _ignored(self, name: str) -> ColumnInfo:
        given = self.context is not None and name in self.context.given.names
        role = "context" if given else "ignore"
        return ColumnInfo(name, role, (), None, 0, 0, None, self._noticed_about(name))

    def _noticed_about(self, name: str) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.noticed_ if finding.column == name)

    def _nothing(self) -> TableState:
        return TableState(dict(self.roles or {}), self.n_init)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _with_names(X: Any, ignore: Collection[str]) -> tuple[Table, list[str]]:
    """Return the columns of X, but for those to be ignored, and the names of all."""
    if isinstance(X, Table | list):
        table = X if isinstance(X, Table) else to_table(X)
        return table, table.names
    return to_table(X, ignore), distinct_names(batch_to_table(X))


def features(encoded: Encoded) -> Floats:
    """Return numbers and magnitudes side by side."""
    if encoded.magnitudes.shape[1] == 0:
        return encoded.numbers
    return np.hstack([encoded.numbers, encoded.indicators, encoded.magnitudes])
