"""index.html: what was found on one table, in one file that needs no other."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from refold.studies.output import write_page
from refold.studies.own.cells import caught_of
from refold.studies.own.comparison import ALARMS, SECONDS, TITLES, OwnComparison
from refold.studies.own.curves import HEIGHT, LEFT, TOP, WIDTH, down, named_methods, power_curves
from refold.studies.own.injected import InjectedKind
from refold.studies.own.methods import METHODS
from refold.studies.own.table import OwnTable
from refold.studies.own.verdict import verdict
from refold.studies.tables.comparison import shown


class ShownMethod(NamedTuple):
    """A row of the table: a method, where it stands, its cells, and the share of the main one."""

    name: str
    mark: str
    cells: list[str]
    loud: bool


def write_index(
    found: OwnComparison,
    table: OwnTable,
    faults: Iterable[InjectedKind],
    absent: Iterable[str],
    fitted: str | None,
    command: str | None,
    folder: Path,
) -> None:
    """Write ``index.html`` into a folder; `command` fits the best of what ``refold fit`` makes."""
    write_page(
        folder / "index.html",
        "refold.studies.own",
        found=found,
        table=table,
        verdict=list(verdict(found)),
        heads=[TITLES.get(name, name) for name in found.columns],
        rows=[_row(found, method) for method in found.finished],
        unfinished=[(m, why) for m in found.methods if (why := found.unfinished(m))],
        absent=list(absent),
        curves=[power_curves(found, kind) for kind in found.sized],
        named=named_methods(found),
        tags=_by_tag(found),
        faults=list(faults),
        methods=[METHODS[name] for name in found.methods],
        fitted=fitted,
        command=command,
        alpha=f"{100 * found.alpha:.3g}",
        plot={"width": WIDTH, "height": HEIGHT, "left": LEFT, "top": TOP},
        levels=[(down(share), f"{share:.0%}") for share in (0.0, 0.5, 1.0)],
        alarm_column=found.columns.index(ALARMS),
        seconds=SECONDS,
    )


def _row(found: OwnComparison, method: str) -> ShownMethod:
    level = found.level_with_best()
    mark = "best" if method == found.best else "within noise" if method in level else ""
    cells = [found.cell(name, method) for name in found.columns]
    return ShownMethod(method, mark, cells, found.cries_wolf(method))


def _by_tag(found: OwnComparison) -> list[tuple[str, list[str]]]:
    """Return for each kind and size what each method caught, as it is printed."""
    return [
        (tag, cells)
        for kind in found.kinds
        for tag in kind.tags()
        if (cells := [shown("", found.mean(caught_of(tag), m)) for m in found.finished])
        and set(cells) != {shown("", float("nan"))}
    ]
