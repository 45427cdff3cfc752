"""Which faults were put in: in words, how many, where, and what one of them looks like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from refold.base.words import shortened
from refold.studies.own.faults import FAULTS
from refold.studies.tables.suite import NORMAL, TableTask

_MISSING = "nothing"
_SHOWN = 6  # columns


class InjectedKind(NamedTuple):
    """A kind of faults as it was put into a table."""

    name: str  # the kind, and what was done
    says: str
    rows: int  # how many faults of each size one division has
    columns: list[str]  # the columns that got some
    example: str  # one of them

    @property
    def where(self) -> str:
        """The columns, as many as a line holds."""
        names = [shortened(name) for name in self.columns[:_SHOWN]]
        more = f" and {len(self.columns) - _SHOWN} more" if len(self.columns) > _SHOWN else ""
        return ", ".join(names) + more


def injected(task: TableTask) -> Iterator[InjectedKind]:
    """Yield the kinds of faults of one division."""
    kinds, normals = list(task.kinds), task.kinds.count(NORMAL)
    for kind in FAULTS:
        tags = [tag for tag in kind.tags() if tag in kinds]
        if tags:
            places = [k for k in range(normals, len(kinds)) if kinds[k] in tags]
            columns = [str(task.columns[k]) for k in places]
            yield InjectedKind(
                kind.name,
                kind.says,
                kinds.count(tags[0]),
                [name for name in task.test.columns if name in set(columns)],
                _example(task, places[-1], kinds[places[-1]]),
            )


def _example(task: TableTask, place: int, tag: str) -> str:
    """Return a faulty cell in words."""
    name = str(task.columns[place])
    cell = task.test[name].iat[place]
    written = shortened(cell) if isinstance(cell, str) else _MISSING
    return f"{shortened(name)}: {written} ({tag})"
