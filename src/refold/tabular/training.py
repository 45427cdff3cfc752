"""The rows to learn from: which columns, which rows, categories as features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.base.needs import needs
from refold.columns.arrow import described, is_number, is_text
from refold.columns.observed import is_missing
from refold.tabular import cells
from refold.tabular.errors import InputError, listed, quoted
from refold.tabular.features import EQUALS, OTHER, Category, Column, stack
from refold.tabular.heading import is_moment
from refold.tabular.table import Block, Table

MOST_CATEGORIES = 100
LOOKED_AT = 1000  # rows that say whether a column is text


@dataclass(frozen=True)
class Wanted:
    """What someone wants to learn of a table.

    Parameters
    ----------
    columns : sequence of str or None
        The columns to learn; None is all.
    categorical : sequence of str
        Those of them that hold categories.
    ignore_text : bool
        Whether columns that hold neither numbers nor categories are left out, or refused.
    target_column, target : str or None
        Learn only the rows that have this value in this column.
    """

    columns: Sequence[str] | None = None
    categorical: Sequence[str] = ()
    ignore_text: bool = False
    target_column: str | None = None
    target: str | None = None


@dataclass(frozen=True)
class Training:
    """Rows to learn from.

    Parameters
    ----------
    names : list of str
        The features.
    X : ndarray of shape (rows, features)
        Their values, NaN where one is missing.
    rows_read : int
        How many rows the table has; those with another target are not in `X`.
    ignored : list of str
        Columns that hold no numbers and were left out.
    """

    names: list[str]
    X: Floats
    rows_read: int
    ignored: list[str] = field(default_factory=list)


def read_training(
    table: Table, wanted: Wanted, count: Callable[[int], None] = lambda rows: None
) -> Training:
    """Read all rows to learn from; `count` is told how many rows have been read."""
    for columns in (wanted.columns or (), wanted.categorical):
        table.require(columns)
    if wanted.target_column is not None:
        table.require([wanted.target_column])
    chosen = _Chosen(table, wanted)
    parts: list[Floats] = []
    words: dict[str, list[Any]] = {name: [] for name in chosen.categorical}
    seen: Counter[str] = Counter()
    read = 0
    for block in table.blocks(chosen.needed, numbers=chosen.others):
        read += block.rows
        count(block.rows)
        rows = _targets(block, wanted, seen)
        if rows.rows == 0:
            continue
        parts.append(chosen.numbers(rows))
        for name, texts in words.items():
            texts.append(rows.texts(name))
    if read == 0:
        raise InputError(f"{table.name} has column names but no rows.")
    if not parts:
        raise InputError(
            f"{table.name}: no row has {wanted.target!r} in column {wanted.target_column!r}. "
            f"Found there: {listed([value for value, _ in seen.most_common()])}."
        )
    names, features = chosen.numeric, [np.concatenate(parts)]
    for name, texts in words.items():
        joined = needs("pyarrow", "parquet").concat_arrays(texts)
        category = _categories(table, name, joined)
        names = names + category.names
        features.append(category.numbers(joined))
    X = features[0] if len(features) == 1 else np.hstack(features)
    return Training(names, X, read, chosen.ignored)


class _Chosen:
    """The columns to learn; which of them hold numbers is seen when the first rows are there."""

    def __init__(self, table: Table, wanted: Wanted) -> None:
        self._table, self._wanted = table, wanted
        named = list(wanted.columns) if wanted.columns is not None else list(table.names)
        named = [name for name in named if name != wanted.target_column]
        named = list(dict.fromkeys([*named, *wanted.categorical]))
        categories = set(wanted.categorical)
        self.categorical = [name for name in named if name in categories]
        if odd := [name for name in self.categorical if EQUALS in name]:
            raise InputError(
                f"{table.name}: a column of categories cannot have {EQUALS!r} in its name: "
                f"{listed(odd)}. Rename it."
            )
        self.others = [name for name in named if name not in categories]
        target = [] if wanted.target_column is None else [wanted.target_column]
        self.needed = [*self.others, *self.categorical, *target]
        self.ignored: list[str] = []
        self._columns: list[Column] | None = None

    @property
    def numeric(self) -> list[str]:
        return [column.name for column in self._columns or ()]

    def numbers(self, block: Block) -> Floats:
        """Return the numbers of a block."""
        if self._columns is None:
            self._columns = self._numeric_columns(block)
        return stack(self._columns, block)

    def _numeric_columns(self, block: Block) -> list[Column]:
        odd = not_numbers(block, self.others)
        if odd and not self._wanted.ignore_text:
            name, problem = next(iter(odd.items()))
            more = f" The same goes for {listed(list(odd)[1:], 5)}." if len(odd) > 1 else ""
            raise InputError(
                f"{self._table.name}: column {name!r} holds {problem}.{more} Leave such columns "
                "out with --ignore-text, say with --columns which ones to learn, or with "
                "--categorical which ones hold categories."
            )
        self.ignored = list(odd)
        numeric = [name for name in self.others if name not in odd]
        if not numeric and not self.categorical:
            raise InputError(f"{self._table.name}: no column holds numbers.")
        return [Column(name) for name in numeric]


def no_name(table: Table) -> str:
    """Say which column of a table has no name: the beginning of an error."""
    number = table.names.index(table.unnamed[0]) + 1
    return f"{table.name}: column {number} has no name. If it only numbers the rows,"


def not_numbers(block: Block, names: Sequence[str]) -> dict[str, str]:
    """Say what those columns hold that do not hold numbers, but for a few cells."""
    found = ((name, _not_numbers(block, name)) for name in names)
    return {name: problem for name, problem in found if problem}


def _not_numbers(block: Block, name: str) -> str | None:
    column = block.columns[name]
    if is_number(column.type):
        return None
    if not is_text(column.type):
        return described(column.type)
    texts, decimal = block.numerals(name)
    observed = [
        (k, cell)
        for k, cell in enumerate(texts[:LOOKED_AT].to_pylist())
        if cell is not None and not is_missing(cell)
    ]
    odd = [(k, cell) for k, cell in observed if cells.kind_of(cell, decimal) is None]
    infinite = sum(cell.strip().lower().lstrip("+-").startswith("inf") for _, cell in odd)
    if 2 * (len(odd) - infinite) <= len(observed):
        return None
    k, cell = odd[0][0], odd[0][1].strip()
    what = "dates or times" if is_moment(cell) else "text"
    return f"{what}, for example {quoted(cell)} in {block.where(k)}"


def _targets(block: Block, wanted: Wanted, seen: Counter[str]) -> Block:
    """Return the rows that have the target; count what other rows have."""
    if wanted.target_column is None or wanted.target is None:
        return block
    coded = block.texts(wanted.target_column).dictionary_encode()
    values = [("" if value is None else value.strip()) for value in coded.dictionary.to_pylist()]
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    for code, rows in Counter(codes.tolist()).items():
        seen[values[code] if code >= 0 else ""] += rows
    right = np.array([*(_same(value, wanted.target) for value in values), False])
    chosen: NDArray[np.bool_] = right[codes]
    return block.only(chosen)


def _same(value: str, target: str) -> bool:
    """Whether two values are the same text, or the same number."""
    if value == target.strip():
        return True
    if cells.kind_of(value, ".") == cells.kind_of(target, ".") == "number":
        return cells.number_of(value, ".") == cells.number_of(target, ".")
    return False


def _categories(table: Table, name: str, texts: Any) -> Category:
    values = {value.strip() for value in texts.unique().to_pylist() if value is not None}
    known = sorted(value for value in values if not is_missing(value))
    if len(known) > MOST_CATEGORIES:
        raise InputError(
            f"{table.name}: column {name!r} has {len(known)} different values, more than "
            f"{MOST_CATEGORIES}: they look like names, not like categories. Leave it out."
        )
    if not known:
        raise InputError(f"{table.name}: column {name!r} has no value in any row. Leave it out.")
    if OTHER in known:
        raise InputError(f"{table.name}: column {name!r} has the category {OTHER!r}; rename it.")
    return Category(name, tuple(known))
