"""Workbooks: Excel's formats old and new, and LibreOffice's."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from refold.base.advice import Advice
from refold.base.errors import UserError
from refold.base.needs import needs
from refold.columns.conversion import text_of
from refold.columns.records import refuse_sparse
from refold.tabular._layout import (
    about_joined,
    about_repeated,
    count_totals,
    distinct,
    joined_names,
    refuse_numbers_as_names,
    titles_and_names,
    units_below,
)
from refold.tabular._typed import typed
from refold.tabular._workbook_size import sheet_spans
from refold.tabular.errors import InputError, listed
from refold.tabular.table_source import HeldTable, ReadOptions, bounded, checked_names

_MOST_PACKED = 2**28  # bytes of a workbook
_MOST_CELLS = 2**26  # of a sheet, from its first cell to its last, empty or not
_FEW_CELLS = 2**24  # that may be nearly all empty: a format may reach to the last row
_LOOKED_AT = 200  # rows that show where the table begins


class Workbook(HeldTable):
    """A sheet of a workbook; its numbers, dates and texts come as such."""

    by_people = True
    format = "workbook"

    def __init__(self, stream: IO[bytes], source: str, how: ReadOptions) -> None:
        super().__init__(stream, source, how)
        content = bounded(stream, source, _MOST_PACKED)
        if zipfile.is_zipfile(io.BytesIO(content)):
            self._refuse_bombs(content)
        calamine = needs("python_calamine", "excel")
        with self._readable():
            book = calamine.load_workbook(io.BytesIO(content))
        self.sheets = tuple(book.sheet_names)
        self._table_in(self._sheet(book))

    @staticmethod
    def recognizes(head: bytes) -> bool:
        """Whether it begins as workbooks do; a ZIP archive of another kind is unpacked before."""
        return head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))

    def _sheet(self, book: Any) -> Any:
        """Return the sheet that was asked for, or the largest one."""
        if not book.sheet_names:
            raise InputError(f"{self.name} has no sheets.")
        with self._readable():
            if self._how.sheet is not None:
                return book.get_sheet_by_name(self._named(book.sheet_names, self._how.sheet))
            shown = needs("python_calamine", "excel").SheetVisibleEnum.Visible
            visible = [sheet.name for sheet in book.sheets_metadata if sheet.visible == shown]
            sheets = map(book.get_sheet_by_name, visible or book.sheet_names)
            full = [sheet for sheet in sheets if sheet.height > 0]
        if not full:
            raise InputError(f"{self.name}: no sheet has anything in it.")
        chosen = max(full, key=lambda sheet: (sheet.height > 1, sheet.height * sheet.width))
        if others := [sheet.name for sheet in full if sheet is not chosen]:
            self._say(
                "sheets",
                f"sheet {chosen.name!r}, the largest, was read. There is also {listed(others)}.",
                Advice("To read another", "sheet"),
            )
        return chosen

    def _named(self, names: Sequence[str], wanted: str) -> str:
        if wanted in names:
            return wanted
        if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
            return names[int(wanted) - 1]
        raise InputError(f"{self.name}: there is no sheet {wanted!r}. It has {listed(names)}.")

    def _table_in(self, sheet: Any) -> None:
        pa = needs("pyarrow", "parquet")
        self.sheet, self.format = sheet.name, f"workbook, sheet {sheet.name!r}"
        with self._readable():
            grid = sheet.to_python(skip_empty_area=False)
        empty = [""] * max(map(len, grid), default=0)
        skipped = self._how.skip_rows or 0
        numbered = [(k, row) for k, row in enumerate(grid, 1) if row != empty and k > skipped]
        if not numbered:
            raise InputError(f"{self.name}, sheet {sheet.name!r}: there is nothing in it.")
        names, begin = self._heading([row for _, row in numbered], sheet.name)
        rows = self._without_totals(numbered[begin:])
        columns = list(zip(*(row for _, row in rows), strict=True)) or [()] * len(names)
        used = [k for k, name in enumerate(names) if name or any(c != "" for c in columns[k])]
        called = self._called([names[k] for k in used])
        cells = [typed([None if c == "" else c for c in columns[k]]) for k in used]
        table = pa.table(cells, names=list(checked_names(called, self.name)))
        self._hold(table, lambda k: f"row {rows[k][0]} of sheet {sheet.name!r}")

    def _without_totals(self, rows: list[tuple[int, list[Any]]]) -> list[tuple[int, list[Any]]]:
        """Leave out rows of totals at the end."""
        totals = count_totals([row for _, row in rows], _number) if self._how.totals else 0
        if totals:
            which = " and ".join(f"row {number}" for number, _ in rows[-totals:])
            self._say("totals", f"{which} has totals of the rows above: not read as rows.")
        return rows[: len(rows) - totals]

    def _heading(self, rows: list[list[Any]], sheet: str) -> tuple[list[str], int]:
        """Return the names of the columns, and how many rows come before the first of the table."""
        if self._how.header is False:
            return [f"x{k}" for k in range(len(rows[0]))], 0
        texts = [[text_of(cell).strip() for cell in row] for row in rows[:_LOOKED_AT]]
        titles, joined = titles_and_names(texts, ".")
        if self._how.skip_rows is not None:
            titles, joined = 0, joined_names(texts, ".")
        if titles:
            self._say(
                "titles",
                f"{titles} rows above the names of the columns in sheet {sheet!r} were skipped.",
            )
        names, begin = joined or texts[titles], titles + 1 + bool(joined)
        if joined:
            self._say("joined-names", about_joined(joined, f"rows in sheet {sheet!r}"))
        elif self._how.header is None:
            refuse_numbers_as_names(names, ".", f"{self.name}, sheet {sheet!r}")
        self._units = units_below(texts[begin:], names, ".")
        if self._units:
            self._say("units", f"the row below the names in sheet {sheet!r} has units.")
        return names, begin + bool(self._units)

    def _called(self, names: list[str]) -> list[str]:
        """Return a name for every column: those without one are numbered, repeated ones too."""
        self.unnamed = [f"unnamed {k}" for k, name in enumerate(names, 1) if not name]
        called, changed = distinct([name or f"unnamed {k}" for k, name in enumerate(names, 1)])
        if changed:
            self._say("repeated-names", about_repeated(changed))
        if self._how.header is not False:
            self.units = {name: unit for name, unit in self._units.items() if name in called}
        return called

    def _refuse_bombs(self, content: bytes) -> None:
        """Refuse a workbook of which a few bytes or cells span more than can be held."""
        with self._readable():
            spans = list(sheet_spans(content, self.name))
        for span in spans:
            if span.rows * span.columns > _MOST_CELLS:
                raise InputError(
                    f"{self.name}: a sheet spans more than {_MOST_CELLS:,} cells, too many to be "
                    "held. Save it as CSV."
                )
            try:
                refuse_sparse(span.rows, span.columns, span.cells, _FEW_CELLS)
            except UserError as error:
                raise InputError(f"{self.name}: {error}") from None

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Let the errors of the readers say which file cannot be read."""
        calamine = needs("python_calamine", "excel")
        try:
            yield
        except InputError:
            raise
        except calamine.PasswordError:
            raise InputError(f"{self.name} is locked by a password: save it without one.") from None
        except (
            calamine.CalamineError,
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,  # zipfile: a compression that it does not know
            RuntimeError,
            EOFError,
            ValueError,
            OSError,
        ) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk, not what is on it
            raise self._damaged(error) from None
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of Rust, which is no Exception
                raise
            raise self._damaged(error) from None

    def _damaged(self, error: BaseException) -> InputError:
        reason = " ".join(str(error).split())
        return InputError(
            f"{self.name} is damaged or cut short: it cannot be read as a workbook ({reason})."
        )


def _number(cell: Any) -> float | None:
    """Return the number in a cell of a sheet."""
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return float(cell) if is_number else None
