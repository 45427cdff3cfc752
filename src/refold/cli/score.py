"""``refold score``: which rows are outliers, how far out, and why."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refold.base.errors import UserError
from refold.base.files import blaming
from refold.base.words import outliers_among, plural
from refold.cli import options

if TYPE_CHECKING:
    from refold.cli.incidents import TableIncidents
    from refold.cli.models import LoadedModel
    from refold.cli.scoring import Scores
    from refold.decisions.gate import Gate, GateResult
    from refold.monitoring import Incidents
    from refold.tabular import TableSource


@options.reads_tables
def score(
    model: options.ModelFile,
    table: options.Data,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help="Write all rows with their verdict, as .csv, .xlsx, .parquet or .arrow; - is CSV "
            "on standard output.",
            show_default="the outliers on a terminal, else CSV",
        ),
    ] = None,
    reasons: Annotated[
        int, typer.Option(help="How many columns to name as reasons for each row.", min=0)
    ] = 3,
    worst: Annotated[
        int, typer.Option(help="How many outliers to show on a terminal or in JSON.", min=0)
    ] = 20,
    prefix: Annotated[
        str | None,
        typer.Option(
            help="The prefix of the columns that are added.",
            show_default="none, or refold_ where the table has one of these names",
        ),
    ] = None,
    outliers_first: Annotated[
        bool,
        typer.Option(
            "--outliers-first",
            help="Write the rows farthest out first; the table is held in memory then.",
        ),
    ] = False,
    neutralize_formulas: Annotated[
        bool,
        typer.Option(
            "--neutralize-formulas",
            help="Write cells that a spreadsheet would take for formulas as plain text; otherwise "
            "only those that refold adds.",
        ),
    ] = False,
    time: options.IncidentTime = None,
    by: options.IncidentBy = None,
    gap: options.IncidentGap = None,
    fail_on_outlier: Annotated[
        bool, typer.Option("--fail-on-outlier", help="Exit with 1 unless all rows are normal.")
    ] = False,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="Exit with 1 if more rows are outliers than the false alarm rate explains: normal "
            "tables fail with a probability of 1 % at most.",
        ),
    ] = False,
    max_outliers: Annotated[
        str | None,
        typer.Option(help="Exit with 1 if more rows are outliers: 12, or a share such as 3%."),
    ] = None,
    fail_beyond: Annotated[
        float | None,
        typer.Option(help="Exit with 1 if a row is farther out than this many times the limit."),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            help="Write counts, incidents and the result of the gate to this file, as JSON."
        ),
    ] = None,
    *,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Say of each row whether it is normal, how far out it is, and because of which columns.

    Columns are found by name. The output has all columns and rows of the table in their order, then
    distance, label (1 normal, -1 not), verdict (the same in words), p_value if the model was fitted
    with --alpha, reason_1 …, and because: a sentence for each outlier. --reasons 0 leaves these
    out. Rows are counted from 1 below the header. To a Detector a row without any value is not
    normal; by other models it has no verdict. CSV made of CSV has the separator, the decimal
    mark and the encoding of the input. Outliers that follow each other, or share their reason
    within --gap, are one incident; --summary and --json list these.

    For example:
      refold score model.json new.csv
      refold score model.json new.csv -o scored.parquet --reasons 3
      zcat new.csv.gz | refold score model.json - > scored.csv
      refold score model.json new.csv --json --fail-on-outlier
      refold score model.json new.csv --time at --by machine --gate --summary summary.json
    """
    if out == "-" and as_json:
        raise typer.BadParameter("--json and -o - would both go to standard output.")
    options.check_output(out or "-", [model, table])
    if summary is not None:
        options.check_output(summary, [model, table, *([Path(out)] if out else [])])
    conditions = _gate(gate, max_outliers, fail_beyond)
    fmt = None if out is None else options.output_format(out)
    from refold.base.progress import counting
    from refold.cli.failures import as_bad_input
    from refold.cli.incidents import TableIncidents
    from refold.cli.models import LoadedModel
    from refold.cli.scoring import Output, score_table

    loaded = LoadedModel(model)
    shown = out is None and not as_json and sys.stdout.isatty()
    if out is None and not as_json and not shown:
        out, fmt = "-", "csv"
    with reading.open(table) as data, counting("scoring", data.rows, show=True) as count:
        writer = _writer(out, fmt, data, outliers_first, neutralize_formulas)
        followed = None
        if shown or as_json or summary is not None or time or by or gap:
            with as_bad_input(data.name):
                followed = TableIncidents(loaded, data, time, by or [], gap)
        scores = score_table(
            loaded,
            loaded.on(data, reading.bad_cells),
            data,
            worst=worst,
            count=count,
            output=None if writer is None else Output(writer, fmt == "csv", reasons, prefix),
            incidents=followed,
        )
        with as_bad_input(data.name):
            verdicts = scores.check(conditions, loaded.judge)
    incidents = None if followed is None else followed.result()
    document = partial(_document, loaded, scores, reasons, incidents, verdicts)
    if summary is not None:
        options.write_json(summary, document())
    if as_json:
        options.print_json(document())
    else:
        _say(loaded, scores, reasons, shown)
        if followed is not None and followed.total < scores.outliers:
            _say_incidents(followed, shown)
        for verdict in verdicts:
            passed = "passed" if verdict.passed else "failed"
            options.say(f"{verdict.condition}: {passed}; {verdict.text}.", err=not shown)
    failed = not all(verdict.passed for verdict in verdicts)
    if failed or (fail_on_outlier and scores.normal < scores.rows):
        raise typer.Exit(1)


