"""``refold benchmark``: refold's detectors and their peers, on a table or on suites of them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refold.base.needs import needs
from refold.base.words import names_in, printable
from refold.cli import options
from refold.cli.studies import chosen, cores, progress_bar
from refold.cli.suites import TIME_LIMIT, DataSuite, mixed_tables, numeric_suite

if TYPE_CHECKING:
    from refold.studies.own.benchmark import OwnResult
    from refold.studies.own.table import OwnTable


_SEEDS = 5


@dataclass(frozen=True)
class OwnOptions:
    """What is asked of one's own table; all of it needs one."""

    # label, normal: The column that says what a row is, and what it says of normal ones.
    label: str | None
    normal: str | None
    ignore: str | None  # columns that are left out
    alpha: float | None  # the rate of false alarms
    as_json: bool  # whether to print a document for machines
    reading: options.Reading  # how the table is read

    def given(self) -> list[str]:
        """Return the options that were given, as they are typed."""
        own: dict[str, object] = {
            "--label": self.label,
            "--normal": self.normal,
            "--ignore": self.ignore,
            "--alpha": self.alpha,
            "--json": self.as_json or None,
        }
        return [name for name, value in own.items() if value is not None] + [
            name for name, _ in _reading_given(self.reading)
        ]


def own_table(
    source: str,
    asked: OwnOptions,
    methods: str | None,
    seeds: int | None,
    out: Path | None,
    jobs: int | None,
    time_limit: float,
) -> None:
    """Compare detectors on a table, write a page and print a table in short."""
    _check(asked)
    for module in ("jinja2", "rich", "pebble", "pandas"):
        needs(module, "benchmark")
    from refold.studies.own.benchmark import benchmark
    from refold.studies.own.cells import METHODS

    names = chosen(methods, tuple(METHODS), "--methods", True)
    absent = [name for name in names if not METHODS[name].is_installed]
    for name in absent:
        options.note(f"{name} is left out: {METHODS[name].module} is not installed.")
    folder = out or Path(f"benchmark-{_stem(source)}")
    table = _read(source, asked)
    with progress_bar() as progress:
        result = benchmark(
            table,
            [name for name in names if name not in absent],
            range(seeds or _SEEDS),
            folder,
            alpha=asked.alpha,
            time_limit=time_limit,
            n_jobs=jobs or cores(),
            absent=absent,
            command=_command(source, asked),
            progress=progress,
        )
    if asked.as_json:
        options.print_json(_document(table, result, absent, folder))
        return
    for line in _lines(table, result):
        options.say(line)
    options.say(f"Open {printable(str(folder / 'index.html'))}")


def _check(asked: OwnOptions) -> None:
    if (asked.label is None) != (asked.normal is None):
        raise typer.BadParameter(
            "--label and --normal go together: the column of labels, and the label of normal rows."
        )
    if asked.alpha is not None and not 0.0 < asked.alpha < 0.5:
        raise typer.BadParameter("It lies between 0 and 0.5.", param_hint="--alpha")
    if asked.reading.bad_cells is not None:
        raise typer.BadParameter(
            "Methods are given the cells as they are.", param_hint="--bad-cells"
        )


def _stem(source: str) -> str:
    """Return what a table is called without folders and endings, as the name of a folder."""
    name = "table" if source == "-" else Path(source).name
    return re.sub(r"[^\w-]+", "-", name.partition(".")[0]).strip("-") or "table"


def _read(source: str, asked: OwnOptions) -> OwnTable:
    from refold.base.progress import counting
    from refold.studies.own.table import read_own

    ignore = names_in(asked.ignore)
    with (
        asked.reading.open(source) as data,
        counting("reading", data.rows, show=not asked.as_json) as count,
    ):
        return read_own(data, ignore, asked.label, asked.normal, count)


def _reading_given(reading: options.Reading) -> Iterator[tuple[str, str]]:
    """Yield the options of reading that differ from what they are without: name and value."""
    for field in fields(reading):
        value = getattr(reading, field.name)
        if value != field.default:
            no = "no-" if value is False else ""
            name = f"--{no}{field.name.replace('_', '-')}"
            yield name, "" if isinstance(value, bool) else str(value)


