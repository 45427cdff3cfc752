"""Incidents of a file, found while its blocks are judged."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold.cli import options
from refold.cli.models import LoadedModel
from refold.columns.conversion import to_table
from refold.columns.roles import Guess, guess
from refold.judgement import Judgement
from refold.monitoring import Incidents
from refold.monitoring.incident_finder import IncidentFinder
from refold.monitoring.timeline import RowTimes, groups_of
from refold.tabular import Block, TableSource, block_to_arrow

_MOST = 1_000  # incidents that are kept of a file, and row numbers of each


class TableIncidents:
    """Follows the outliers of a table; rows are numbered from 1.

    Time and group are those of the model where no column is named for them; `gap` is a number of
    rows, or a duration such as ``90min``.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        table: TableSource,
        time: str | None,
        by: list[str],
        gap: str | None,
    ) -> None:
        groups = getattr(loaded.model, "by", None) or []
        self._time = time or getattr(loaded.model, "over", None)
        self._by = by or ([groups] if isinstance(groups, str) else list(groups))
        self.columns = [name for name in (self._time, *self._by) if name is not None]
        table.require(self.columns)
        apart: Any = int(gap) if gap is not None and gap.strip().isdecimal() else gap
        self._finder = IncidentFinder(
            loaded.model,
            apart,
            timed=self._time is not None,
            most=_MOST,
            most_rows=_MOST,
        )
        self._form: Guess | None = None
        self._last = -np.inf
        self._ordered = True

    def add(self, block: Block, found: Judgement) -> None:
        """Follow the rows of a block."""
        cells = block_to_arrow(block.select(self.columns)) if self.columns else None
        moments = None
        if self._time is not None:
            column = to_table(cells)[self._time]
            self._form = self._form or guess(self._time, column)
            moments = RowTimes.of(self._time, column, self._form)
            self._check_order(block, moments)
        groups = groups_of(cells, found, self._by) if self._by else None
        self._finder.add(found, block.first + np.arange(block.rows), moments, groups)

    def _check_order(self, block: Block, moments: RowTimes) -> None:
        steps = np.diff(moments.seconds, prepend=self._last)
        self._last = float(moments.seconds[-1])
        if self._ordered and (steps < 0.0).any():
            self._ordered = False
            options.note(
                f"{block.file}, {block.where(int(np.argmax(steps < 0.0)))} is earlier than the row "
                f"before it: incidents follow the order of the file. Sort it by {self._time!r} "
                "first."
            )

    @property
    def total(self) -> int:
        """How many incidents there are; of very many only those with most outliers are kept."""
        return self._finder.total

    def result(self) -> Incidents:
        """Return the incidents of all rows so far."""
        return Incidents(self._finder.all())
