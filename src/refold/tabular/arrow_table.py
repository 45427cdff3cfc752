"""Tables as columns: Parquet and Arrow, which know their types."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from refold.base.needs import needs
from refold.columns.frames import is_number, is_period
from refold.tabular.block import Block
from refold.tabular.errors import InputError
from refold.tabular.streams import seekable
from refold.tabular.table_source import FileTable, ReadOptions, ScanOptions, checked_names

_FEW_CELLS = 2**24
_CELLS_OF_A_BYTE = 512  # truth values are eight; then some columns may be empty


class ColumnarTable(FileTable):
    """A file that pyarrow reads as record batches."""

    _from_its_end = True  # where the file says what is in it

    def __init__(self, stream: IO[bytes], source: str, how: ReadOptions) -> None:
        super().__init__(stream, source, how)
        if self._from_its_end:
            self._stream = seekable(stream, source)
        with self._readable():
            schema = self._open()
            names = checked_names(schema.names, self.name)
            self.kinds = dict(zip(names, schema.types, strict=True))
            self.periods = [
                name for name, field in zip(names, schema, strict=True) if is_period(field)
            ]

    @abstractmethod
    def _open(self) -> Any:
        """Make the reader; return the schema."""

    @abstractmethod
    def _batches(self, wanted: list[str], rows: int) -> Iterator[Any]:
        """Read record batches that have at least the columns wanted."""

    def _blocks(self, wanted: list[str], asked: ScanOptions) -> Iterator[Block]:
        batches = self._batches(wanted, asked.rows)
        first, held = 1, 0
        while True:
            with self._readable(wanted):
                batch = next(batches, None)
            if batch is None:
                return
            places = dict(zip(batch.schema.names, range(batch.num_columns), strict=True))
            columns = {name: self._sound(name, batch, places[name]) for name in wanted}
            held += sum(column.nbytes for column in columns.values())
            self._refuse_empty((first - 1 + batch.num_rows) * len(columns), held)
            block = Block(first, columns, batch.num_rows, _row(first), self.name)
            if batch.num_rows:
                yield block
                first += batch.num_rows

    def _refuse_empty(self, cells: int, held: int) -> None:
        """Refuse cells that take no bytes: a few of a file may claim any number of nulls."""
        if cells > max(_FEW_CELLS, _CELLS_OF_A_BYTE * held):
            raise InputError(
                f"{self.name}: {cells:,} cells in {held:,} bytes cannot have values. Leave out "
                "columns without any value."
            )

    def _sound(self, name: str, batch: Any, place: int) -> Any:
        """Check sizes, offsets and codes that point elsewhere: they would crash the process."""
        try:
            column = batch.column(place)
            column.validate(full=not is_number(column.type))
        except KeyError:  # pyarrow has no class for some types of Arrow
            raise InputError(
                f"{self.name}: column {name!r} holds {self.kinds[name]}, which cannot be read. "
                "Leave it out."
            ) from None
        except needs("pyarrow", "parquet").ArrowException as error:
            raise self._damaged(error, name) from None
        return column

    @contextmanager
    def _readable(self, wanted: list[str] | None = None) -> Iterator[None]:
        """Let pyarrow's errors say which file cannot be read, and which column if one is wrong.

        Some types are read by libraries that have registered them, whose errors are not pyarrow's.
        """
        arrow = needs("pyarrow", "parquet").ArrowException
        try:
            yield
        except (arrow, OSError, UnicodeDecodeError, TypeError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk, not what is on it
            raise self._damaged(error, self._odd_column(wanted or [])) from None

    def _odd_column(self, wanted: list[str]) -> str | None:
        """Find the column that cannot be read, if it can be told."""
        return wanted[0] if len(wanted) == 1 else None

    def _damaged(self, error: Exception, column: str | None) -> InputError:
        reason = " ".join(str(error).split())
        if isinstance(error, UnicodeDecodeError):
            reason = "a name in it is not UTF-8"
        at = "" if column is None else f", column {column!r},"
        return InputError(
            f"{self.name}{at} is damaged or cut short: it cannot be read as {self.format} "
            f"({reason})."
        )


class ParquetTable(ColumnarTable):
    """A Parquet file."""

    format = "Parquet"
    by_column = True

    @staticmethod
    def recognizes(head: bytes) -> bool:
        """Whether it begins as Parquet files do."""
        return head.startswith(b"PAR1")

    def _open(self) -> Any:
        # By default pyarrow keeps what it has read of a file until it is done with it.
        self._file = needs("pyarrow.parquet", "parquet").ParquetFile(
            self._stream, pre_buffer=False, buffer_size=2**16
        )
        self.rows = self._file.metadata.num_rows
        return self._file.schema_arrow

    def _batches(self, wanted: list[str], rows: int) -> Iterator[Any]:
        return iter(self._file.iter_batches(batch_size=rows, columns=wanted))

    def _odd_column(self, wanted: list[str]) -> str | None:
        for name in wanted:
            try:
                for _ in self._file.iter_batches(columns=[name]):
                    pass
            except (needs("pyarrow", "parquet").ArrowException, OSError):
                return name
        return None


class ArrowFile(ColumnarTable):
    """An Arrow IPC file, also called Feather."""

    format = "Arrow IPC"

    @staticmethod
    def recognizes(head: bytes) -> bool:
        """Whether it begins as Arrow files do."""
        return head.startswith(b"ARROW1\0\0")

    def _open(self) -> Any:
        return needs("pyarrow.ipc", "parquet").open_file(self._stream).schema

    def _batches(self, wanted: list[str], rows: int) -> Iterator[Any]:
        ipc = needs("pyarrow.ipc", "parquet")
        options = None
        if len(wanted) < len(self.kinds):
            chosen = set(wanted)
            places = [k for k, name in enumerate(self.kinds) if name in chosen]
            options = ipc.IpcReadOptions(included_fields=places)
        reader = ipc.open_file(self._stream, options=options)
        return map(reader.get_batch, range(reader.num_record_batches))


class ArrowStream(ColumnarTable):
    """An Arrow IPC stream, whose length only its end tells."""

    format = "Arrow IPC stream"
    _from_its_end = False

    @staticmethod
    def recognizes(head: bytes) -> bool:
        """Whether it begins as Arrow streams do."""
        return head.startswith(b"\xff\xff\xff\xff")

    def _open(self) -> Any:
        self._reader = needs("pyarrow.ipc", "parquet").open_stream(self._stream)
        return self._reader.schema

    def _batches(self, wanted: list[str], rows: int) -> Iterator[Any]:
        return iter(self._reader)


def _row(first: int) -> Callable[[int], str]:
    return lambda k: f"row {first + k}"