def _command(source: str, asked: OwnOptions) -> Callable[[str], str]:
    """Return what one types to fit a method of refold to the whole table."""
    from refold.studies.own.cells import FITTED

    words = ["refold", "fit", source, "-o", "model.json"]
    if asked.label is not None and asked.normal is not None:
        words += ["--target-column", asked.label, "--target", asked.normal]
    given = {"--ignore": asked.ignore, "--alpha": asked.alpha and f"{asked.alpha:g}"}
    for name, value in [*given.items(), *_reading_given(asked.reading)]:
        if value is not None:
            words += [name, value] if value else [name]
    return lambda method: shlex.join([*words, *FITTED[method]])


def _lines(table: OwnTable, result: OwnResult) -> Iterator[str]:
    from refold.studies.own.comparison import verdict

    found, extent = result.found, result.found.extent
    anomalies = f" and {extent.anomalies:,} anomalies" if found.has_labels else ""
    yield (
        f"{table.name}: learned {extent.learned:,} normal rows, judged {extent.normals:,} "
        f"others{anomalies}."
    )
    over = f" over {len(found.seeds)} divisions" if len(found.seeds) > 1 else " over divisions"
    yield f"In percent, ± deviation{over}; * best, = within noise; score s for 1,000 rows."
    yield from found.text()
    yield ""
    yield from verdict(found)
    if result.faults:
        names = ", ".join(fault.name for fault in result.faults)
        yield f"These are faults we made: {names}; real ones may differ."
    if result.command is not None:
        yield f"To fit {result.fitted}: {result.command}"


def _document(
    table: OwnTable, result: OwnResult, absent: list[str], folder: Path
) -> dict[str, Any]:
    from refold.studies.own.comparison import verdict

    found = result.found
    return {
        "table": table.name,
        "rows": table.rows_read,
        "left_out": table.left_out,
        "learned": found.extent.learned,
        "judged": found.extent.normals,
        "anomalies": found.extent.anomalies if found.has_labels else None,
        "alpha": found.alpha,
        "seeds": found.seeds,
        "best": found.best,
        "verdict": list(verdict(found)),
        "fit": result.command,
        "methods": found.document(),
        "faults": [fault._asdict() for fault in result.faults],
        "not_installed": absent,
        "page": str(folder / "index.html"),
    }


_OWN, _SUITES = "For a table of your own", "For suites of public tables"


