"""What has been done so far: one table, one model, one table of new rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from refold.app.checking import CheckedRows
from refold.app.comparing import ComparedModels
from refold.app.learning import TrainedModel
from refold.app.profile import Choice, TableProfile
from refold.app.project import CheckedFile
from refold.app.reading import TableFile
from refold.app.tables import KeptTable
from refold.checks import Limits
from refold.monitoring import Drift, drift

TABLE, CHECK = "/", "/check"  # the steps that take a file


@dataclass(frozen=True, eq=False)
class WorkState:
    """All that has been done so far; it does not change, another one takes its place."""

    table: KeptTable | None = None  # the table to learn from
    choice: Choice = field(default_factory=Choice)  # what was said of it
    look: TableProfile | None = None  # what it holds
    trained: TrainedModel | None = None  # what was learned
    checked: CheckedRows | None = None  # new rows
    drift: Drift | None = None  # how they differ from what was learned
    history: tuple[CheckedFile, ...] = ()  # what was checked so far
    comparison: ComparedModels | None = None  # the model beside another one
    blind: Limits | None = None  # what would be missed
    files: Mapping[str, Path] = field(default_factory=dict)  # what is ready to be downloaded

    @property
    def sample(self) -> str:
        """Which of the samples the table is; empty if none."""
        return "" if self.table is None or self.table.file is None else self.table.file.sample

    def file_of(self, step: str) -> TableFile | None:
        """Return the file that the table of a step was read from."""
        checked = None if self.checked is None else self.checked.table
        table = checked if step == CHECK else self.table
        return None if table is None else table.file

    @property
    def paths(self) -> set[Path]:
        """The files that are needed and are removed afterwards."""
        return {*self.files.values(), *owned(self.file_of(TABLE), self.file_of(CHECK))}

    @property
    def subject(self) -> tuple[object, ...]:
        """What pages are about; a page about another one is out of date."""
        return self.table, self.choice, self.trained, self.checked

    def with_model(self, trained: TrainedModel) -> WorkState:
        """Return the same with another model; what was found by the one before is gone."""
        return replace(self, trained=trained, blind=None, comparison=None, files={})

    def with_rows(self, checked: CheckedRows | None) -> WorkState:
        """Return the same with other new rows."""
        found = None if checked is None else drift(checked.trained.in_use, checked.found)
        return replace(self, checked=checked, drift=found)

    @property
    def stale(self) -> bool:
        """Whether the table or what is said of it has changed since it was learned."""
        trained = self.trained
        if trained is None or self.table is None:  # a model may come without its table
            return False
        return trained.table is not self.table or trained.choice != self.choice


@dataclass(frozen=True)
class Notice:
    """What came of the last thing that was done."""

    text: str  # a sentence or two
    bad: bool = False  # whether it failed, and nothing has changed
    file: TableFile | None = None  # what could not be used as it was read; it may be read otherwise
    rules: Mapping[str, Any] | None = None  # what was refused; the form shows it again


def owned(*files: TableFile | None) -> set[Path]:
    """Return the files that are removed when nobody needs them any more."""
    return {file.path for file in files if file is not None and file.ours}
