"""The rows that were scored: beside those learned, whether they change, and their incidents."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from refold.base.errors import UserError
from refold.judgement import Judgement
from refold.monitoring import Drift, DriftMonitor, Incident, StreamChange
from refold.monitoring.incident_finder import IncidentFinder
from refold.monitoring.timeline import RowTimes, Timeline

# Rows that are put together before they are compared with training: one by one that takes longer
# than to score them.
_COMPARED_AT_ONCE = 500
MOST_INCIDENTS = 1000  # of those that have ended
_ROWS, _GROUPS = 100, 10_000  # numbers of rows of an incident; groups that are followed


@dataclass(frozen=True)
class StreamEvent:
    """Something that people may want to be told of."""

    kind: Literal["incident begun", "incident ended", "change"]
    text: str
    facts: dict[str, Any]


class RowWatch:
    """Compares the rows that were scored with those that a model has learned."""

    def __init__(self, model: Any) -> None:
        self._model, self._lock, self._comparing = model, threading.Lock(), threading.Lock()
        self._waiting: list[tuple[Judgement, float]] = []
        self._told = False
        self.reset()

    def add(self, found: Judgement) -> bool:
        """Keep rows that were scored; say whether it is time to `compare` them."""
        with self._lock:
            self._waiting.append((found, float(int(time.time()))))
            self._rows += len(found)
            return self._rows >= _COMPARED_AT_ONCE

    def compare(self) -> None:
        """Compare the rows that are kept. It may take long; `add` does not wait for it."""
        with self._comparing:
            with self._lock:
                waiting = self._waiting
                self._waiting, self._rows = [], 0
            if waiting:
                found = Judgement.joined([part for part, _ in waiting])
                arrived = np.repeat([at for _, at in waiting], [len(part) for part, _ in waiting])
                self._monitor.update(found)
                self._incidents.add(found, RowTimes(arrived, dated=True))
                self._compared = True

    def result(self) -> Drift | None:
        """Return what the rows so far have shown; None if there are none."""
        self.compare()
        with self._comparing:
            return self._monitor.result() if self._compared else None

    def change(self) -> StreamChange:
        """Say whether the rows have changed since the first one."""
        self.compare()
        with self._comparing:
            return self._monitor.change()

    def incidents(self) -> StreamIncidents:
        """Return the incidents of all rows so far."""
        self.compare()
        return self._incidents

    def events(self, rows: int) -> list[StreamEvent]:
        """Return what is new since it was last asked: a change, incidents of so many outliers."""
        self.compare()
        with self._comparing:
            found = self._incidents.events(rows)
            change = self._monitor.change()
            if change.changed and not self._told:
                self._told = True
                found.append(StreamEvent("change", str(change), change.to_dict()))
            return found

    def reset(self) -> None:
        """Begin anew."""
        with self._comparing, self._lock:
            self._monitor, self._incidents = DriftMonitor(self._model), StreamIncidents(self._model)
            self._waiting = []
            self._rows, self._compared, self._told = 0, False, False


class StreamIncidents:
    """The last incidents of rows that come without end, in bounded memory.

    Rows have the time of the model's own column, else that of their arrival (UTC); they are
    numbered from 0 as they come.
    """

    def __init__(self, model: Any) -> None:
        self._timeline, self._last, self._dated = Timeline(model), 0.0, True
        self._finder = IncidentFinder(model, None, timed=True, most_rows=_ROWS, most_groups=_GROUPS)
        self._ended: deque[Incident] = deque(maxlen=MOST_INCIDENTS)
        self._new: deque[Incident] = deque(maxlen=MOST_INCIDENTS)  # ended, not yet told
        self._begun = set[tuple[str | None, Any]]()  # told
        self._lock, self.rows = threading.Lock(), 0

    @property
    def total(self) -> int:
        """How many incidents there have been, those that are not kept too."""
        return self._finder.total

    def add(self, found: Judgement, arrived: RowTimes) -> None:
        """Follow more rows."""
        with self._lock:
            times, groups = self._times(found, arrived), self._timeline.groups(found, found)
            self._finder.add(found, self.rows + np.arange(len(found)), times, groups)
            self.rows += len(found)
            ended = self._finder.take_ended()
            self._ended.extend(ended)
            self._new.extend(ended)

    def _times(self, found: Judgement, arrived: RowTimes) -> RowTimes:
        try:
            times = self._timeline.times(found, found)
        except UserError:  # none of these rows says when it was
            times = RowTimes(np.full(len(found), self._last), self._dated)
        if times is None:
            return arrived
        self._last, self._dated = float(times.seconds.max()), times.dated
        return times

    def last(self, most: int) -> list[tuple[Incident, bool]]:
        """Return the last incidents, the earlier first, and whether each goes on."""
        with self._lock:
            going_on = [(one, True) for one in self._finder.going_on()]
            found = [*((one, False) for one in self._ended), *going_on]
            return sorted(found, key=lambda each: each[0].end)[-most:]

    def events(self, rows: int) -> list[StreamEvent]:
        """Return incidents of at least so many outliers that have begun or ended since."""
        with self._lock:
            ended = [one for one in self._new if one.outliers >= rows]
            self._new.clear()
            going_on = [one for one in self._finder.going_on() if one.outliers >= rows]
            begun = [one for one in going_on if (one.group, one.begin) not in self._begun]
            self._begun = {(one.group, one.begin) for one in going_on}
        return [
            *(StreamEvent("incident ended", one.text, one.to_dict()) for one in ended),
            *(StreamEvent("incident begun", one.text, one.to_dict()) for one in begun),
        ]
