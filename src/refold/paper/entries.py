"""From finished cells to the entries of Tables II and III, ours beside the printed ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from refold._typing import Floats
from refold.paper.cells import Job
from refold.paper.data import N_SPLITS
from refold.paper.printed import AVERAGE, Cell, Key, table2, table3, tasks
from refold.paper.registry import column_of
from refold.paper.run import Results

PRINTED = {2: table2, 3: table3}


class Ours(NamedTuple):
    """What we get for one cell, in percent.

    `noise` is the standard deviation of the cell's mean from one seed to another, `n_seeds` how
    many there were; with one seed nothing is random and the noise is 0.
    """

    cell: Cell
    noise: float
    n_seeds: int


@dataclass(frozen=True)
class Entry:
    """One cell of Table II or III."""

    table: int
    key: Key
    ours: Ours
    printed: Cell


def wanted_keys(
    table: int, settings: Iterable[str], methods: Iterable[str] | None = None
) -> list[Key]:
    """Return the cells of a table that were asked for, in the paper's order of rows and columns."""
    settings, chosen = set(settings), None if methods is None else set(methods)
    return [
        key
        for key in PRINTED[table]()
        if key.setting in settings and (table == 2 or chosen is None or key.column[0] in chosen)
    ]


def make_entries(table: int, keys: Iterable[Key], results: Results) -> list[Entry]:
    """Put ours beside the printed values."""
    printed = PRINTED[table]()
    columns: dict[tuple[str, str], dict[str, Ours]] = {}
    entries = []
    for key in keys:
        pair = column_of(key.column), key.setting
        if pair not in columns:
            columns[pair] = summarize(*pair, results)
        entries.append(Entry(table, key, columns[pair][key.task], printed[key]))
    return entries


def summarize(column: str, setting: str, results: Results) -> dict[str, Ours]:
    """Return a column's cells by task, the average included.

    With several seeds mean and standard deviation over the splits are taken for each seed, and then
    averaged over seeds.
    """
    gmeans = np.array(
        [
            [results[Job(column, setting, task, split)].gmeans for split in range(N_SPLITS)]
            for task in tasks()
        ]
    )
    means, stds = gmeans.mean(axis=1), gmeans.std(axis=1, ddof=1)
    cells = {task: _ours(means[i], stds[i]) for i, task in enumerate(tasks())}
    return {**cells, AVERAGE: _ours(means.mean(axis=0), stds.mean(axis=0))}


def _ours(means: Floats, stds: Floats) -> Ours:
    noise = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    return Ours(Cell(float(means.mean()), float(stds.mean())), noise, len(means))
