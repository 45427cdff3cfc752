"""What is wrong with a file that someone has given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from refold.base.errors import TableError, UserError

_SHOWN, _LONGEST = 10, 40  # names in a list, and characters of a cell


class InputError(UserError):
    r"""A table that cannot be used; the message says where it is wrong and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import InputError, open_table
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("part,torque,part\n007,75.1,008\n008\n")
    >>> try:
    ...     with open_table(file) as table:
    ...         list(table.blocks())
    ... except InputError as error:
    ...     print(Path(str(error)).name)
    parts.csv, line 3: the number of cells is 1, in the first line it is 3 (separated by commas).
    """


def listed(names: Sequence[str], shown: int = _SHOWN) -> str:
    """Return names as a person writes them, at most so many."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(map(repr, names[:shown])) + more


def cell_repr(cell: str) -> str:
    """Return a cell as it is written, cut if it is long."""
    return repr(cell if len(cell) <= _LONGEST else f"{cell[:_LONGEST]}…")


@contextmanager
def located(
    file: str, where: Callable[[int], str], names: Sequence[str] | None = None
) -> Iterator[None]:
    """Let an error about a cell or a row say in which file and line it is, and which column.

    `where` says where a person finds a row; `names` are the columns, by their places.
    """
    try:
        yield
    except TableError as error:
        place = "" if error.row is None else where(error.row).removeprefix(f"{file}, ")
        raise InputError(f"{file}: {error.located(place, names)}", advice=error.advice) from None
