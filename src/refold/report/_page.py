"""A report as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from refold.base.needs import needs
from refold.report import _drawing
from refold.report._actions import actions_of
from refold.report._band_drawing import band_picture
from refold.report._contents import AlarmGroup, Report
from refold.report._describe import describe
from refold.report._template import page_of, write_page

# So many rows and features are seen at once; the others are folded away.
_FIRST = 10


def write_report(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    worst: int = 100,
    reasons: int = 3,
    fdr: float = 0.1,
    row_names: Sequence[object] | None = None,
    about: Mapping[str, str] | None = None,
    time: str | Sequence[Any] | None = None,
    by: str | Sequence[str] | NDArray[Any] | None = None,
    gap: Any = None,
) -> Report:
    """Write a page that says what a model makes of a table: one HTML file, without a network.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted. Calibrate it (``alpha``, ``calibrate``) to have rates and p-values in the report.
    X : array-like, dataframe or Judgement of n rows, or ReportedTable
        New rows. Those without any value are counted and left out.
    path : str or path-like
        Where to write; a file that is there is replaced once the new one is complete.
    title, worst, reasons, fdr, row_names, about, time, by, gap : optional
        As of :func:`describe`.

    Returns
    -------
    Report
        What the page says, as data.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.report import write_report
    >>> rng = np.random.default_rng(0)
    >>> model = REF(alpha=0.01).fit(rng.normal(size=(500, 3)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = write_report(model, rng.normal(size=(200, 3)), os.path.join(folder, "r.html"))
    >>> report.rows
    200
    """
    needs("jinja2", "report")  # before the work, not after it
    report = describe(
        model,
        X,
        title=title,
        worst=worst,
        reasons=reasons,
        fdr=fdr,
        row_names=row_names,
        about=about,
        time=time,
        by=by,
        gap=gap,
    )
    write_page(render(report), path)
    return report


def render(report: Report) -> str:
    """Return what :func:`describe` has found as the text of an HTML page.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.report import describe, render
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> render(describe(REF(alpha=0.01).fit(X), X))[:15]
    '<!doctype html>'
    """
    listed = {row.row for row in report.worst}

    def row_link(row: int) -> str:
        return f"#row-{row}" if row in listed else ""

    return page_of(
        "report.html.j2",
        row_link=row_link,
        incidents=sorted(report.incidents, key=lambda one: (-one.outliers, -one.severity)),
        incident_link=lambda incident: row_link(incident.worst),
        report=report,
        actions=actions_of(report),
        features=sorted(report.features, key=lambda f: (-f.leads, -f.drift.distance)),
        groups=_by_feature(report.groups),
        first=_FIRST,
        drawing=_drawing,
        band_picture=band_picture,
        distance_picture=_drawing.distance_picture(report.distances, report.threshold),
    )


def _by_feature(groups: Iterable[AlarmGroup]) -> dict[str, list[AlarmGroup]]:
    found: dict[str, list[AlarmGroup]] = {}
    for group in groups:
        found.setdefault(group.feature, []).append(group)
    return found
