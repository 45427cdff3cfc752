"""Tables out: CSV, Parquet and Arrow IPC, written batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from refold.base.files import replacing
from refold.base.needs import needs
from refold.tabular.errors import InputError


@contextmanager
def writing(fmt: str, out: Path, schema: Any) -> Iterator[Callable[[Any], None]]:
    r"""Give a function that writes record batches to a file, which appears when it is complete.

    Parameters
    ----------
    fmt : {"csv", "parquet", "ipc"}
        How to write.
    out : Path
        The file.
    schema : pyarrow.Schema
        The columns of all batches.

    Examples
    --------
    >>> import tempfile, pyarrow as pa
    >>> from pathlib import Path
    >>> from refold.tabular import writing
    >>> out = Path(tempfile.mkdtemp()) / "out.csv"
    >>> batch = pa.record_batch({"torque": [75.1, 74.9]})
    >>> with writing("csv", out, batch.schema) as write:
    ...     write(batch)
    >>> out.read_text()
    '"torque"\n75.1\n74.9\n'
    """
    with replacing(out) as file, _WRITERS[fmt](file, schema) as writer:
        yield writer.write_batch


class _CsvWriter:
    """CSV has no words by number, and no cells within cells."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        pa = needs("pyarrow", "parquet")
        is_ = pa.types
        for field in schema:
            if is_.is_nested(field.type):
                raise InputError(
                    f"Column {field.name!r} holds {field.type}, which CSV cannot hold. Write "
                    "Parquet or Arrow IPC."
                )
        kinds = [k.value_type if is_.is_dictionary(k) else k for k in schema.types]
        self._schema = pa.schema(list(zip(schema.names, kinds, strict=True)))
        self._writer = needs("pyarrow.csv", "parquet").CSVWriter(file, self._schema)
        self._decode = self._schema != schema

    def write_batch(self, batch: Any) -> None:
        self._writer.write_batch(batch.cast(self._schema) if self._decode else batch)

    def __enter__(self) -> _CsvWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self._writer.close()


_WRITERS: dict[str, Callable[[IO[bytes], Any], Any]] = {
    "parquet": lambda file, schema: needs("pyarrow.parquet", "parquet").ParquetWriter(file, schema),
    "csv": _CsvWriter,
    "ipc": lambda file, schema: needs("pyarrow.ipc", "parquet").new_file(file, schema),
}