def _gate(chance: bool, max_outliers: str | None, beyond: float | None) -> Gate:
    from refold.decisions.gate import Gate, parse_max_outliers

    most = None
    if max_outliers is not None:
        try:
            most = parse_max_outliers(max_outliers)
        except UserError as error:
            raise typer.BadParameter(str(error), param_hint="--max-outliers") from None
    if beyond is not None and not 0.0 < beyond < float("inf"):
        raise typer.BadParameter(f"{beyond} is not above 0.", param_hint="--fail-beyond")
    return Gate(most, chance, beyond)


Writer = Callable[[Any, list[str]], Any]


def _writer(
    out: str | None,
    fmt: str | None,
    table: TableSource,
    outliers_first: bool,
    neutralize_formulas: bool,
) -> Writer | None:
    """Return what opens the output, once its columns and those that are added are known."""
    if out is None or fmt is None:
        return None
    from refold.tabular.writing import WriteOptions, writing

    def opened(schema: Any, added: list[str]) -> Any:
        distance, label, *_ = added
        order = ((label, "ascending"), (distance, "descending")) if outliers_first else ()
        options = WriteOptions.like(
            table, added=added, neutralize_formulas=neutralize_formulas, order=order
        )
        sink: Any = _StandardOutput() if out == "-" else Path(out)
        return writing(fmt, sink, schema, options)

    return opened


class _StandardOutput(io.RawIOBase):
    """Standard output; what is written is handed on at once."""

    def write(self, content: Any, /) -> int:
        _print_bytes(content)
        return len(content)


def _print_bytes(content: Any) -> None:
    """Write all of it: with PYTHONUNBUFFERED set, Python may write a part and say how much."""
    rest = memoryview(content)
    with blaming("standard output"):
        while rest:
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()


_NAMED = 5  # that are named on a terminal


def _document(
    loaded: LoadedModel,
    scores: Scores,
    reasons: int,
    incidents: Incidents | None,
    verdicts: Sequence[GateResult],
) -> dict[str, Any]:
    worst = loaded.explain(scores.worst.rows, scores.worst.found, max(reasons, 1))
    return {
        "rows": scores.rows,
        "normal": scores.normal,
        "outliers": scores.outliers,
        "muted": scores.muted,
        "not_judged": scores.rows - scores.normal - scores.outliers,
        "context": asdict(scores.gaps),
        "threshold": loaded.judge.threshold,
        "alpha": loaded.judge.alpha,
        "worst": [row.to_dict() for row in worst],
        "gate": [verdict.to_dict() for verdict in verdicts],
        "passed": all(verdict.passed for verdict in verdicts),
        "incidents": [one.to_dict() for one in incidents or ()],
    }


def _say_incidents(followed: TableIncidents, shown: bool) -> None:
    """Name the incidents with most outliers."""
    options.say(f"They are {followed.total:,} incidents:", err=not shown)
    found = sorted(followed.result(), key=lambda one: (-one.outliers, -one.severity))
    for incident in found[:_NAMED]:
        options.say(f"  {incident.text}", err=not shown)


def _say(loaded: LoadedModel, scores: Scores, reasons: int, shown: bool) -> None:
    """Show the worst rows on a terminal; elsewhere only count, and not in the output."""
    if shown and scores.outliers:
        from rich.console import Console

        from refold.cli.printing import as_table

        worst = loaded.explain(scores.worst.rows, scores.worst.found, max(reasons, 1))
        title = f"The {len(worst)} rows farthest out" if len(worst) < scores.outliers else ""
        Console().print(as_table(worst, title))
    share = 100 * scores.outliers / max(scores.rows, 1)
    text = outliers_among(scores.outliers, scores.rows, f"{share:.3g} %")
    if loaded.judge.alpha is not None:
        text += f"; of normal rows it would be about {100 * loaded.judge.alpha:.3g} %"
    options.say(f"{text}.", err=not shown)
    empty = scores.rows - scores.normal - scores.outliers
    if empty:
        options.say(f"{plural(empty, 'row')} without any value could not be judged.", err=not shown)
    encoder = loaded.judge.encoder
    if encoder is not None and encoder.context is not None:
        for sentence in scores.gaps.sentences(encoder.context):
            options.say(sentence, err=not shown)
    if scores.muted:
        are = "row is" if scores.muted == 1 else "rows are"
        options.say(f"{scores.muted:,} {are} muted by the rules of the model.", err=not shown)
