"""The entries of Tables II and III: ours beside the printed ones, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import hypot, sqrt
from typing import Literal, NamedTuple

import numpy as np

from refold._typing import Floats
from refold.studies.paper import printed
from refold.studies.paper.cells import PaperCell, PaperJob
from refold.studies.paper.columns import column_of
from refold.studies.paper.data import N_SPLITS
from refold.studies.paper.errata import errata_of
from refold.studies.paper.printed import AVERAGE, Gmean, Key, tasks

Agreement = Literal["equal", "noise", "differs"]
TITLES: dict[Agreement, str] = {
    "equal": "equal",
    "noise": "within seed noise",
    "differs": "different",
}

# Half of the last printed digit, and a little for numbers that end in a 5 there.
_HALF_DIGIT = 0.05 + 1e-9
# The standard deviation of what rounding to one decimal does.
_ROUNDING = 0.1 / sqrt(12.0)
_MAX_Z = 3.0


class Ours(NamedTuple):
    """What we get for one cell, in percent.

    `noise` is the standard deviation of the mean from one seed to another, `n_seeds` how many there
    were; with one seed nothing is random and the noise is 0.
    """

    gmean: Gmean
    noise: float
    n_seeds: int


@dataclass(frozen=True)
class Entry:
    """One cell of Table II or III; `because` says why it differs, if it does."""

    table: int
    key: Key
    ours: Ours
    printed: Gmean
    because: str = ""

    @property
    def name(self) -> str:
        """The column's heading."""
        return " ".join(self.key.column)

    @property
    def agreement(self) -> Agreement:
        """Whether ours rounds to the printed digits, differs by chance or differs."""
        pairs = zip(self.ours.gmean, self.printed, strict=True)
        if all(abs(ours - theirs) <= _HALF_DIGIT for ours, theirs in pairs):
            return "equal"
        spread = hypot(self.ours.noise * sqrt(1.0 + 1.0 / self.ours.n_seeds), _ROUNDING)
        z = abs(self.printed.mean - self.ours.gmean.mean) / spread
        return "noise" if self.ours.n_seeds > 1 and z <= _MAX_Z else "differs"

    @property
    def title(self) -> str:
        """The agreement in words."""
        differs = self.agreement == "differs"
        return f"differs, because {self.because}" if differs else TITLES[self.agreement]

    def values(self) -> str:
        """Return ours and the printed cell."""
        return f"{self.ours.gmean.text()}, printed {self.printed.text()}"


def make_entries(table: int, keys: Iterable[Key], cells: dict[PaperJob, PaperCell]) -> list[Entry]:
    """Put ours beside the printed values."""
    columns: dict[tuple[str, str], dict[str, Ours]] = {}
    entries = []
    for key in keys:
        pair = column_of(key.column), key.setting
        if pair not in columns:
            columns[pair] = over_splits(*pair, cells)
        entries.append(Entry(table, key, columns[pair][key.task], printed.cells(table)[key]))
    return [
        replace(entry, because=_reason(entry, entries)) if entry.agreement == "differs" else entry
        for entry in entries
    ]


def over_splits(column: str, setting: str, cells: dict[PaperJob, PaperCell]) -> dict[str, Ours]:
    """Return a column's cells by task, the average included.

    With several seeds mean and standard deviation over the splits are taken for each seed, and then
    averaged over seeds.
    """
    gmeans = np.array(
        [
            [cells[PaperJob(column, setting, task, split)].gmeans for split in range(N_SPLITS)]
            for task in tasks()
        ]
    )
    means, stds = gmeans.mean(axis=1), gmeans.std(axis=1, ddof=1)
    ours = {task: _ours(means[i], stds[i]) for i, task in enumerate(tasks())}
    return {**ours, AVERAGE: _ours(means.mean(axis=0), stds.mean(axis=0))}


def _ours(means: Floats, stds: Floats) -> Ours:
    noise = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    return Ours(Gmean(float(means.mean()), float(stds.mean())), noise, len(means))


def _reason(entry: Entry, entries: Sequence[Entry]) -> str:
    if entry.key.task == AVERAGE:
        return _reason_of_average(entry, entries)
    known = errata_of(entry.table, entry.key)
    if known:
        # Trials run in the default setting: elsewhere an erratum is likely, but not shown.
        doubt = ", likely here too" if entry.key.setting == "optimized" else ""
        return "; ".join(f"{e.short} (erratum {e.number}{doubt})" for e in known)
    if entry.ours.n_seeds > 1:
        what = "folds" if entry.key.setting == "optimized" else "draws"
        return (
            f"of something that we have not found: the paper's random {what} are not published, "
            f"but ours move this cell by ±{entry.ours.noise:.1f} only ({entry.ours.n_seeds} seeds)"
        )
    return "of something that we have not found"


def _reason_of_average(average: Entry, entries: Sequence[Entry]) -> str:
    differing = [
        entry.key.task
        for entry in entries
        if entry.key[:2] == average.key[:2]
        and entry.key.task != AVERAGE
        and entry.agreement == "differs"
    ]
    if differing:
        return f"of the cells above that differ: {', '.join(differing)}"
    return "small differences of the cells above, none beyond seed noise alone, add up"
