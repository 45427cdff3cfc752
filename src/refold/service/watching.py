"""The rows that were scored: beside those learned, whether they change, and their incidents."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from refold._typing import Integers
from refold.base.errors import UserError
from refold.judgement import Judgement
from refold.monitoring import Drift, DriftMonitor, Incident, StreamChange
from refold.monitoring.incident_finder import IncidentFinder
from refold.monitoring.timeline import RowTimes, Timeline

# Rows that are put together before they are compared with training: one by one that takes longer
# than to score them.
_COMPARED_AT_ONCE = 500
# Numbers of rows that are compared before others have a turn: some tenths of a second.
_TURN = 50_000
# What waits until it is compared: rows can be scored a hundred times as quickly.
_MOST_NUMBERS, _MOST_BYTES = 2_000_000, 64 * 2**20
MOST_INCIDENTS = 1000  # of those that have ended
_ROWS, _GROUPS = 100, 10_000  # numbers of rows of an incident; groups that are followed


@dataclass(frozen=True)
class StreamEvent:
    """Something that people may want to be told of."""

    kind: Literal["incident begun", "incident ended", "change"]
    text: str
    facts: dict[str, Any]


class _Part(NamedTuple):
    """Some of the rows of a request, which wait."""

    found: Judgement
    first: int  # the number of the first of them, among all rows that came
    arrived: float
    size: int  # bytes


class WatchState(NamedTuple):
    """What the rows that were scored have shown so far."""

    drift: Drift | None  # None if none was compared
    change: StreamChange
    incidents: StreamIncidents
    rows: int  # that came
    left_out: int  # of these, because they came too quickly


class RowWatch:
    """Compares the rows that were scored with those that a model has learned.

    Rows that come more quickly than they can be compared are left out, and counted.
    """

    def __init__(self, model: Any) -> None:
        self._model, self._lock, self._comparing = model, threading.Lock(), threading.Lock()
        self._waiting = deque[_Part]()
        self._due = self._compared = self._told = False
        self.reset()

    def add(self, found: Judgement, size: int = 0) -> bool:
        """Keep rows that were scored, of so many bytes; say whether it is time to `compare`."""
        columns = max(found.rows.shape[1], 1)
        with self._lock:
            room = max(_MOST_NUMBERS // columns, _COMPARED_AT_ONCE) - self._waiting_rows
            kept = min(room, len(found)) if self._waiting_bytes < _MOST_BYTES else 0
            turn, now = self._turn(columns), float(int(time.time()))
            for begin in range(0, kept, turn):
                part = found.take(np.arange(begin, min(begin + turn, kept)))
                self._waiting.append(_Part(part, self.rows + begin, now, 0 if begin else size))
            self._waiting_rows += kept
            self._waiting_bytes += size if kept else 0
            self.rows += len(found)
            self.left_out += len(found) - kept
            full = self._waiting_bytes >= _MOST_BYTES
            due = not self._due and (full or self._waiting_rows >= _COMPARED_AT_ONCE)
            self._due = self._due or due
            return due

    @staticmethod
    def _turn(columns: int) -> int:
        return max(_TURN // columns, _COMPARED_AT_ONCE)

    def compare(self) -> bool:
        """Compare rows that are kept, not too many at a time; say whether others wait."""
        with self._comparing:
            parts = self._take()
            if parts:
                found = Judgement.joined([part.found for part in parts])
                rows = [len(part.found) for part in parts]
                numbers = [part.first + np.arange(n) for part, n in zip(parts, rows, strict=True)]
                arrived = np.repeat([part.arrived for part in parts], rows)
                self._monitor.update(found)
                times = RowTimes(arrived, dated=True)
                self._incidents.add(found, np.concatenate(numbers), times)
                self._compared = True
            return bool(self._waiting)

    def _take(self) -> list[_Part]:
        taken: list[_Part] = []
        with self._lock:
            rows = 0
            while self._waiting:
                more = len(self._waiting[0].found)
                if rows and rows + more > self._turn(self._waiting[0].found.rows.shape[1]):
                    break
                taken.append(self._waiting.popleft())
                rows += more
            self._waiting_rows -= rows
            self._waiting_bytes -= sum(part.size for part in taken)
            self._due = self._due and bool(self._waiting)
        return taken

    def state(self) -> WatchState:
        """Return what the rows so far have shown; those that wait are compared first."""
        self.compare()
        with self._comparing:
            drift = self._monitor.result() if self._compared else None
            change = self._monitor.change()
            return WatchState(drift, change, self._incidents, self.rows, self.left_out)

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
            self._waiting.clear()
            self._waiting_rows = self._waiting_bytes = 0
            self.rows = self.left_out = 0  # of all that came
            self._due = self._compared = self._told = False


class StreamIncidents:
    """The last incidents of rows that come without end, in bounded memory.

    Rows have the time of the model's own column, else that of their arrival (UTC).
    """

    def __init__(self, model: Any) -> None:
        self._timeline, self._last, self._dated = Timeline(model), 0.0, True
        self._finder = IncidentFinder(model, None, timed=True, most_rows=_ROWS, most_groups=_GROUPS)
        self._ended: deque[Incident] = deque(maxlen=MOST_INCIDENTS)
        self._new: deque[Incident] = deque(maxlen=MOST_INCIDENTS)  # ended, not yet told
        self._begun = set[tuple[str | None, Any]]()  # told
        self._lock = threading.Lock()

    @property
    def total(self) -> int:
        """How many incidents there have been, those that are not kept too."""
        return self._finder.total

    def add(self, found: Judgement, numbers: Integers, arrived: RowTimes) -> None:
        """Follow more rows."""
        with self._lock:
            times, groups = self._times(found, arrived), self._timeline.groups(found, found)
            self._finder.add(found, numbers, times, groups)
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
