"""A table that is read from its beginning, block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold.base.needs import needs
from refold.tabular.errors import InputError, listed


@dataclass(frozen=True)
class Block:
    """Some rows of a table that follow each other.

    Parameters
    ----------
    first : int
        The number of its first row; the rows of a table are counted from 1.
    columns : dict of str to pyarrow.Array
        Text where the file is text, else as the file has them.
    rows : int
        How many rows there are.
    where : callable
        Says where a person finds the k-th row of the block, k from 0: "line 18" or "row 17".
    """

    first: int
    columns: dict[str, Any]
    rows: int
    where: Callable[[int], str]

    def only(self, chosen: NDArray[np.bool_]) -> Block:
        """Return some of the rows; errors still find them where they are in the file."""
        places = np.flatnonzero(chosen)
        mask = needs("pyarrow", "cli").array(chosen)
        return replace(
            self,
            columns={name: column.filter(mask) for name, column in self.columns.items()},
            rows=len(places),
            where=lambda k: self.where(int(places[k])),
        )


class Table(ABC):
    """A table in a file or a pipe, which can be read once.

    Attributes
    ----------
    name : str
        What messages call it.
    format : str
        How it is written, in words.
    names : list of str
        The columns.
    unnamed : sequence of str
        Those of them that the file gives no name; they are called after their number.
    decimal : str
        What stands before a fraction in columns of text.
    rows : int or None
        How many rows there are, if the file says so.
    """

    name: str
    format: str
    names: list[str]
    unnamed: Sequence[str] = ()
    decimal: str = "."
    rows: int | None = None

    @abstractmethod
    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Block]:
        """Read the rows in their order; only some columns if they are named."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def require(self, columns: Sequence[str]) -> None:
        """Refuse columns that are not there."""
        absent = [name for name in columns if name not in self.names]
        if absent:
            raise InputError(
                f"{self.name}: there is no column {listed(absent)}. It has {listed(self.names)}."
            )

    def _check_names(self) -> None:
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise InputError(
                f"{self.name}: columns need different names; these appear more than once: "
                f"{listed(twice)}."
            )
