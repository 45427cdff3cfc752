"""The models that are served: read from their files, and read again when these change."""

from __future__ import annotations

import hashlib
import math
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from refold.base.errors import UserError
from refold.base.once import once
from refold.columns.number_form import NumberForm
from refold.judgement import Judge
from refold.modelfile import ModelFileError
from refold.models.files import load_with_origin
from refold.service.example import example_row
from refold.service.scoring import score_records
from refold.service.watching import RowWatch

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TIMED = 3  # times that a row is judged to know how long it takes

_NUMBER: dict[str, Any] = {"type": ["number", "null"]}
_NUMBER_TEXT: dict[str, Any] = {
    "type": ["number", "string", "null"],
    "description": "A number, or a text that is written as in training.",
}
_DATE: dict[str, Any] = {
    "type": ["string", "number", "null"],
    "description": "A date or time, written as in training.",
}
_TEXT: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
_PYTHON_TYPES: dict[str, set[type]] = {
    "number": {int, float},
    "string": {str},
    "boolean": {bool},
    "null": {type(None)},
}


@dataclass(frozen=True, eq=False)
class HostedModel:
    """A model in service; it does not change."""

    name: str
    model: Any
    judge: Judge
    digest: str  # the SHA-256 of its file
    created: str
    version: str
    loaded: str  # since when it is in service (UTC)
    row_seconds: tuple[float, float]  # processor time of one row, without and with reasons
    watch: RowWatch | None

    @once
    def row_schema(self) -> dict[str, Any]:
        """The JSON Schema of a row."""
        roles = dict.fromkeys(self.judge.inputs, ("number", _NUMBER))
        if self.judge.encoder is not None:
            for column in self.judge.encoder.inputs.used:
                schema = {"number": _NUMBER, "date": _DATE}.get(column.role, _TEXT)
                if column.role == "number" and column.form not in (None, NumberForm()):
                    schema = _NUMBER_TEXT
                roles[column.name] = column.role, schema
        return {
            "type": "object",
            "title": f"A row for {self.name}",
            "required": list(roles),
            "properties": {
                name: {**schema, "title": f"{name} ({role})"}
                for name, (role, schema) in roles.items()
            },
        }

    @once
    def example(self) -> dict[str, Any]:
        """A row as clients send it."""
        return example_row(self.model, self.judge)

    @once
    def cell_types(self) -> dict[str, frozenset[type]]:
        """The types of Python that the schema allows in each column."""
        columns = self.row_schema["properties"].items()
        return {
            name: frozenset().union(*(_PYTHON_TYPES[kind] for kind in column["type"]))
            for name, column in columns
        }


class ModelStore:
    """Models by name, which is part of addresses; those that cannot be read now are refused."""

    def __init__(self, files: Mapping[str, Path], *, drift: bool = True) -> None:
        for name in files:
            if not _NAME.fullmatch(name):
                raise UserError(
                    f"{name!r} cannot be the name of a model in an address. Give it another one of "
                    "letters, digits, dots and dashes: name=file."
                )
        self._files, self._drift = {name: Path(file) for name, file in files.items()}, drift
        self._seen = {name: _signature(file) for name, file in self._files.items()}
        self._served = {name: self._load(name) for name in self._files}
        self._problems: dict[str, str] = {}

    def __iter__(self) -> Iterator[HostedModel]:
        return iter(self._served.values())

    def get(self, name: str) -> HostedModel | None:
        """Return a model, None if there is none of this name."""
        return self._served.get(name)

    def problem(self, name: str) -> str | None:
        """Return why the file of a model that is served could not be loaded again."""
        return self._problems.get(name)

    def refresh(self) -> list[tuple[str, str | None]]:
        """Load the models whose files have changed; return what was tried, and what was wrong.

        A broken file leaves the old model in service.
        """
        tried: list[tuple[str, str | None]] = []
        for name, file in self._files.items():
            try:
                found = _signature(file)
                if found == self._seen[name]:
                    continue
                self._seen[name] = found
                self._served[name] = self._load(name)
            except (ModelFileError, OSError) as error:
                problem = _problem(error)
                if self._problems.get(name) == problem:
                    continue  # a file that is gone stays gone
                self._problems[name] = problem
                tried.append((name, problem))
            else:
                self._problems.pop(name, None)
                tried.append((name, None))
        return tried

    def _load(self, name: str) -> HostedModel:
        # A file that is replaced between these two has another signature, and is read again.
        digest = hashlib.sha256(self._files[name].read_bytes()).hexdigest()
        model, origin = load_with_origin(self._files[name])
        judge = Judge.of(model)
        return HostedModel(
            name=name,
            model=model,
            judge=judge,
            digest=digest,
            created=origin.created,
            version=origin.refold_version,
            loaded=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            row_seconds=(_row_seconds(judge, explained=False), _row_seconds(judge, explained=True)),
            watch=RowWatch(model) if self._drift else None,
        )


def _row_seconds(judge: Judge, *, explained: bool) -> float:
    """Return the processor time of judging a row."""
    row, least = dict.fromkeys(judge.inputs, 0.0), math.inf
    for _ in range(_TIMED):  # the first time, more is done than later
        begin = time.thread_time()
        score_records(judge, [row], explained=explained)
        least = min(least, time.thread_time() - begin)
    return least


def _problem(error: ModelFileError | OSError) -> str:
    """Say what is wrong with a file, but not where it is."""
    if isinstance(error, OSError):
        return f"The file cannot be read: {error.strerror}."
    return ": ".join(part for part in (error.where, error.problem) if part)


def _signature(file: Path) -> tuple[int, int, int]:
    """Return what changes when a file does."""
    found = os.stat(file)
    return found.st_mtime_ns, found.st_size, found.st_ino
