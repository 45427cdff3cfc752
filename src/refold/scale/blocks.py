"""The blocks of files as parts of a table: read from the beginning, worked on by threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from refold.algorithm.engines.exact import threads
from refold.base.progress import counting
from refold.columns.conversion import to_table
from refold.columns.table import Table
from refold.models.parts import FirstPass, Work
from refold.tabular import InputError
from refold.tabular.block import Block, block_to_arrow
from refold.tabular.errors import located
from refold.tabular.features import Column
from refold.tabular.streams import prefetch_map

# Numbers in a block, 16 MB of them: much more than what is kept of it, so that adding up is cheap.
_VALUES, _FEWEST, _MOST = 2**21, 2**10, 2**18
_MOST_THREADS = 8  # each has a block in memory
_EACH, _WORTH_IT = 4, 2**12  # a thread has so many blocks, unless they would have so few rows

# The rows of a block, made when they are asked for: a thread does.
Ready = tuple[Block, Callable[[], Table]]


def rows_at_once(columns: int) -> int:
    """Return how many rows to take at once from a table with so many columns."""
    return min(max(_VALUES // max(columns, 1), _FEWEST), _MOST)


def most_threads(n_jobs: int | None) -> int:
    """Return how many threads work on blocks at the same time."""
    return min(threads(_VALUES, n_jobs), _MOST_THREADS)


class BlockParts:
    """The blocks of a table that can be read more than once.

    `read` begins to read, at most so many rows at once, and gives blocks and their rows.
    """

    def __init__(
        self,
        read: Callable[[int], Iterator[Ready]],
        names: Sequence[str],
        *,
        rows: int | None = None,
        n_jobs: int | None,
        show: bool,
    ) -> None:
        self._read, self._names, self._rows, self._show = read, names, rows, show
        self._threads = most_threads(n_jobs)
        self._before: int | None = None

    def added_up(self, work: Work) -> Any:
        """Do something with the rows of each block, in their order; return the sum."""
        looks = isinstance(work, FirstPass)
        if isinstance(work, FirstPass) and self._rows is not None:
            work = work.among(self._rows)
        total, rows = None, 0

        def done(item: tuple[int, Ready]) -> tuple[int, Any]:
            first, (block, ready) = item
            with located(block.file, block.where, self._names):
                return block.rows, work(ready(), first)

        what = "reading" if looks else "learning"
        with counting(what, self._rows, show=self._show) as count:
            for size, part in prefetch_map(self._placed(), done, self._threads):
                total = part if total is None else total.plus(part)
                if isinstance(work, FirstPass):
                    work = work.after(total)
                rows += size
                count(size)
        if self._before not in (None, rows):
            raise InputError(
                f"There were {self._before:,} rows at first and then {rows:,}: files must not "
                "change while they are learned."
            )
        self._rows = self._before = rows
        return total

    def _at_once(self) -> int:
        """Return how many rows to read at once: what takes long is divided among all threads."""
        most = rows_at_once(len(self._names))
        if self._rows is None:
            return most
        return min(most, max(self._rows // (_EACH * self._threads), _WORTH_IT))

    def _placed(self) -> Iterator[tuple[int, Ready]]:
        first = 0
        for block, ready in self._read(self._at_once()):
            yield first, (block, ready)
            first += block.rows


def number_tables(blocks: Iterator[Block], columns: Sequence[str]) -> Iterator[Ready]:
    """Read columns as numbers, NaN where one is missing; where they are such, without a copy."""
    readers = [Column(name) for name in columns]  # they know what came before
    for block in blocks:
        rows = Table.of_numbers(columns, (reader.numbers(block) for reader in readers))
        yield block, lambda rows=rows: rows  # type: ignore[misc]


def typed_tables(blocks: Iterator[Block], columns: Sequence[str]) -> Iterator[Ready]:
    """Read columns of any kind."""
    for block in blocks:
        yield block, lambda block=block: block_to_table(block, columns)  # type: ignore[misc]


def block_to_table(block: Block, columns: Sequence[str]) -> Table:
    """Return columns of a block, whatever they hold."""
    return to_table(block_to_arrow(block.select(columns)))
