"""Cells of measures, the study of them, and what a study writes."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from io import StringIO
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np
from sklearn.model_selection import KFold

from refold._typing import Floats, Integers
from refold.base.files import write_file
from refold.base.markup import html_templates
from refold.base.needs import needs
from refold.studies.run import Job, Progress, Study, run

# Okabe and Ito's palette, which colour-blind readers can tell apart; shapes differ as well.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    write_file(path, text.encode())


def write_study_page(path: Path, package: str, /, **shown: Any) -> None:
    """Write a page from the template ``index.html.j2`` of a study's package.

    It extends ``page.html.j2``, which has the head and the style that all pages share.
    """
    jinja2 = needs("jinja2", "paper")
    loaders = [jinja2.PackageLoader(name) for name in (package, "refold.studies")]
    templates = html_templates(jinja2.ChoiceLoader(loaders))
    write_text(path, templates.get_template("index.html.j2").render(**shown))


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def drawing_style(**settings: Any) -> Any:
    """Return matplotlib's context in which drawings are made and saved."""
    mpl = needs("matplotlib", "paper")
    # The salt: the same names inside an SVG in every run.
    return mpl.rc_context({"font.size": 9.0, "svg.hashsalt": "refold", **settings})


def svg_text(figure: Any) -> str:
    """Return a drawing as SVG, without the date: files must not change from day to day."""
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


_PARTS = 5


def left_out_threshold(
    n: int, alpha: float, seed: int, score: Callable[[Integers, Integers], Floats]
) -> float:
    """Return the threshold that scores of left-out training rows suggest (five parts)."""
    scores = np.empty(n)
    for others, part in KFold(_PARTS, shuffle=True, random_state=seed).split(scores):
        scores[part] = score(others, part)
    # The (n+1)(1-alpha)-th smallest; not by logarithms, as of distances: scores may be negative.
    return float(np.quantile(scores, 1.0 - alpha, method="weibull"))


_LONGEST_NOTE = 300
P = ParamSpec("P")
Found = TypeVar("Found")


@dataclass(frozen=True)
class MeasuredCell:
    """What came of one cell."""

    outcome: Literal["done", "failed", "too long"]  # whether there are measures
    measures: dict[str, float]  # fractions of 1, and seconds of processor time; empty unless done
    note: str = ""  # the error, or what the method warned of
    time_limit: float | None = None  # the seconds after which it was stopped, if it was

    @classmethod
    def failed(cls, error: BaseException) -> MeasuredCell:
        """Return the cell of a method that raised an error."""
        return cls("failed", {}, _short(f"{type(error).__name__}: {error}"))

    @classmethod
    def too_long(cls, limit: float) -> MeasuredCell:
        """Return the cell of a method that was stopped."""
        return cls("too long", {}, f"stopped after {limit:g} s", limit)


def measuring(measure: Callable[P, dict[str, float]]) -> Callable[P, MeasuredCell]:
    """Make a cell of measures; an error becomes the outcome, whatever is warned of the note."""

    @wraps(measure)
    def cell_of(*args: P.args, **kwargs: P.kwargs) -> MeasuredCell:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                measures = measure(*args, **kwargs)
            except Exception as error:
                return MeasuredCell.failed(error)
        note = "; ".join(dict.fromkeys(_short(str(warning.message)) for warning in said))
        return MeasuredCell("done", measures, _short(note))

    return cell_of


def timed(work: Callable[[], Found]) -> tuple[Found, float]:
    """Do something; return what comes of it, and the seconds of processor time that it took."""
    started = process_time()
    return work(), process_time() - started


