"""What a study writes: tables, drawings and a page that is one file and needs no other."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from refold.base.files import replacing
from refold.base.needs import needs

# Okabe and Ito's palette, which colour-blind readers can tell apart; shapes differ as well.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode())


def write_page(path: Path, package: str, /, **shown: Any) -> None:
    """Write a page from the template ``index.html.j2`` of a study's package.

    It extends ``page.html.j2``, which has the head and the style that all pages share.
    """
    jinja2 = needs("jinja2", "paper")
    loaders = [jinja2.PackageLoader(name) for name in (package, "refold.studies")]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    write_text(path, environment.get_template("index.html.j2").render(**shown))


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
