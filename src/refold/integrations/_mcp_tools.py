"""What agents may ask of models: within one folder and within bounds."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from refold.base.errors import UserError

if TYPE_CHECKING:
    from refold.judgement import Judgement
    from refold.tabular import TableSource, Training

INLINE_ROWS = 1_000
LISTED = 200

ModelName = Annotated[
    str, Field(description="A model that is served, by its name, or a model file of the folder.")
]
TableFile = Annotated[
    str | None,
    Field(description="A table in the folder: CSV, Excel, JSON, Parquet or Arrow.", max_length=500),
]
Rows = Annotated[
    list[dict[str, str | int | float | bool | None]] | None,
    Field(
        description="Rows in place of a table: objects of column and cell.", max_length=INLINE_ROWS
    ),
]
RowNumbers = Annotated[
    list[Annotated[int, Field(ge=1)]],
    Field(description="Which rows, counted from 1 below the header.", min_length=1, max_length=20),
]
Listed = Annotated[int, Field(description="How many rows or findings to list.", ge=0, le=LISTED)]
Roles = Annotated[
    dict[str, str] | None,
    Field(
        description="The roles of columns: number, category, text, identifier, date or ignore; "
        "without it they are guessed."
    ),
]


@dataclass(frozen=True)
class ModelTools:
    """What an agent may ask. Rows are counted from 1; every answer is a document of plain values.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import refold
    >>> from refold.integrations.mcp import ModelTools
    >>> rows = [{"heat": 20 + k * 7 % 13 / 10, "flow": 5 + k % 3} for k in range(40)]
    >>> file = Path(tempfile.mkdtemp()) / "parts.json"
    >>> refold.save(refold.Detector().fit(rows), file)
    >>> tools = ModelTools({"parts": file})
    >>> answer = tools.score("parts", rows=[rows[0], {"heat": 90.0, "flow": 5}])
    >>> answer["outliers"], answer["farthest"][0]["row"]
    (1, 2)
    """

    models: Mapping[str, Path]  #: model files by the name that agents use
    #: Where tables and further models are read and learned models are written. No other file is
    #: opened, not by a symbolic link either. None is nowhere: rows come with the question.
    folder: Path | None = None
    max_rows: int = 100_000  #: rows of one table
    max_bytes: int = 64 * 2**20  #: bytes of one file
    _root: Path | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        root = None if self.folder is None else Path(self.folder).resolve()
        if root is not None and not root.is_dir():
            raise UserError(f"{self.folder} is not a folder.")
        object.__setattr__(self, "_root", root)

    def check(
        self,
        table: TableFile = None,
        rows: Rows = None,
        roles: Roles = None,
        ignore: list[str] | None = None,
        limit: Listed = 20,
    ) -> dict[str, Any]:
        """Say what to look at in a table of normal rows before a model learns from it."""
        from refold.checks import check

        training = self._training(table, rows, ignore or [])
        document = check(training.table, roles=roles).map(_one_based).to_dict()
        findings = document["findings"]
        return {
            **document,
            "n_findings": len(findings),
            "findings": findings[:limit],
            "notes": document["notes"][:limit],
        }

    def learn(
        self,
        table: TableFile,
        out: Annotated[str, Field(description="The model file to write, new, ending with .json.")],
        alpha: Annotated[
            float | None, Field(description="The false alarm rate.", gt=0.0, lt=1.0)
        ] = None,
        roles: Roles = None,
        ignore: list[str] | None = None,
        by: Annotated[list[str] | None, Field(description="The columns of the group.")] = None,
        over: Annotated[str | None, Field(description="The column of the time.")] = None,
    ) -> dict[str, Any]:
        """Learn what is normal from a table of normal rows, and write a model file."""
        import refold
        from refold.base.advice import in_python

        path = self._inside(out)
        if path.suffix != ".json" or not path.parent.is_dir() or path.exists():
            raise UserError(f"{out!r} is not the name of a new file that ends with .json.")
        training = self._training(table, None, ignore or [])
        model = refold.Detector(alpha="auto" if alpha is None else alpha, roles=roles)
        model.set_params(by=by, over=over).fit(training.table)
        refold.save(model, path)
        return {
            "model": out,
            "rows": training.table.num_rows,
            "columns": {column.name: column.role for column in model.columns_},
            "threshold": float(model.threshold_),
            "alpha": model.alpha_,
            "noticed": [found.one_based().render(in_python) for found in model.noticed_],
        }

    def score(
        self, model: ModelName, table: TableFile = None, rows: Rows = None, limit: Listed = 20
    ) -> dict[str, Any]:
        """Count the rows that are outliers, and list those farthest out with a sentence each."""
        from refold.integrations._batch import judge_batch

        fitted = self._model(model)
        found = self._judged(fitted, table, rows)
        verdict = judge_batch(fitted, found, listed=limit)
        return {
            "rows": verdict.rows,
            "outliers": len(verdict.outliers),
            "not_judged": verdict.rows - verdict.judged,
            "threshold": found.judge.threshold,
            "alpha": found.judge.alpha,
            "farthest": [
                {
                    "row": one.row + 1,
                    "name": one.name,
                    "distance": one.distance,
                    "p_value": one.p_value,
                    "reasons": [reason.feature for reason in one.reasons],
                    "sentence": one.sentence(),
                }
                for one in verdict.farthest
            ],
        }

    def explain(
        self,
        model: ModelName,
        row_numbers: RowNumbers,
        table: TableFile = None,
        rows: Rows = None,
        reasons: Annotated[int, Field(ge=1, le=50)] = 5,
    ) -> dict[str, Any]:
        """Say why rows are normal or not: each column's share, what is normal, and a way out."""
        import numpy as np

        from refold.explanation import explain

        fitted = self._model(model)
        found = self._judged(fitted, table, rows)
        if max(row_numbers) > len(found):
            raise UserError(f"There are {len(found):,} rows: there is no row {max(row_numbers):,}.")
        explained = explain(fitted, found.take(np.array(row_numbers) - 1), reasons=reasons)
        numbered = zip(row_numbers, explained, strict=True)
        return {
            "threshold": found.judge.threshold,
            "alpha": found.judge.alpha,
            "rows": [replace(one, row=row).to_dict() for row, one in numbered],
        }

    def compare(
        self,
        old: ModelName,
        new: ModelName,
        table: TableFile = None,
        rows: Rows = None,
        limit: Listed = 20,
    ) -> dict[str, Any]:
        """Say what changes if a new model replaces the old one: which rows, which way, and why."""
        from refold.checks import Comparer

        models = self._model(old), self._model(new)
        comparer = Comparer(*models, most=limit)
        comparer.update(*(self._judged(model, table, rows) for model in models), first=1)
        return comparer.result().to_dict()

    def limits(
        self, model: ModelName, columns: list[str] | None = None, limit: Listed = 50
    ) -> dict[str, Any]:
        """Say how far each column must be off before a row is rejected."""
        from refold.checks import limits

        document = limits(self._model(model)).to_dict()
        features = document["features"]
        if columns is not None:
            features = [one for one in features if one["feature"] in columns]
        return {**document, "n_features": len(features), "features": features[:limit]}

    def rules(
        self, model: ModelName, columns: list[str] | None = None, limit: Listed = 50
    ) -> dict[str, Any]:
        """List what a model takes as normal as rules of columns, to be reviewed."""
        from refold.checks import learned_rules

        found = [
            {"column": rule.column, "text": str(rule), **rule.to_dict()}
            for rule in learned_rules(self._model(model))
            if columns is None or rule.column in columns
        ]
        return {"n_rules": len(found), "rules": found[:limit]}

    def _inside(self, name: str) -> Path:
        """Return a path of the folder; refuse all others, wherever links lead."""
        if self._root is None:
            raise UserError("This server has no folder: send rows, or start it with --folder.")
        try:
            path = (self._root / name).resolve()
        except (OSError, ValueError):
            raise UserError(f"{name[:100]!r} is not the name of a file.") from None
        if not path.is_relative_to(self._root):
            raise UserError(f"{name!r} is not in the folder of this server.")
        return path

    def _file(self, name: str) -> Path:
        path = self._inside(name)
        if not path.is_file():
            raise UserError(f"There is no file {name[:100]!r} in the folder of this server.")
        if path.stat().st_size > self.max_bytes:
            raise UserError(f"{name!r} has more than {self.max_bytes:,} bytes.")
        return path

    def _model(self, name: str) -> Any:
        from refold.models.files import load

        if name not in self.models and self._root is None:
            raise UserError(
                f"There is no model {name[:100]!r}; there are {', '.join(self.models)}."
            )
        return load(self.models[name] if name in self.models else self._file(name))

    def _open(self, table: str | None, rows: list[dict[str, Any]] | None) -> TableSource:
        from refold.tabular import open_table
        from refold.tabular.json_table import JsonTable
        from refold.tabular.table_source import ReadOptions

        if (table is None) == (rows is None):
            raise UserError("Either a table or rows are needed.")
        if table is not None:
            return open_table(self._file(table))
        return JsonTable(io.BytesIO(json.dumps(rows).encode()), "rows", ReadOptions())

    def _training(
        self, table: str | None, rows: list[dict[str, Any]] | None, ignore: list[str]
    ) -> Training:
        from refold.service.scoring import check_count
        from refold.tabular import TrainingSelection, read_training

        read = 0

        def count(more: int) -> None:
            nonlocal read
            read += more
            check_count(read, self.max_rows)

        with self._open(table, rows) as data:
            return read_training(data, TrainingSelection(ignore=ignore), count)

    def _judged(
        self, model: Any, table: str | None, rows: list[dict[str, Any]] | None
    ) -> Judgement:
        from refold.judgement import Judge
        from refold.service.scoring import score_columns

        data = self._open(table, rows)
        judged = score_columns(
            Judge.of(model), data, on_bad="judge", explained=True, most=self.max_rows
        )
        assert judged.found is not None
        return judged.found


def _one_based(found: Any) -> Any:
    return replace(found.one_based(), rows=tuple(row + 1 for row in found.rows))
