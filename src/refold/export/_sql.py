"""A model as one SQL statement: label, distance and reasons where the rows already are."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sklearn.utils.validation import check_is_fitted

from refold.base.advice import Advice
from refold.base.errors import UserError
from refold.base.needs import needs
from refold.columns.frames import features_of
from refold.export._sql_names import (
    LIMITS,
    check_apart,
    check_names,
    parts_of,
)
from refold.models.creased import CreasedREF
from refold.models.detector import Detector
from refold.models.ref import REF

__all__ = ["to_sql"]

_OTHER_NAMES = {"postgresql": "postgres"}


def to_sql(
    model: REF | Detector,
    table: str | Sequence[str],
    dialect: str,
    *,
    view: str | Sequence[str] | None = None,
    prefix: str = "",
    reasons: int = 3,
    columns: Sequence[str] | None = None,
    without: Collection[str] = (),
) -> str:
    """Return a statement that judges every row of a table, with the answers of ``predict``.

    It selects all columns of the table, then `label` (1 normal, -1 not), `distance` and
    `reason_1` …: the columns with the largest shares of an outlier's distance, NULL where there
    are fewer. NULL and NaN are missing values. A row that Python refuses, because it has infinity
    in it or, but for a Detector, nothing at all, has NULL for all answers.

    Of a mixed table, columns may be of types for numbers, dates and truth values, or texts that are
    written as in training. What cannot be said in a database is refused by the column's name.

    Parameters
    ----------
    model : REF or Detector
        A fitted model: REF with a named fold and distance, or ``Detector(method="ref")``.
    table : str or sequence of str
        The table (or view) with the model's features. ``"schema.table"`` is split at the dots; a
        sequence, such as ``("schema", "odd.name")``, is not. Names are quoted, so upper and lower
        case must be that of the database: Snowflake's are ``"READINGS"`` unless created otherwise.
    dialect : {"duckdb", "postgres", "sqlite", "snowflake", "bigquery"}
        The database. ``"postgresql"`` is another name for ``"postgres"``.
    view : str or sequence of str, default=None
        Create a view with this name rather than select.
    prefix : str, default=""
        Beginning of the names of the added columns, where the table has some of them already.
    reasons : int, default=3
        How many reasons to give.
    columns : sequence of str, default=None
        The table's columns in the order of the features, for a model fitted without names.
    without : collection of {"shape", "character"}, default=()
        What not to look at in texts that were never seen: SQLite has no regular expressions. Such
        texts are then judged by being new alone, and answers can differ from Python's.

    Returns
    -------
    str
        One statement, without a semicolon at its end.

    Notes
    -----
    SQLite needs version 3.38, and its mathematical functions (which Python's has) for the distance
    ``"l2"`` and the folds cos-abs, cos, sin and tanh.

    Examples
    --------
    >>> import duckdb
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.export import to_sql
    >>> rng = np.random.default_rng(0)
    >>> model = REF().fit(rng.normal(size=(500, 2)))
    >>> statement = to_sql(model, "readings", "duckdb", reasons=1, columns=["heat", "flow"])
    >>> with duckdb.connect() as connection:
    ...     _ = connection.execute("CREATE TABLE readings AS SELECT 7 id, 0.1 heat, 9 flow")
    ...     id, heat, flow, label, distance, reason = connection.execute(statement).fetchone()
    >>> id, label, reason
    (7, -1, 'flow')
    """
    needs("sqlglot", "sql")
    dialect = known_dialect(dialect)
    _check_model(model)
    if isinstance(reasons, bool) or not isinstance(reasons, int) or reasons < 0:
        raise ValueError(f"reasons={reasons!r} is not a number of columns: 0, 1, 2 …")
    groups = _group_columns(model, columns, dialect)
    features = _features(model, columns)
    answers = [prefix + name for name in ("label", "distance")]
    answers += [f"{prefix}reason_{rank}" for rank in range(1, reasons + 1)]
    target = parts_of(table, "table")
    made = [] if view is None else parts_of(view, "view")
    check_names([*features, *answers, *target, *made], dialect)
    check_apart(features, answers, dialect)
    check_names(list(groups.values()), dialect)
    if without and not isinstance(model, Detector):
        raise ValueError(f"without={without!r} is for a Detector; this is a REF.")
    from refold.export._sql_query import detector_stages, ref_stages, statement

    if isinstance(model, Detector):
        stages = detector_stages(model, without, dialect)
    else:
        stages = ref_stages(model)
    found = statement(model, stages, features, groups, answers, target, made, dialect)
    _check_length(found, dialect)
    return found


def known_dialect(dialect: str) -> str:
    """Return the name that is used here for a database; refuse others."""
    name = _OTHER_NAMES.get(str(dialect).lower(), str(dialect).lower())
    if name not in LIMITS:
        raise ValueError(f"dialect={dialect!r} is not among {', '.join(LIMITS)}.")
    return name


def _check_model(model: REF | Detector) -> None:
    if isinstance(model, Detector):
        check_is_fitted(model)
        if isinstance(model.model_, CreasedREF):
            raise UserError(
                "This model judges columns together, by CreasedREF, which cannot be written as "
                "SQL.",
                advice=Advice("Learn one that judges each by itself", "method", value="ref"),
            )
        return
    # A subclass that judges otherwise would get the answers of another model.
    if not isinstance(model, REF) or type(model).score_samples is not REF.score_samples:
        raise TypeError(
            f"Only REF models and Detector can be written as SQL, not {type(model).__name__}."
        )
    check_is_fitted(model)
    for what in ("fold", "distance"):
        if callable(getattr(model, what)):
            raise ValueError(
                f"The {what} {getattr(model, what)!r} is a function in Python and cannot be "
                f"written as SQL. Use one of the named ones."
            )


def _features(model: REF | Detector, columns: Sequence[str] | None) -> list[str]:
    """Return the table's columns that the model judges."""
    if not isinstance(model, Detector):
        return features_of(model, columns)
    theirs = _names_in_table(model, columns)
    return [theirs[name] for name in model.encoder_.counts.plan.names]


def _names_in_table(model: Detector, columns: Sequence[str] | None) -> dict[str, str]:
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    return dict(zip(map(str, names), features_of(model, columns), strict=True))


def _group_columns(
    model: REF | Detector, columns: Sequence[str] | None, dialect: str
) -> dict[str, str]:
    """Return the table's columns that say of which group a row is, by the model's names."""
    context = model.encoder_.context if isinstance(model, Detector) else None
    if not isinstance(model, Detector) or context is None:
        return {}
    from refold.export._sql_groups import check_groups

    check_groups(context, dialect)
    theirs = _names_in_table(model, columns)
    return {name: theirs[name] for name in context.given.by}


def _check_length(statement: str, dialect: str) -> None:
    size, most = len(statement.encode()), LIMITS[dialect].statement_bytes
    if most and size > most:
        raise ValueError(
            f"The statement would take {size:,} bytes; {dialect} reads at most {most:,}. Fit the "
            "model on fewer features or with a smaller n_iter, or with levels='last'."
        )
