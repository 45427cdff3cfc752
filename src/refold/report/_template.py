"""How a template becomes one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

from refold.base.files import replacing
from refold.base.needs import needs
from refold.base.words import printable, quoted, shortened
from refold.explanation import Reason, number, ranges_text, split_unit, times_limit
from refold.explanation.gauges import gauge, position
from refold.report._reasons import that_matter
from refold.report._words import WORDS


def page_of(template: str, **contents: Any) -> str:
    """Return a page; its one script is the only one that a browser will run."""
    environment = environment_of("refold.report")
    script = environment.get_template("behaviour.js").render()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page: str = environment.get_template(template).render(script=script, digest=digest, **contents)
    return page


def write_page(page: str, path: str | os.PathLike[str]) -> None:
    """Write a page; a file that is there is replaced once the new one is complete."""
    with replacing(Path(path)) as file:
        file.write(page.encode(errors="backslashreplace"))  # names of files may be no text


def _named(reason: Reason) -> tuple[str, str]:
    """Return the text of a reason as the name of its feature, and what follows."""
    name = split_unit(printable(reason.feature))[0]
    return name, str(reason).removeprefix(name)


def environment_of(package: str) -> Any:
    """Return what renders a package's templates; those of the report are there as report/…."""
    jinja2 = needs("jinja2", "report")
    shared = jinja2.PrefixLoader({"report": jinja2.PackageLoader("refold.report")})
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package), shared]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number,
        "ranges": ranges_text,
        "unit": lambda feature: split_unit(feature)[1],
        "position": position,
        "gauge": gauge,
        "times_limit": times_limit,
        "that_matter": that_matter,
        "named": _named,
        "printable": printable,
        "quoted": quoted,
        "shortened": shortened,
        **WORDS,
    }
    return environment
