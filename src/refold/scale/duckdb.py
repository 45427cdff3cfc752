"""DuckDB: what a query gives is learned and judged as it comes, in the database's own process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from refold.models.creased import CreasedREF
from refold.models.detector import Detector
from refold.models.parts import check_learnable
from refold.models.ref import REF
from refold.scale._learning import learn_table
from refold.scale._query import QueryTable
from refold.scale._scoring import Scored


def learn(
    con: Any,
    query: str,
    model: REF | CreasedREF | Detector | None = None,
    *,
    columns: Sequence[str] | None = None,
    in_database: bool = False,
    progress: bool = True,
) -> REF | CreasedREF | Detector:
    """Learn what is normal from the rows that a query gives, however many.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Where to ask; it must not be used by others meanwhile.
    query : str
        A ``select``, or the name of a table. It is asked once for a REF and twice for others, and
        must give the same rows in the same order: tables and files do; after a join or a
        ``group by``, say ``order by``.
    model : Detector, CreasedREF or REF, default=None
        The model to fit; None is ``Detector()``. As by its own ``fit``, what it knew before is
        replaced; if anything fails, it stays as it was. A REF has the engine ``"auto"`` or
        ``"sketch"``.
    columns : sequence of str, default=None
        The columns to learn; None is all. REF and CreasedREF learn numbers.
    in_database : bool, default=False
        Let the database count, by ``group by``: of more than 20,000 rows only a sample to hold out
        leaves it, about 21,000 (or a little more than 2/alpha). For REF, and columns of a numeric
        type. Where the database is on another machine this is what to do; here it takes longer.
    progress : bool, default=True
        Show a bar with rows per second, if rich is installed and there is a terminal.

    Returns
    -------
    Detector, CreasedREF or REF
        The fitted model: that of :func:`refold.scale.learn` on the same rows in files.

    Examples
    --------
    >>> import duckdb
    >>> from refold import scale
    >>> con = duckdb.connect()
    >>> _ = con.execute("create table parts as select 75 + i % 7 as torque from range(500) t(i)")
    >>> model = scale.duckdb.learn(con, "select * from parts")
    >>> model.predict([{"torque": 76}, {"torque": 99}])
    array([ 1, -1])
    """
    model = Detector() if model is None else model
    check_learnable(model)
    if in_database and not isinstance(model, REF):
        raise ValueError(
            f"in_database=True is for REF, not for {type(model).__name__}, which needs more of the "
            "rows than their counts."
        )
    with QueryTable(con, query) as table:
        return learn_table(table, model, columns, progress=progress, in_database=in_database)


def score(
    model: REF | CreasedREF | Detector,
    con: Any,
    query: str,
    *,
    reasons: int = 3,
    columns: Sequence[str] | None = None,
    prefix: str = "",
) -> Any:
    """Judge the rows that a query gives, as they are asked for.

    Parameters
    ----------
    model : Detector, CreasedREF or REF
        Fitted.
    con : duckdb.DuckDBPyConnection
        Where to ask; it must not be used by others before all is read.
    query : str
        A ``select``, or the name of a table.
    reasons : int, default=3
        How many reasons to give; without any, shares are not computed, which is faster.
    columns : sequence of str, default=None
        Only for a model that was fitted without names: its columns, in its order.
    prefix : str, default=""
        Stands before the names of the new columns.

    Returns
    -------
    pyarrow.RecordBatchReader
        All columns and rows of the query, and what :func:`refold.scale.score` adds.

    Examples
    --------
    >>> import duckdb
    >>> from refold import scale
    >>> con = duckdb.connect()
    >>> _ = con.execute("create table parts as select 75 + i % 7 as torque from range(500) t(i)")
    >>> model = scale.duckdb.learn(con, "select * from parts")
    >>> found = scale.duckdb.score(model, con, "select 76 as torque union all select 99", reasons=0)
    >>> sorted(found.read_all()["label"].to_pylist())
    [-1, 1]
    """
    return Scored(model, QueryTable(con, query), reasons, columns, prefix, show=False).reader()
