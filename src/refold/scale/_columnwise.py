"""Columns that lie apart, as in Parquet: each thread reads its own; no row is put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import pairwise
from threading import Event
from typing import Any

from refold.base.progress import counting
from refold.models.parts import FirstPass, PassResult, PiecewisePass, Work
from refold.scale.blocks import Ready, most_threads, rows_at_once
from refold.tabular import InputError
from refold.tabular.errors import located

Read = Callable[[Sequence[str], int], Iterator[Ready]]
# Rows at once: few enough that a column's are still in the cache when they are counted.
_ROWS = 2**16


class ColumnParts:
    """A table of which some columns can be read without the others, for a model of one pass.

    What was counted of a column grows as it is read: nothing has to be added up, and as a column
    is read by one thread, no result depends on how many there are.
    """

    def __init__(
        self,
        read: Read,
        names: Sequence[str],
        *,
        rows: int | None,
        n_jobs: int | None,
        show: bool,
    ) -> None:
        self._read, self._names, self._rows, self._show = read, names, rows, show
        self._threads = most_threads(n_jobs)

    def added_up(self, work: Work) -> Any:
        """Look at the columns, each thread at its own; return what was found in all."""
        assert isinstance(work, FirstPass)
        wanted = work if self._rows is None else work.among(self._rows)
        stop = Event()
        with (
            counting("learning", self._rows, show=self._show) as count,
            ThreadPoolExecutor(self._threads) as threads,
        ):
            groups = self._groups()
            counts = [count] + [_uncounted] * (len(groups) - 1)  # rows are the same in all
            looks = [
                threads.submit(self._look, wanted, group, count, stop)
                for group, count in zip(groups, counts, strict=True)
            ]
            try:
                done, _ = wait(looks, return_when=FIRST_EXCEPTION)
                for look in done:
                    look.result()
            finally:
                stop.set()
        return _beside([look.result() for look in looks])

    def _groups(self) -> list[Sequence[str]]:
        """Divide the columns among the threads."""
        many, size = min(self._threads, len(self._names)), len(self._names)
        ends = [size * k // many for k in range(many + 1)]
        return [self._names[a:b] for a, b in pairwise(ends)]

    def _look(
        self, wanted: FirstPass, names: Sequence[str], count: Callable[[int], None], stop: Event
    ) -> PassResult | None:
        looking, first = PiecewisePass(wanted, len(names)), 0
        for block, ready in self._read(names, min(_ROWS, rows_at_once(len(names)))):
            if stop.is_set():
                break
            with located(block.file, block.where, names):
                looking.add(ready(), first)
            first += block.rows
            count(block.rows)
        return looking.found() if first else None


def _beside(looks: Sequence[PassResult | None]) -> PassResult | None:
    rows = {0 if look is None else look.rows for look in looks}
    if len(rows) > 1:
        raise InputError(
            f"Some columns had {max(rows):,} rows and others {min(rows):,}: files must not change "
            "while they are learned."
        )
    found = [look for look in looks if look is not None]
    return PassResult.beside(found) if found else None


def _uncounted(rows: int) -> None:
    """Say nothing."""
