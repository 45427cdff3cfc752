"""``refold benchmark TABLE``: which detector suits a table of one's own."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from refold.base.needs import needs
from refold.base.words import names_in, printable
from refold.cli import options
from refold.cli.cells import chosen, cores, progress_bar

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
            "--label and --normal need each other: the column that says what a row is, and what it "
            "says of normal ones."
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
            yield f"--{field.name.replace('_', '-')}", "" if value is True else str(value)


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