@partial(options.reads_tables, light=False)  # some methods need pandas
def benchmark(
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            help="A table of your own: CSV, Excel, JSON, Parquet or Arrow; - is standard input.",
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The column of labels.", rich_help_panel=_OWN)
    ] = None,
    normal: Annotated[
        str | None,
        typer.Option(
            help="The label of normal rows; all others are anomalies.", rich_help_panel=_OWN
        ),
    ] = None,
    ignore: Annotated[
        str | None, typer.Option(help="Columns that are left out.", rich_help_panel=_OWN)
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="The rate of false alarms.",
            show_default="0.01, or 5/(n+1) for few rows",
            rich_help_panel=_OWN,
        ),
    ] = None,
    suite: Annotated[
        DataSuite | None,
        typer.Option(
            help="adbench; or what is in a folder of REFOLD_DATA: the tasks in oddbench, "
            "oddbench-test or ovrbench, the sets in adbench by the protocol of DTE (adbench-dte), "
            "the mixed tables in tables, the series with incidents in streams.",
            show_default="adbench",
            rich_help_panel=_SUITES,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder that has the suite's folder in it, or its files. Default: REFOLD_DATA.",
            exists=True,
            file_okay=False,
            rich_help_panel=_SUITES,
        ),
    ] = None,
    sets: Annotated[
        str | None,
        typer.Option(
            help="Data sets, such as wine,musk of ADBench. Default: all, of ADBench 43 are known.",
            rich_help_panel=_SUITES,
        ),
    ] = None,
    hard: Annotated[
        bool,
        typer.Option(
            "--hard",
            help="Judge only rows that no rule for single columns finds: leave out rows with a "
            "value outside the range learned, or never seen in a discrete column.",
            rich_help_panel=_SUITES,
        ),
    ] = False,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Methods, such as REF,kNN-5,LOF; quick are the dozen that take seconds. "
            "Default: all for adbench, those of published comparisons for other suites. Tables "
            "have methods of their own."
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="How many seeds: rows, and what methods draw, are drawn anew for each. Default: "
            "5, but 1 for tables.",
            min=1,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for what is written. Default: benchmark- and the table or suite.",
            file_okay=False,
        ),
    ] = None,
    jobs: options.Jobs = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Seconds after which a method is stopped on a set.",
            show_default="120; 3,600 for tasks, adbench-dte and streams",
            min=1.0,
        ),
    ] = None,
    *,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Say which detector suits a table, or compare them on suites of public tables.

    With a table: refold's detectors and those of others learn from two thirds of its normal rows
    (at most 5,000) and judge the others. With --label and --normal that is by AUROC, AUPRC and the
    anomalies caught; without, by faults that are put into normal rows: numbers moved by more and
    more, cells swapped between rows, unknown categories, typos, gaps, wrong dates. The page in the
    output folder has a verdict, a table, power curves, false alarms and times.

    Without a table it is novelty detection on public ones. Each method learns from half of the
    normal rows of a set and judges the others and the anomalies. The data is ADBench's: in the
    folder adbench of the one that REFOLD_DATA names, or downloaded once. With --suite oddbench it
    is the tasks in the folder oddbench there, .npz files with train, test and test_labels, by the
    protocol of published comparisons: own splits, at most 100,000 rows, five seeds. With
    --suite tables it is the mixed tables in the folder tables there: clean-NAME.csv.gz, into which
    errors of thirteen kinds are put, and natural-NAME.csv.gz, whose column row_is says normal or
    anomaly. Finished cells are kept in the output folder; run the command again to continue after
    an interruption. Methods that fail or take too long are shown as such.

    For example:
      refold benchmark my.csv
      refold benchmark my.csv --label status --normal ok --methods Detector,kNN-5,LOF
      refold benchmark --sets wine,musk --methods REF,kNN-5,LOF
      refold benchmark --suite oddbench --methods CreasedREF,kNN-1
      refold benchmark --suite tables --sets clean-flights,clean-taxis
    """
    asked = OwnOptions(label, normal, ignore, alpha, as_json, reading)
    if table is not None:
        _refuse(
            {"--suite": suite, "--sets": sets, "--data": data, "--hard": hard or None},
            "does not go with a table of your own",
        )
        own_table(table, asked, methods, seeds, out, jobs, time_limit or TIME_LIMIT)
        return
    _refuse(dict.fromkeys(asked.given(), True), "needs a table: refold benchmark my.csv")
    if data is not None:
        os.environ["REFOLD_DATA"] = str(data)
    suite = suite or DataSuite.adbench
    if hard and suite in (DataSuite.streams, DataSuite.tables):
        raise typer.BadParameter(f"The suite {suite} has no such choice.", param_hint="--hard")
    name = "benchmark" if suite is DataSuite.adbench else f"benchmark-{suite}"
    folder = out or Path(f"{name}-hard" if hard else name)
    if suite is DataSuite.tables:
        run = mixed_tables(suite, sets, methods, seeds, time_limit)
    else:
        run = numeric_suite(suite, sets, methods, seeds, time_limit, hard=hard)
    with progress_bar() as progress:
        found = run(folder, n_jobs=jobs or cores(), progress=progress)
    for line in found.text():
        options.say(line)
    options.say(f"Open {printable(str(folder / 'index.html'))}")


def _refuse(given: dict[str, object], why: str) -> None:
    """Refuse options that do not apply."""
    for name, value in given.items():
        if value is not None:
            raise typer.BadParameter(f"It {why}.", param_hint=name)
