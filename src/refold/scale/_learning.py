"""Files of any format and size: one model of all their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload
from warnings import warn

from refold.models.creased import CreasedREF
from refold.models.detector import Detector
from refold.models.parts import Header, TableParts, check_learnable, learn_parts
from refold.models.ref import REF
from refold.scale._columnwise import ColumnParts
from refold.scale._database import DatabaseParts
from refold.scale._query import QueryTable
from refold.scale.blocks import BlockParts, Ready, number_tables, typed_tables
from refold.tabular import InputError
from refold.tabular.errors import listed
from refold.tabular.features import LOOKED_AT, not_numbers
from refold.tabular.files import Files, Paths

Model = TypeVar("Model", REF, CreasedREF, Detector)


@overload
def learn(
    source: Paths,
    model: None = None,
    *,
    columns: Sequence[str] | None = None,
    reading: Mapping[str, Any] | None = None,
    progress: bool = True,
) -> Detector: ...
@overload
def learn(
    source: Paths,
    model: Model,
    *,
    columns: Sequence[str] | None = None,
    reading: Mapping[str, Any] | None = None,
    progress: bool = True,
) -> Model: ...
def learn(
    source: Paths,
    model: REF | CreasedREF | Detector | None = None,
    *,
    columns: Sequence[str] | None = None,
    reading: Mapping[str, Any] | None = None,
    progress: bool = True,
) -> REF | CreasedREF | Detector:
    r"""Learn what is normal from files of any format and size.

    Parameters
    ----------
    source : path or sequence of paths
        Files, folders (their files, sorted by name) or patterns such as ``"2026-*.parquet"``. What
        they are, their content says: CSV in any dialect, Excel, JSON, Parquet or Arrow, packed or
        not.
    model : Detector, CreasedREF or REF, default=None
        The model to fit; None is ``Detector()``. As by its own ``fit``, what it knew before is
        replaced; if anything fails, it stays as it was. A REF has the engine ``"auto"`` or
        ``"sketch"``.
    columns : sequence of str, default=None
        The columns to learn; None is all. REF and CreasedREF learn numbers.
    reading : mapping or None, default=None
        How files are read: arguments of `refold.tabular.open_table`, such as ``{"decimal": ","}``
        or ``{"keep": ["none"]}``.
    progress : bool, default=True
        Show a bar with rows per second, if rich is installed and there is a terminal.

    Returns
    -------
    Detector, CreasedREF or REF
        The fitted model.

    Notes
    -----
    Up to 20,000 rows are learned by the model's own ``fit``. Of more, one in ten is held out, at
    most 20,000 (or 2/alpha, if that is more), and sets the threshold: a new normal row is then
    rejected with a probability of at most `alpha`, whatever the distribution. Which rows these are
    depends on their places in the table alone. A REF takes one pass over the files, the others two:
    the first one draws the rows that make the creases or say what columns are.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold import scale
    >>> folder = Path(tempfile.mkdtemp())
    >>> for day in range(3):
    ...     rows = [f"{'AB'[k % 2]},{75 + k % 7}" for k in range(day, 200 + day)]
    ...     _ = (folder / f"{day}.csv").write_text("\n".join(["machine,torque", *rows]))
    >>> model = scale.learn(folder)
    >>> [f"{column.name}: {column.role}" for column in model.columns_]
    ['machine: category', 'torque: number']
    >>> _ = (folder / "new.csv").write_text("torque,machine\n76,A\n77,Z\n")
    >>> scored = scale.score(model, folder / "new.csv", reasons=1)
    >>> scored.read_all().select(["label", "reason_1"]).to_pylist()[1]
    {'label': -1, 'reason_1': 'machine'}
    """
    model = Detector() if model is None else model
    check_learnable(model)
    return learn_table(
        Files(source, lambda found: warn(str(found), stacklevel=4), reading),
        model,
        columns,
        progress=progress,
    )


def learn_table(
    table: Files | QueryTable,
    model: REF | CreasedREF | Detector,
    columns: Sequence[str] | None,
    *,
    progress: bool,
    in_database: bool = False,
) -> REF | CreasedREF | Detector:
    """Learn from a table that can be read more than once; see :func:`learn`."""
    read: Sequence[str]
    if isinstance(model, Detector):
        names = _columns_of_any_kind(table, columns)
        read = _used(names, model)
    else:
        find = _columns_of_any_kind if in_database else _columns_of_numbers
        names = read = find(table, columns)
    as_rows = typed_tables if isinstance(model, Detector) else number_tables

    def blocks(columns: Sequence[str], rows: int) -> Iterator[Ready]:
        numbers = () if isinstance(model, Detector) else columns
        return as_rows(table.blocks(columns, numbers=numbers, rows=rows), columns)

    how: dict[str, Any] = {"rows": table.rows, "n_jobs": model.n_jobs, "show": progress}
    parts: TableParts
    if isinstance(table, QueryTable) and in_database:
        parts = DatabaseParts(table, read)
    elif isinstance(model, REF) and table.by_column:
        parts = ColumnParts(blocks, read, **how)
    else:
        parts = BlockParts(lambda rows: blocks(read, rows), read, **how)
    return learn_parts(model, parts, Header(tuple(names)))


def _used(names: Sequence[str], model: Detector) -> list[str]:
    """Return the columns that are not ignored from the beginning."""
    return [name for name in names if (model.roles or {}).get(name) != "ignore"]


def _columns_of_any_kind(table: Files | QueryTable, columns: Sequence[str] | None) -> Sequence[str]:
    if columns is not None:
        table.require(columns)
        return columns
    table.require_same()
    return table.names


def _columns_of_numbers(table: Files | QueryTable, columns: Sequence[str] | None) -> Sequence[str]:
    """Return the columns to learn; refuse those that do not hold numbers."""
    if columns is None and table.unnamed:
        raise InputError(
            f"{table.name}: column {table.names.index(table.unnamed[0]) + 1} has no name. If it "
            "only numbers the rows, say with columns= which ones to learn."
        )
    columns = _columns_of_any_kind(table, columns)
    first = next(table.blocks(columns, rows=LOOKED_AT), None)
    if first is None:
        raise InputError(f"There are no rows in {table.name}.")
    if others := not_numbers(first, columns):
        name, problem = next(iter(others.items()))
        more = f" The same goes for {listed(list(others)[1:], 5)}." if len(others) > 1 else ""
        raise InputError(
            f"{first.file}: column {name!r} holds {problem}.{more} Say with columns= which ones to "
            "learn, or learn a Detector, which takes columns of any kind."
        )
    table.require_numbers(columns)
    return columns
