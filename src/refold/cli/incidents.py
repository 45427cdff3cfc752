"""Incidents of a file, found while its blocks are judged."""

from __future__ import annotations

import numpy as np

from refold.cli import options
from refold.cli.models import LoadedModel
from refold.judgement import Judgement
from refold.monitoring import Incidents
from refold.monitoring.incident_finder import IncidentFinder
from refold.monitoring.timeline import RowTimes, Timeline
from refold.tabular import TableSource
from refold.tabular.block import Block, block_to_arrow

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
        self._timeline = Timeline(loaded.model, time, by or None)
        self.columns = self._timeline.columns
        table.require(self.columns)
        self._finder = IncidentFinder(
            loaded.model, gap, timed=self._timeline.timed, most=_MOST, most_rows=_MOST
        )
        self._last = -np.inf
        self._ordered = True

    def add(self, block: Block, found: Judgement) -> None:
        """Follow the rows of a block."""
        cells = block_to_arrow(block.select(self.columns)) if self.columns else None
        moments = self._timeline.times(cells, found)
        if moments is not None:
            self._check_order(block, moments)
        groups = self._timeline.groups(cells, found)
        self._finder.add(found, block.first + np.arange(block.rows), moments, groups)

    def _check_order(self, block: Block, moments: RowTimes) -> None:
        steps = np.diff(moments.seconds, prepend=self._last)
        self._last = float(moments.seconds[-1])
        if self._ordered and (steps < 0.0).any():
            self._ordered = False
            options.note(
                f"{block.file}, {block.where(int(np.argmax(steps < 0.0)))} is earlier than the row "
                f"before it: incidents follow the order of the file. Sort it by "
                f"{self.columns[0]!r} first."
            )

    @property
    def total(self) -> int:
        """How many incidents there are; of very many only those with most outliers are kept."""
        return self._finder.total

    def result(self) -> Incidents:
        """Return the incidents of all rows so far."""
        return self._finder.incidents()