class MeasuredStudy(Study[Job, MeasuredCell]):
    """A study whose methods may fail or take too long; it goes on with the others."""

    time_limit: float  # in seconds. A method that was stopped earlier than this gets another chance

    def __init__(self, time_limit: float) -> None:
        self.time_limit = time_limit

    def read(self, **stored: Any) -> MeasuredCell:
        """Return a cell from its stored fields."""
        cell = MeasuredCell(**stored)
        if cell.time_limit is not None and cell.time_limit < self.time_limit:
            raise ValueError("There is more time now.")
        if bool(cell.measures) != (cell.outcome == "done"):
            raise ValueError("There are measures if and only if it was done.")
        return cell

    def stopped(self, error: Exception) -> MeasuredCell:
        """Return the cell of a method that took too long or crashed."""
        if isinstance(error, TimeoutError):
            return MeasuredCell.too_long(self.time_limit)
        return MeasuredCell.failed(error)


class MeasuredComparison:
    """What one run found: cells by their jobs, of which the last two parts are method and seed."""

    heads: Sequence[str]  # the names of a job's parts

    def __init__(self, results: Mapping[Any, MeasuredCell]) -> None:
        self.results = results
        self.methods: list[str] = list(dict.fromkeys(job.method for job in results))
        self.seeds: list[int] = list(dict.fromkeys(job.seed for job in results))

    def cells(self, *key: str) -> list[MeasuredCell]:
        """Return a method's cells, on a data set if there are several: one for each seed.

        Where seeds make no difference there is one cell only.
        """
        return [self.results[job] for seed in self.seeds if (job := (*key, seed)) in self.results]

    def unfinished(self, *key: str) -> str:
        """Return why a method has no value; empty if every seed was finished."""
        said = (
            f"{cell.outcome}: {cell.note}" for cell in self.cells(*key) if cell.outcome != "done"
        )
        return "; ".join(dict.fromkeys(said))

    def all_unfinished(self, methods: Iterable[str], names: Sequence[str]) -> list[tuple[str, ...]]:
        """Return methods, the data sets that they did not finish, and why."""
        keys = (
            (method, name, self.unfinished(name, method)) for method in methods for name in names
        )
        return [key for key in keys if key[-1]]

    def csv(self) -> str:
        """Return one line per cell."""
        cells = self.results.values()
        names = list(dict.fromkeys(name for cell in cells for name in cell.measures))
        rows = (
            [*job, cell.outcome, *(cell.measures.get(name, "") for name in names), cell.note]
            for job, cell in self.results.items()
        )
        return csv_text([*self.heads, "outcome", *names, "note"], rows)


Compared = TypeVar("Compared", bound=MeasuredComparison)


def run_comparison(
    study: Study[Job, MeasuredCell],
    jobs: Iterable[Job],
    comparison: Callable[[dict[Job, MeasuredCell]], Compared],
    out: Path,
    n_jobs: int,
    progress: Progress,
) -> Compared:
    """Run jobs, and write their cells as a table."""
    out.mkdir(parents=True, exist_ok=True)
    found = comparison(run(study, jobs, out / "cells", n_jobs=n_jobs, progress=progress))
    write_text(out / "cells.csv", found.csv())
    return found


def text_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a line for each row, the first of its cells on the left, the others on the right."""
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    for name, *cells in rows:
        aligned = (f"{cell:>{width}}" for cell, width in zip(cells, others, strict=True))
        yield "  ".join([f"{name:{first}}", *aligned])


def mean_of(values: Iterable[float]) -> float:
    """Return the mean of those that are there; NaN if none is."""
    there = [value for value in values if not np.isnan(value)]
    return float(np.mean(there)) if there else np.nan


def over_seeds(measure: str, values: list[float]) -> float:
    """Return the mean; of times the median, as the first use of a method may compile code."""
    return float(median(values) if "seconds" in measure else fmean(values))


def finite(scores: Floats) -> Floats:
    """Return scores; refuse those of which some are no numbers."""
    if not np.isfinite(scores).all():
        raise ValueError(f"{np.sum(~np.isfinite(scores))} scores are not finite.")
    return scores


def _short(text: str) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= _LONGEST_NOTE else line[: _LONGEST_NOTE - 1] + "…"
