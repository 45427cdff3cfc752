"""What is to be reproduced, and what one run found: entries and the evidence for the errata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from refold.studies.paper import printed
from refold.studies.paper.cells import PaperCell, PaperJob
from refold.studies.paper.columns import TRIALS, column_of
from refold.studies.paper.data import N_SPLITS, Task
from refold.studies.paper.entries import Agreement, Entry, Ours, make_entries, over_splits
from refold.studies.paper.errata import ERRATA, Erratum
from refold.studies.paper.printed import AVERAGE, Key, TaskInfo, tasks


@dataclass(frozen=True)
class Selection:
    """What is to be reproduced."""

    tables: tuple[int, ...]  # their numbers
    figures: tuple[int, ...]
    settings: tuple[str, ...]  # of Tables II and III
    methods: tuple[str, ...]  # columns of Table III

    def keys(self) -> dict[int, list[Key]]:
        """Return the cells of Tables II and III, in the paper's order of rows and columns."""
        return {
            table: [
                key
                for key in printed.cells(table)
                if key.setting in self.settings and (table == 2 or key.column[0] in self.methods)
            ]
            for table in (2, 3)
            if table in self.tables
        }

    def jobs(self) -> list[PaperJob]:
        """Return the cells to run, with the trials that errata need."""
        keys = [key for keys in self.keys().values() for key in keys]
        pairs = list(dict.fromkeys((column_of(key.column), key.setting) for key in keys))
        trials = [(name, "default") for name, (of, _) in TRIALS.items() if (of, "default") in pairs]
        return [
            PaperJob(*pair, task, split)
            for pair in (*pairs, *trials)
            for task in tasks()
            for split in range(N_SPLITS)
        ]


@dataclass(frozen=True)
class Reproduction:
    """What one run found."""

    selection: Selection  # what was asked for
    counted: list[TaskInfo]  # table I as counted from the data; empty if it was not asked for
    entries: dict[int, list[Entry]]  # those of Tables II and III
    trials: dict[str, dict[str, Ours]]  # the columns that show errata

    def all_entries(self) -> Iterator[Entry]:
        """Yield the entries of all tables."""
        for entries in self.entries.values():
            yield from entries

    def tally(self) -> Counter[Agreement]:
        """Count how tasks agree, averages left out."""
        return Counter(e.agreement for e in self.all_entries() if e.key.task != AVERAGE)

    def evidence(self) -> list[tuple[Erratum, list[str]]]:
        """Return each erratum with what this run shows of it, a sentence each."""
        return [(erratum, list(self._evidence(erratum))) for erratum in ERRATA]

    def _evidence(self, erratum: Erratum) -> Iterator[str]:
        for name in erratum.trials:
            if name in self.trials:
                yield _trial_sentence(name, self.trials[name])
        for entry in self.all_entries():
            if entry.agreement == "differs" and erratum.applies(entry.table, entry.key):
                yield f"{entry.name}, {entry.key.setting}, {entry.key.task}: ours {entry.values()}."


def compare(
    selection: Selection, loaded: Sequence[Task], cells: dict[PaperJob, PaperCell]
) -> Reproduction:
    """Put all that was computed beside what is printed."""
    counted = [task.info for task in loaded if 1 in selection.tables and task.split == 0]
    entries = {table: make_entries(table, keys, cells) for table, keys in selection.keys().items()}
    ran = {job.column for job in cells}
    trials = {name: over_splits(name, "default", cells) for name in TRIALS if name in ran}
    return Reproduction(selection, counted, entries, trials)


def _trial_sentence(name: str, ours: dict[str, Ours]) -> str:
    of, _ = TRIALS[name]
    table, column = (2, ("abs", "L1/D")) if of == "abs L1/D" else (3, (of,))
    keys = {task: Key("default", column, task) for task in ours}
    theirs = {task: printed.cells(table)[key] for task, key in keys.items()}
    differing = [
        task
        for task in tasks()
        if Entry(table, keys[task], ours[task], theirs[task]).agreement != "equal"
    ]
    n = len(tasks())
    where = f" (not on {', '.join(differing)})" if 0 < len(differing) < 8 else ""
    return (
        f"{name}: {n - len(differing)} of {n} tasks equal the printed column{where}; average "
        f"{ours[AVERAGE].gmean.mean:.1f}, printed {theirs[AVERAGE].mean:.1f}."
    )
