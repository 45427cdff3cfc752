"""The model beside another one: which rows change their verdict, and why."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refold.app.checking import CheckedRows
from refold.app.learning import TrainedModel
from refold.app.project import open_project
from refold.base.errors import UserError
from refold.checks import Comparison, compare
from refold.models.files import load


@dataclass(frozen=True, eq=False)
class ComparedModels:
    """Another model beside the one in use."""

    name: str  # the file of the other one
    rows: str  # whose rows were judged by both
    found: Comparison  # `old` is the other model, `new` the one in use
    names: list[str]  # what the rows that change are called


def other_model(path: Path, name: str, new_file: Callable[[], Path], most: int) -> Any:
    """Return the model of a project, with its rate, or that of a model file."""
    if not zipfile.is_zipfile(path):
        try:
            return load(path)
        except ValueError as error:
            said = str(error).replace(str(path), name)
            raise UserError(f"{name} is neither a project nor a model file: {said}") from None
    project = open_project(path, name, new_file, most)
    for file in (project.table, project.new):
        if file is not None:
            file.path.unlink(missing_ok=True)
    if project.rate is None or project.rate == project.model.alpha_:
        return project.model
    return project.model.calibrate(alpha=project.rate)


def compare_models(
    trained: TrainedModel, checked: CheckedRows | None, other: Any, name: str
) -> ComparedModels:
    """Judge the new rows by both models, or the rows learned if there are no others."""
    table = trained.table if checked is None else checked.table
    if table.rows == 0:
        raise UserError("There are no rows that both models could judge: check new rows first.")
    found = compare(other, trained.in_use, table.training.table, reasons=1, most=50)
    changed = np.array([row.row for row in found.changed_rows], dtype=np.int64)
    names = table.names_of(trained.choice.id_column, changed)
    return ComparedModels(name, table.name, found, names)
