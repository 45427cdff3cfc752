"""Tables that must be read as a whole before anything is known of them, and are held then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any

from refold.tabular.errors import InputError
from refold.tabular.streams import name_of
from refold.tabular.table import Asked, Block, FileTable


class HeldTable(FileTable):
    """A table in memory.

    Its class calls `_hold` when it is opened.
    """

    def _hold(self, table: Any, where: Callable[[int], str]) -> None:
        """Keep an Arrow table; `where` says where a person finds its k-th row."""
        self._held, self._place, self.rows = table, where, table.num_rows
        self.kinds = dict(zip(table.column_names, table.schema.types, strict=True))

    def _blocks(self, wanted: list[str], asked: Asked) -> Iterator[Block]:
        first = 0
        for batch in self._held.select(wanted).to_batches(max_chunksize=asked.rows):
            columns = dict(zip(wanted, batch.columns, strict=True))
            block = Block(first + 1, columns, batch.num_rows, self._where(first), self.name)
            yield block
            first += batch.num_rows

    def _where(self, first: int) -> Callable[[int], str]:
        return lambda k: self._place(first + k)


def bounded(stream: IO[bytes], source: str, most: int) -> bytes:
    """Read all of a stream that must be held."""
    content = stream.read(most + 1)
    if len(content) > most:
        raise InputError(
            f"{name_of(source)} has more than {most >> 20} MB, too much to be held: save it as CSV "
            "or Parquet."
        )
    return content
