"""A project as one ZIP file: the model, what was said of its table, which files were checked."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from refold.app.checking import CheckedRows
from refold.app.learning import TrainedModel
from refold.app.profile import Choice
from refold.app.reading import TableFile
from refold.app.tables import KeptTable
from refold.base.errors import UserError
from refold.base.files import replacing
from refold.base.needs import needs
from refold.base.version import VERSION
from refold.models.detector import Detector
from refold.models.files import load, save
from refold.tabular import Training
from refold.tabular.table_source import ReadOptions

_FORMAT = 1
_ABOUT, _MODEL, _TABLE, _NEW = "project.json", "model.json", "table", "new-rows"
_MOST_ABOUT = 16 * 2**20
MOST_CHECKED = 500  # files that are remembered
# What a project file is called, and whether the tables that were read are in it.
PROJECTS = {"project.zip": False, "project-with-tables.zip": True}
_READING = ("header", "delimiter", "decimal", "thousands", "sheet", "skip_rows", "missing")


@dataclass(frozen=True)
class CheckedFile:
    """What came of a file of new rows."""

    name: str
    when: str  # in UTC, as ISO 8601 has it
    rows: int  # that were judged
    outliers: int
    rate: float | None  # the share of normal rows that are called outliers
    # low, high: How many outliers there would be by chance.
    low: int | None
    high: int | None
    changed: int  # columns that are no longer as in training

    @classmethod
    def of(cls, checked: CheckedRows, changed: int) -> CheckedFile:
        """Sum up what was checked now."""
        expected = checked.rates[checked.choice].expected if checked.rates else None
        low, high = (None, None) if expected is None else expected.interval
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rate = checked.found.judge.alpha
        return cls(
            checked.table.name, now, checked.judged, checked.rejected, rate, low, high, changed
        )

    @property
    def share(self) -> float:
        """The share of the rows that are outliers."""
        return self.outliers / self.rows if self.rows else 0.0


class Project(NamedTuple):
    """What a project file holds."""

    model: Detector
    name: str  # what the table of the model is called
    format: str  # how it was written
    rows: int  # how many of its rows were learned
    choice: Choice
    rate: float | None
    history: tuple[CheckedFile, ...]
    table: TableFile | None  # the table, if it is in there
    new: TableFile | None  # the new rows


def save_project(
    trained: TrainedModel,
    checked: CheckedRows | None,
    history: tuple[CheckedFile, ...],
    out: Path,
    *,
    tables: bool,
) -> None:
    """Write a project; the files that were read go with it only if they are wanted."""
    files = {_TABLE: trained.table.file, _NEW: None if checked is None else checked.table.file}
    kept = {key: file for key, file in files.items() if tables and file is not None}
    about = {
        "format": _FORMAT,
        "refold": VERSION,
        "table": {"name": trained.table.name, "format": trained.table.format, "rows": trained.rows},
        "settings": {**asdict(trained.choice), "without": sorted(trained.choice.without)},
        "rate": trained.rate,
        "feedback": [str(entry) for entry in trained.model.feedback_],
        "normal": trained.normal,
        "checked": [asdict(each) for each in history],
        "files": {
            key: {"name": file.name, "step": file.step, "sample": file.sample, **_reading(file)}
            for key, file in kept.items()
        },
    }
    model = out.with_suffix(".model")
    try:
        save(trained.model, model)
        with replacing(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_ABOUT, json.dumps(about, indent=1, ensure_ascii=False))
            archive.write(model, _MODEL)
            for key, each in kept.items():
                archive.write(each.path, key)
    finally:
        model.unlink(missing_ok=True)


def _reading(file: TableFile) -> dict[str, Any]:
    return {"reading": {name: getattr(file.how, name) for name in _READING}}


def open_project(path: Path, name: str, new_file: Callable[[], Path], most: int) -> Project:
    """Read a project; its files are written to where `new_file` says, and removed if it fails.

    Raises
    ------
    UserError
        If it is none, or is broken.
    """
    written: list[Path] = []
    try:
        with zipfile.ZipFile(path) as archive:

            def extracted(key: str) -> Path:
                out = new_file()
                written.append(out)
                with out.open("xb") as file:
                    file.write(_content(archive, key, most))
                return out

            about = json.loads(_content(archive, _ABOUT, _MOST_ABOUT))
            return _project(about, extracted)
    # Strangers make such files: a member is missing, JSON of another form, a compression that
    # zipfile does not know (NotImplementedError).
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, NotImplementedError) as error:
        for each in written:
            each.unlink(missing_ok=True)
        known = isinstance(error, UserError)
        why = error.args[0] if known else "it is damaged, or was not saved by refold"
        raise UserError(
            f"{name} cannot be opened as a project: {why}. Projects are saved in the last step."
        ) from None


def _content(archive: zipfile.ZipFile, key: str, most: int) -> bytes:
    """Return a member; what it says about its size is not believed."""
    with archive.open(key) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{key} has more than {most:,} bytes")
    return content


def _project(about: Mapping[str, Any], extracted: Callable[[str], Path]) -> Project:
    if about["format"] != _FORMAT:
        raise ValueError(f"it is of format {about['format']!r}, this version knows {_FORMAT}")
    path = extracted(_MODEL)
    model = load(path)
    path.unlink()
    if not isinstance(model, Detector):
        raise ValueError(f"its model is a {type(model).__name__}")
    files = {key: _file(each, extracted(key)) for key, each in about["files"].items()}
    table, rate = about["table"], about["rate"]
    return Project(
        model,
        str(table["name"]),
        str(table["format"]),
        int(table["rows"]),
        _choice(about["settings"], model),
        None if rate is None else float(rate),
        tuple(CheckedFile(**each) for each in about["checked"][-MOST_CHECKED:]),
        files.get(_TABLE),
        files.get(_NEW),
    )


def _choice(said: Mapping[str, Any], model: Detector) -> Choice:
    target, method = said["target"], said["method"]
    known: Literal["auto", "ref"] = "ref" if method == "ref" else "auto"
    return Choice(
        roles={str(name): str(role) for name, role in said["roles"].items()},
        target=None if target is None else (str(target[0]), str(target[1])),
        without=frozenset(int(number) for number in said["without"]),
        method=known,
        by=str(said["by"]),
        over=str(said["over"]),
        id_column=str(said["id_column"]),
        rules=dict(model.rules or {}),
    )


def _file(said: Mapping[str, Any], path: Path) -> TableFile:
    reading = {**said["reading"], "missing": tuple(said["reading"]["missing"])}
    if set(reading) != set(_READING):
        raise ValueError("how its table is read cannot be understood")
    name, step, sample = (str(said[key]) for key in ("name", "step", "sample"))
    return TableFile(path, name, step, sample=sample, how=ReadOptions(**reading))


def without_rows(project: Project) -> KeptTable:
    """Return what stands for the table of a project that has none of its rows."""
    pa = needs("pyarrow", "app")
    none = pa.table({name: pa.array([], pa.string()) for name in project.model.feature_names_in_})
    training = Training(none, 0, lambda row: project.name, np.zeros(0, dtype=np.int64), none)
    return KeptTable(project.name, project.format, (), training)
