"""How a template becomes one HTML file that needs nothing else, and the words that it uses."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

from refold.base.advice import in_words
from refold.base.files import write_file
from refold.base.findings import Finding
from refold.base.markup import html_templates
from refold.base.needs import needs
from refold.base.words import number, p_text, plural, printable, quoted, shortened, whole_percent
from refold.checks import Findings
from refold.columns.encoding.column_info import ColumnInfo
from refold.explanation import Reason, times_limit
from refold.explanation.gauges import gauge, position
from refold.judgement.number_text import ranges_text, split_unit
from refold.monitoring import ColumnDrift
from refold.report._report_counts import that_matter

_STATES = {
    "changed": "changed",
    "differs": "differs; outliers may explain it",
    "same": "no difference proven",
}


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{100.0 * share:.3g}\N{NO-BREAK SPACE}%"


def count(rows: float) -> str:
    """Return a number of rows; fractions only where there are few."""
    return f"{rows:,.0f}" if rows >= 10.0 or rows == int(rows) else f"{rows:.2g}"


def chance(p: float) -> str:
    """Return a p-value."""
    return p_text(p).replace(" ", "\N{NO-BREAK SPACE}")


def state(drift: ColumnDrift) -> str:
    """Return which of three things happened to a feature."""
    return "changed" if drift.changed else "differs" if drift.differs else "same"


def state_text(drift: ColumnDrift) -> str:
    """Say it in words."""
    return _STATES[state(drift)]


def share(part: float) -> str:
    """Return a share in whole percent, as a small picture has room for."""
    if 0.0 < part < 0.005:
        return "<\N{NO-BREAK SPACE}1\N{NO-BREAK SPACE}%"
    return f"{100.0 * part:.0f}\N{NO-BREAK SPACE}%"


def part_text(share: float) -> str:
    """Return a reason's share of the distance as its sentence says it, in few characters."""
    text = whole_percent(share).replace("less than", "<") if share > 0.0 else "0 %"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def times(distance: float, threshold: float) -> str:
    """Say how far out a row is where the heading says that these are multiples of the limit."""
    said = times_limit(distance, threshold).replace("more than", ">")
    return said.removesuffix(" × the limit").removesuffix(" the limit")


def described(column: ColumnInfo) -> str:
    """Say what a column was taken for."""
    said = [column.role]
    if column.distinct is not None:
        said.append(plural(column.distinct, "value"))
    if column.missing:
        said.append(f"{column.missing:,} missing")
    if column.unreadable:
        said.append(f"{column.unreadable:,} not readable")
    return ", ".join(said)


def advised(found: Finding) -> str:
    """Say what was noticed, with its advice in words."""
    return found.render(in_words)


def by_kind(found: Findings) -> dict[str, list[str]]:
    """Say what was noticed of each kind, with advice in words."""
    return found.by_kind(in_words)


_SAID = (
    percent,
    count,
    chance,
    plural,
    state,
    state_text,
    share,
    times,
    described,
    advised,
    by_kind,
)
WORDS = {f.__name__: f for f in _SAID}


def page_of(template: str, **contents: Any) -> str:
    """Return a page; its one script is the only one that a browser will run."""
    environment = environment_of("refold.report")
    script = environment.get_template("behaviour.js").render()
    source = script_source(script)
    page: str = environment.get_template(template).render(script=script, source=source, **contents)
    return page


def script_source(script: str) -> str:
    """Return what a Content-Security-Policy calls a script that stands in the page itself."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def write_page(page: str, path: str | os.PathLike[str]) -> None:
    """Write a page; a file that is there is replaced once the new one is complete."""
    write_file(Path(path), page.encode(errors="backslashreplace"))  # file names may be no text


def _named(reason: Reason) -> tuple[str, str]:
    """Return the text of a reason as the name of its feature, and what follows."""
    whole, text = printable(reason.feature), str(reason)
    name = whole if text.startswith(whole) else split_unit(whole)[0]
    return name, text.removeprefix(name)


def environment_of(package: str) -> Any:
    """Return what renders a package's templates; those of the report are there as report/…."""
    jinja2 = needs("jinja2", "report")
    shared = jinja2.PrefixLoader({"report": jinja2.PackageLoader("refold.report")})
    environment = html_templates(jinja2.ChoiceLoader([jinja2.PackageLoader(package), shared]))
    environment.filters |= {
        "number": number,
        "ranges": ranges_text,
        "unit": lambda feature: split_unit(feature)[1],
        "position": position,
        "gauge": gauge,
        "times_limit": times_limit,
        "that_matter": that_matter,
        "named": _named,
        "part": part_text,
        "printable": printable,
        "quoted": quoted,
        "shortened": shortened,
        **WORDS,
    }
    logo = environment.get_template("report/logo.svg").render().encode()
    environment.globals["icon"] = f"data:image/svg+xml;base64,{base64.b64encode(logo).decode()}"
    return environment
