"""Plainly written text, decoded by Arrow: columns of numbers right into numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from refold.base.needs import needs
from refold.tabular._cell_text import cell_kind, first_known, missing_as_written
from refold.tabular.csv_dialect import Dialect, quotes_surround_cells

_SAMPLE = 2**16  # bytes that show which columns can be read as numbers
# Arrow learns the words for missing values anew for each column and block, which costs more than it
# saves where many columns have few rows in a block.
_WIDE = 2000


class ArrowCsvReader:
    """Decodes blocks of a text file; what Arrow would not read as we do, it leaves to others.

    Of the columns `wanted`, those of `numbers` come as such as long as their cells are plain.
    """

    def __init__(
        self,
        names: Sequence[str],
        wanted: list[str],
        numbers: Collection[str],
        dialect: Dialect,
    ) -> None:
        self._names, self._wanted, self._dialect = names, wanted, dialect
        wide = len(names) > _WIDE
        self._numbers = set(wanted).intersection(() if wide else numbers)  # only ever fewer
        self._looked = False

    @property
    def forgetful(self) -> bool:
        """Whether no block matters for those after it, so that several may be read at once."""
        return not self._numbers

    def read(self, text: bytes) -> Any | None:
        """Return whole records as an Arrow table; None if they are not plain or do not fit."""
        delimiter = self._dialect.delimiter
        if not delimiter.isascii():  # Arrow takes no other
            return None
        if b'"' in text and not quotes_surround_cells(text, delimiter):
            return None
        try:
            if not self._looked:
                self._numbers = self._inferred(text[: text.rfind(b"\n", 0, _SAMPLE) + 1] or text)
                self._looked = True
            return self._finite(text, self._decoded(text))
        except needs("pyarrow", "parquet").ArrowInvalid:
            return None

    def learn(self, columns: dict[str, Any]) -> None:
        """Note what another reader has found: what began as true and false does not go on as 1."""
        for name in list(self._numbers):
            known = first_known(columns[name])
            if known and cell_kind(known[1], self._dialect.decimal) == "truth":
                self._numbers.discard(name)

    def _decoded(self, text: bytes) -> Any:
        """Decode; columns of which Arrow cannot read a cell as a number are text from then on."""
        invalid = needs("pyarrow", "parquet").ArrowInvalid
        try:
            return self._cut(text, self._numbers)
        except invalid:
            self._numbers = self._inferred(text)
        try:
            return self._cut(text, self._numbers)
        except invalid:  # it infers whole numbers where it then cannot read floats, such as 0x10
            self._numbers = set()
            return self._cut(text, self._numbers)

    def _finite(self, text: bytes, table: Any) -> Any:
        """See that no number is infinite or NaN: how that is written, others judge."""
        pc = needs("pyarrow.compute", "parquet")
        odd = {n for n in self._numbers if pc.all(pc.is_finite(table.column(n))).as_py() is False}
        if not odd:
            return table
        self._numbers -= odd
        return self._cut(text, self._numbers)

    def _inferred(self, text: bytes) -> set[str]:
        """Return the columns of numbers of which Arrow takes every cell for one."""
        if not self._numbers:
            return set()
        is_ = needs("pyarrow", "parquet").types
        tests = (is_.is_integer, is_.is_floating, is_.is_null)
        kinds = self._cut(text, self._numbers, infer=True).schema
        return {n for n in self._numbers if any(test(kinds.field(n).type) for test in tests)}

    def _cut(self, text: bytes, numbers: Collection[str], *, infer: bool = False) -> Any:
        pa, csv = needs("pyarrow", "parquet"), needs("pyarrow.csv", "parquet")
        kinds = dict.fromkeys(self._wanted, pa.string())
        kinds |= dict.fromkeys(numbers, None if infer else pa.float64())
        return csv.read_csv(
            pa.BufferReader(_arrows_own(text)),
            read_options=csv.ReadOptions(
                column_names=self._names,
                block_size=len(text) + 1,
                use_threads=len(self._names) <= _WIDE,
            ),
            parse_options=csv.ParseOptions(
                delimiter=self._dialect.delimiter,
                quote_char='"' if b'"' in text else False,
                newlines_in_values=True,
            ),
            convert_options=csv.ConvertOptions(
                column_types={name: kind for name, kind in kinds.items() if kind is not None},
                include_columns=self._wanted,
                null_values=missing_as_written() if numbers else [],
                strings_can_be_null=infer,
                decimal_point=self._dialect.decimal,
                check_utf8=False,
            ),
        )


def one_chunk(column: Any) -> Any:
    """Return a chunked column in one piece."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _arrows_own(text: bytes) -> Any:
    """Copy text to memory of Arrow's: its threads may let go of it as late as when Python ends.

    To release memory of Python's they would need Python, and the process would abort.
    """
    buffer = needs("pyarrow", "parquet").allocate_buffer(len(text))
    np.frombuffer(buffer, np.uint8)[:] = np.frombuffer(text, np.uint8)
    return buffer
