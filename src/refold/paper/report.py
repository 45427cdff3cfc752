"""What one run found: entries, verdicts and the evidence for the errata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from refold.paper.entries import Entry, Ours, make_entries, summarize, wanted_keys
from refold.paper.errata import ERRATA, Erratum
from refold.paper.printed import AVERAGE, Key, TaskInfo, table2, table3, tasks
from refold.paper.registry import TRIALS, column_of
from refold.paper.run import Results
from refold.paper.tables import as_text
from refold.paper.verdict import Kind, Verdict, is_equal, judge

Judged = tuple[Entry, Verdict]


@dataclass(frozen=True)
class Request:
    """What is to be reproduced.

    Parameters
    ----------
    tables, figures : tuple of int
        Their numbers.
    settings : tuple of str
        Of Tables II and III.
    methods : tuple of str
        Columns of Table III.
    """

    tables: tuple[int, ...]
    figures: tuple[int, ...]
    settings: tuple[str, ...]
    methods: tuple[str, ...]

    def keys(self, table: int) -> list[Key]:
        """Return the cells of Table II or III that are asked for."""
        return wanted_keys(table, self.settings, self.methods)

    def columns(self) -> list[tuple[str, str]]:
        """Return the columns to run and in which setting, with the trials that errata need."""
        pairs = {
            (column_of(key.column), key.setting): None
            for table in (2, 3)
            if table in self.tables
            for key in self.keys(table)
        }
        trials = [(name, "default") for name, (of, _) in TRIALS.items() if (of, "default") in pairs]
        return [*pairs, *trials]


@dataclass(frozen=True)
class Report:
    """The results of a request.

    Parameters
    ----------
    request : Request
        What was asked for.
    counts : sequence of TaskInfo
        Table I as counted from the data; empty if it was not asked for.
    judged : dict
        For Tables II and III their entries with the verdicts.
    trials : dict
        Summaries of the columns that show errata.
    """

    request: Request
    counts: Sequence[TaskInfo] = ()
    judged: dict[int, list[Judged]] = field(default_factory=dict)
    trials: dict[str, dict[str, Ours]] = field(default_factory=dict)

    def all_judged(self) -> Iterator[Judged]:
        """Yield the entries of all tables."""
        for judged in self.judged.values():
            yield from judged

    def tally(self) -> Counter[Kind]:
        """Count the verdicts on tasks, averages left out."""
        return Counter(v.kind for entry, v in self.all_judged() if entry.key.task != AVERAGE)


def make_report(request: Request, counts: Sequence[TaskInfo], results: Results) -> Report:
    """Judge all that was computed."""
    judged = {}
    for table in sorted({2, 3} & set(request.tables)):
        entries = make_entries(table, request.keys(table), results)
        judged[table] = list(zip(entries, judge(entries), strict=True))
    ran = {job.column for job in results}
    trials = {name: summarize(name, "default", results) for name in TRIALS if name in ran}
    return Report(request, counts, judged, trials)


def evidence(report: Report, erratum: Erratum) -> list[str]:
    """Return what this run shows of an erratum, a sentence each; nothing if it shows nothing."""
    lines = [
        _trial_sentence(name, report.trials[name])
        for name in erratum.trials
        if name in report.trials
    ]
    for entry, verdict in report.all_judged():
        if verdict.kind == "differs" and erratum.applies(entry.table, entry.key):
            lines.append(_cell_sentence(entry))
    return lines


def all_evidence(report: Report) -> list[tuple[Erratum, list[str]]]:
    """Return each erratum with what this run shows of it."""
    return [(erratum, evidence(report, erratum)) for erratum in ERRATA]


def _trial_sentence(name: str, cells: dict[str, Ours]) -> str:
    of, _ = TRIALS[name]
    table, column = (2, ("abs", "L1/D")) if of == "abs L1/D" else (3, (of,))
    printed = (table2 if table == 2 else table3)()
    keys = {task: Key("default", column, task) for task in (*tasks(), AVERAGE)}
    entries = [Entry(table, keys[task], cells[task], printed[keys[task]]) for task in tasks()]
    equal = sum(map(is_equal, entries))
    differing = [entry.key.task for entry in entries if not is_equal(entry)]
    where = f" (not on {', '.join(differing)})" if 0 < len(differing) < 8 else ""
    return (
        f"{name}: {equal} of {len(entries)} tasks equal the printed column{where}; average "
        f"{cells[AVERAGE].cell.mean:.1f}, printed {printed[keys[AVERAGE]].mean:.1f}."
    )


def _cell_sentence(entry: Entry) -> str:
    name = " ".join(entry.key.column)
    return (
        f"{name}, {entry.key.setting}, {entry.key.task}: ours {as_text(entry.ours.cell)}, "
        f"printed {as_text(entry.printed)}."
    )
