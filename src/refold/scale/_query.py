"""What a query gives, as a table that can be read more than once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from threading import Lock
from typing import Any

from refold.base.needs import needs
from refold.columns.frames import is_number, is_text, type_text
from refold.tabular import InputError, TableSource
from refold.tabular.block import Block
from refold.tabular.table_source import ScanOptions


class QueryTable(TableSource):
    """The rows that a query of DuckDB, or a table of that name, gives.

    `origin` is what stands after ``from`` in further queries.
    """

    format = "DuckDB"
    rows: int

    def __init__(self, con: Any, query: str) -> None:
        query = query.strip().rstrip(";")
        self._con, self.name = con, "the query"
        self._lock = Lock()
        self._reading: Any = None
        self.origin = query if len(query.split()) == 1 else f"({query})"
        self.kinds = {field.name: field.type for field in self._read(["*"], 1, "limit 0").schema}
        self.close()
        self.rows = int(con.sql(f"select count(*) from {self.origin}").fetchall()[0][0])

    def require_same(self) -> None:
        """Do nothing: it is one table."""

    def require_numbers(self, columns: Sequence[str]) -> None:
        """Refuse columns whose type can be read as numbers in no way; of text, the cells tell."""
        self.require(columns)
        for name in columns:
            if not (is_number(kind := self.kinds[name]) or is_text(kind)):
                raise InputError(f"{self.name}: column {name!r} holds {type_text(kind)}.")

    def common_kinds(self, numbers: Collection[str]) -> dict[str, Any]:
        """Return the types of the columns; text of `numbers` is read as such."""
        number = needs("pyarrow", "parquet").float64()
        return {
            name: number if name in numbers and is_text(kind) else kind
            for name, kind in self.kinds.items()
        }

    def _blocks(self, wanted: list[str], asked: ScanOptions) -> Iterator[Block]:
        first, reader = 1, self._read([sql_name(name) for name in wanted], asked.rows)
        while (batch := self._next(reader)) is not None:
            columns = dict(zip(wanted, batch.columns, strict=True))
            yield Block(first, columns, batch.num_rows, _row(first), self.name)
            first += batch.num_rows

    def close(self) -> None:
        """Let others use the connection."""
        with self._lock:  # a thread may be reading ahead
            if self._reading is not None:
                self._reading.close()
            self._reading = None

    def ask(self, statement: str, **tables: Any) -> Any:
        """Return what a statement gives, as an Arrow table; it may use some more tables."""
        self.close()
        for name, table in tables.items():
            self._con.register(name, table)
        try:
            asked = self._con.sql(statement)
            return (getattr(asked, "to_arrow_table", None) or asked.fetch_arrow_table)()
        finally:
            for name in tables:
                self._con.unregister(name)

    def _next(self, reader: Any) -> Any:
        with self._lock:
            if reader is not self._reading:
                return None
            try:
                return reader.read_next_batch()
            except StopIteration:
                return None

    def _read(self, columns: Sequence[str], rows: int, more: str = "") -> Any:
        """Ask; a connection has one answer open at a time."""
        self.close()
        asked = self._con.sql(f"select {', '.join(columns)} from {self.origin} {more}")
        # Older versions call it otherwise.
        read = getattr(asked, "to_arrow_reader", None) or asked.fetch_arrow_reader
        self._reading = read(rows)
        return self._reading


def sql_name(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _row(first: int) -> Callable[[int], str]:
    return lambda k: f"row {first + k}"
