"""What was learned, and which rows to look at before it is trusted."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from refold.app.jobs import Job
from refold.app.profile import Choice, TableProfile
from refold.app.reading import as_control
from refold.app.tables import KeptTable
from refold.base.findings import rows_left_out, told
from refold.checks import suspects
from refold.columns.table import Table
from refold.decisions.rules import rules_in_words
from refold.decisions.rules_reading import read_rules
from refold.explanation import normal_of_columns, normal_text
from refold.judgement import Judge
from refold.models.detector import Detector
from refold.models.detector.detector_findings import WARNED
from refold.models.files import check_columns
from refold.tabular.errors import located

SUSPECTS = 20
_DRAWN = 2000  # rows that pictures are made of


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model, and what it was learned from."""

    table: KeptTable  # the table
    choice: Choice  # what was learned of it
    rows: int  # from how many rows
    model: Detector  # as it was learned, and what people have said since
    odd: list[OddRow]  # the rows that look least like the rest
    note: str  # what that list means
    # The share of normal rows that may be called not normal, if somebody has chosen one.
    rate: float | None = None

    @cached_property
    def in_use(self) -> Detector:
        """The model with the rate that was chosen."""
        if self.rate is None or self.rate == self.model.alpha_:
            return self.model
        return copy.copy(self.model).calibrate(alpha=self.rate)

    @cached_property
    def judge(self) -> Judge:
        """What judges rows."""
        return Judge.of(self.in_use)

    @cached_property
    def cells(self) -> Table | None:
        """Some of the rows learned, parsed; None if the model keeps none that is no number."""
        kept = self.model.kept_rows().head(_DRAWN)
        cells = self.judge.table(kept).cells
        return None if cells is None else cells.as_read

    @cached_property
    def normal(self) -> dict[str, str]:
        """What is normal of each column, in a few words."""
        found = normal_of_columns(self.model.encoder_, self.model.summary_)
        distinct = {column.name: column.distinct for column in self.model.columns_}
        return {
            name: normal_text({**column, "distinct": distinct[name]})
            for name, column in found.items()
        }

    @cached_property
    def rules(self) -> list[tuple[str, list[str]]]:
        """The user's own rules in words, by column."""
        return rules_in_words(read_rules(self.model.rules))

    @property
    def noticed(self) -> list[str]:
        """What Python warns of: rules that never hold, a rate that cannot be kept."""
        return list(told((f for f in self.model.noticed_ if f.kind in WARNED), as_control))

    def with_model(self, model: Detector) -> TrainedModel:
        """Return the same with a model that has learned on."""
        return replace(self, model=model)

    def at(self, rate: float) -> TrainedModel:
        """Return the same with another rate."""
        return replace(self, rate=rate)


@dataclass(frozen=True)
class OddRow:
    """A training row that looks unlike the rest."""

    number: int  # which row of the file, from 1
    name: str  # what it is called
    because: list[str]  # why, a sentence each


def learned(table: KeptTable, choice: Choice, look: TableProfile | None, job: Job) -> TrainedModel:
    """Learn what is normal, and list the rows that look least so."""
    read_rules(choice.rules)  # before anything takes long
    training = choice.training(table)
    rows = choice.learned(table) if look is None else look.learned(table, choice)
    roles = choice.roles_of(rows)
    job.says(f"Learning from {len(rows):,} rows")
    said = {name: role for name, role in roles.items() if name != choice.id_column}
    model = Detector(
        method=choice.method,
        roles=said,
        id_column=choice.id_column or None,
        rules=dict(choice.rules) or None,
        **choice.context,
    )
    with located(table.name, training.where):
        check_columns(model, len(rows.names))
        model.fit(rows)
        found = tuple(each.numbered(training.numbers) for each in model.noticed_)
        left = [rows_left_out(sorted(choice.without), table.rows)] if choice.without else []
        model.noticed_ = (*left, *found)
        job.says("Looking for rows that look unlike the rest")
        odd = suspects(rows, SUSPECTS, roles=roles, **choice.context)
    chosen = np.flatnonzero(choice.chosen(table))[[each.row for each in odd]]
    names = table.names_of(choice.id_column, chosen)
    numbers = table.training.numbers[chosen].tolist()
    odd_rows = [
        OddRow(number, name, each.because)
        for number, name, each in zip(numbers, names, odd, strict=True)
    ]
    return TrainedModel(table, choice, len(rows), model, odd_rows, odd.note)


def as_before(trained: TrainedModel, old: TrainedModel | None) -> TrainedModel:
    """Return a model with the rate that was chosen for its table, if it has rows enough."""
    if old is None or old.rate is None or old.table is not trained.table:
        return trained
    same = trained.at(old.rate)
    try:
        same.in_use  # noqa: B018  # now: it says so if there are too few
    except ValueError:
        return trained
    return same
