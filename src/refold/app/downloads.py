"""What can be downloaded: the model, the scored rows, a report, ONNX and SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from refold.app.checking import CheckedRows
from refold.app.jobs import Job
from refold.app.learning import TrainedModel
from refold.app.tables import KeptTable
from refold.base.errors import UserError
from refold.base.files import write_file
from refold.base.needs import needs
from refold.judgement import answer_names
from refold.models.files import save
from refold.report import write_report
from refold.report.parts import plural
from refold.scale.stream import ScoredColumns
from refold.service import curl_command, example_row
from refold.tabular.writing import WriteOptions, writing

_REASONS, _PREFIX = 3, "refold_"
_AT_ONCE = 2000  # rows that are explained before it is said how far it has come
DIALECTS = ("duckdb", "postgres", "sqlite", "snowflake", "bigquery")


def _model(trained: TrainedModel, checked: CheckedRows | None, out: Path, job: Job) -> None:
    save(trained.in_use, out)


def _rules(trained: TrainedModel, checked: CheckedRows | None, out: Path, job: Job) -> None:
    write_file(out, trained.in_use.rules_.to_toml().encode())


def _onnx(without: Sequence[str]) -> Making:
    def make(trained: TrainedModel, checked: CheckedRows | None, out: Path, job: Job) -> None:
        from refold.export import to_onnx

        write_file(out, to_onnx(trained.in_use, without=without).SerializeToString())

    return make


def _sql(dialect: str) -> Making:
    def make(trained: TrainedModel, checked: CheckedRows | None, out: Path, job: Job) -> None:
        from refold.export import to_sql

        write_file(out, f"{to_sql(trained.in_use, 'new_rows', dialect)};\n".encode())

    return make


def _scored(fmt: str) -> Making:
    def make(trained: TrainedModel, checked: CheckedRows | None, out: Path, job: Job) -> None:
        checked = _needed(checked)
        table = scored_table(checked, job, as_written=fmt == "csv")
        added = table.column_names[checked.table.training.table.num_columns :]
        if fmt == "xlsx" and checked.id_column:  # people read it: what a row is called comes first
            names = [checked.id_column, *table.column_names]
            table = table.select(list(dict.fromkeys(names)))
        with writing(fmt, out, table.schema, WriteOptions(added=added)) as write:
            for batch in table.to_batches():
                write(batch)

    return make


def scored_table(checked: CheckedRows, job: Job, *, as_written: bool) -> Any:
    """Return the new rows with the columns that scoring adds.

    CSV hands numbers on as they are written; other formats have what the model saw.
    """
    pa = needs("pyarrow", "app")
    table, found = checked.table.training.table, checked.found
    own = ["verdict", "because", *answer_names(found.judge, _REASONS, "", ())]
    columns = ScoredColumns(
        found.judge,
        dict(zip(table.column_names, table.schema.types, strict=True)),
        numeric={found.names[k]: place for place, k in enumerate(found.judge.numeric)},
        reasons=_REASONS,
        prefix=_PREFIX if set(own) & set(table.column_names) else "",
        csv=as_written,
        model=checked.trained.in_use,
    )
    job.says(f"Explaining {plural(len(found), 'row')}", len(found))
    batches = []
    for begin in range(0, len(found), _AT_ONCE):
        rows = np.arange(begin, min(begin + _AT_ONCE, len(found)))
        some = table.slice(begin, len(rows))
        given = {name: some[name].combine_chunks() for name in table.column_names}
        batches.append(columns.batch(given, found.take(rows)))
        job.count(len(rows))
    return pa.Table.from_batches(batches)


def _report(trained: TrainedModel, checked: CheckedRows | None, out: Path, job: Job) -> None:
    checked = _needed(checked)
    write_report(
        trained.in_use,
        checked.found,
        out,
        title=checked.table.name,
        row_names=checked.names(np.arange(checked.table.rows)),
        about={
            "Learned from": f"{trained.table.name} ({trained.table.format})",
            "Table": f"{checked.table.name} ({checked.table.format})",
        },
    )


def _needed(checked: CheckedRows | None) -> CheckedRows:
    if checked is None:
        raise UserError("There are no new rows yet: check some first.")
    return checked


Making = Callable[[TrainedModel, CheckedRows | None, Path, Job], None]
# What each file is made by; those of the second list need new rows.
OF_MODEL: dict[str, Making] = {
    "model.json": _model,
    "rules.toml": _rules,
    "model.onnx": _onnx(()),
    "model-simple.onnx": _onnx(("shape", "character")),
    **{f"model-{dialect}.sql": _sql(dialect) for dialect in DIALECTS},
}
OF_ROWS: dict[str, Making] = {
    "scored.csv": _scored("csv"),
    "scored.xlsx": _scored("xlsx"),
    "scored.parquet": _scored("parquet"),
    "report.html": _report,
}
MAKING = {**OF_MODEL, **OF_ROWS}


def python_code(trained: TrainedModel) -> str:
    """Return the same in a few lines of Python."""
    choice = trained.choice
    lines = [
        "from refold import Detector",
        "from refold.tabular import TrainingSelection, open_table, read_training",
        "",
        f"with open_table({_asked(trained.table)}) as file:",
        f"    rows = read_training(file, {_wanted(choice.target)})",
    ]
    if choice.without:
        lines += [
            f"left_out = {sorted(choice.without)}",
            "rows = rows.only([number not in left_out for number in rows.numbers])",
        ]
    asked = [f"method={choice.method!r}"] if choice.method != "auto" else []
    asked += [f"roles={dict(choice.roles)!r}"] if choice.roles else []
    asked += [f"id_column={choice.id_column!r}"] if choice.id_column else []
    asked += [f"{name}={column!r}" for name, column in choice.context.items()]
    asked += [f"rules={dict(choice.rules)!r}"] if choice.rules else []
    lines.append(f"model = Detector({', '.join(asked)}).fit(rows.table)")
    if trained.rate is not None:
        lines.append(f"model.calibrate(alpha={trained.rate!r})")
    return "\n".join(
        [
            *lines,
            'with open_table("new-rows.csv") as file:',
            "    new = read_training(file, TrainingSelection(model.encoder_.inputs.names)).table",
            "print(model.predict(new))",
            "print(model.explain(new).worst(10))",
            'model.save("model.json")',
        ]
    )


def _asked(table: KeptTable) -> str:
    """Return how the file is opened, with what somebody has said of it."""
    options = {} if table.file is None else table.file.options()
    return ", ".join([repr(table.name), *(f"{name}={value!r}" for name, value in options.items())])


def _wanted(target: tuple[str, str] | None) -> str:
    if target is None:
        return "TrainingSelection()"
    return f"TrainingSelection(target_column={target[0]!r}, target={target[1]!r})"


def curl_code(trained: TrainedModel) -> str:
    """Return the lines that ask the service for a verdict on a row like those learned."""
    row = example_row(trained.in_use, trained.judge)
    command = curl_command("127.0.0.1:8080/v1/models/model/score", row)
    return f"refold serve model.json\n{command}"
