"""Tables as columns: Parquet and Arrow, which know their types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from refold.base.needs import needs
from refold.tabular.errors import InputError
from refold.tabular.table import Block, Table

_BATCH_ROWS = 2**16


class ParquetTable(Table):
    """A Parquet file."""

    format = "Parquet"

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self.name, self._stream = name, stream
        with _readable(name, self.format):
            self._file = needs("pyarrow.parquet", "cli").ParquetFile(stream)
        self.names = list(self._file.schema_arrow.names)
        self.rows = self._file.metadata.num_rows
        self._check_names()

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Block]:
        """Read the rows in their order; only some columns if they are named."""
        chosen = None if columns is None else list(columns)
        batches = self._file.iter_batches(batch_size=_BATCH_ROWS, columns=chosen)
        yield from _blocks(batches, self.names, columns, self.name, self.format)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class ArrowTable(Table):
    """An Arrow IPC file (Feather) or stream."""

    def __init__(self, stream: IO[bytes], name: str, *, streamed: bool) -> None:
        self.name, self._stream = name, stream
        self.format = "Arrow IPC stream" if streamed else "Arrow IPC"
        ipc = needs("pyarrow.ipc", "cli")
        with _readable(name, self.format):
            self._reader = ipc.open_stream(stream) if streamed else ipc.open_file(stream)
        self.names = list(self._reader.schema.names)
        self._check_names()

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Block]:
        """Read the rows in their order; only some columns if they are named."""
        yield from _blocks(self._batches(), self.names, columns, self.name, self.format)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _batches(self) -> Iterator[Any]:
        if hasattr(self._reader, "num_record_batches"):
            each = map(self._reader.get_batch, range(self._reader.num_record_batches))
        else:
            each = iter(self._reader)
        for batch in each:
            for begin in range(0, batch.num_rows, _BATCH_ROWS):
                yield batch.slice(begin, _BATCH_ROWS)


def _blocks(
    batches: Iterator[Any],
    names: Sequence[str],
    columns: Sequence[str] | None,
    name: str,
    fmt: str,
) -> Iterator[Block]:
    wanted = [n for n in names if columns is None or n in columns]
    first = 1
    while True:
        with _readable(name, fmt):
            batch = next(batches, None)
            if batch is None:
                return
            batch.validate(full=True)  # offsets that point outside would crash the process
        if batch.num_rows:
            yield Block(first, {n: batch.column(n) for n in wanted}, batch.num_rows, _row(first))
            first += batch.num_rows


def _row(first: int) -> Callable[[int], str]:
    return lambda k: f"row {first + k}"


@contextmanager
def _readable(name: str, fmt: str) -> Iterator[None]:
    """Let pyarrow's errors say which file cannot be read."""
    pa = needs("pyarrow", "cli")
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk, not what is on it
        reason = " ".join(str(error).split())
        raise InputError(
            f"{name} is damaged or cut short: it cannot be read as {fmt} ({reason})."
        ) from None
