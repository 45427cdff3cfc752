"""The pages of the service: one on itself, one for each model. They load nothing from elsewhere."""

from __future__ import annotations

from functools import cache
from typing import Any

from refold.base.needs import needs


@cache
def _templates() -> Any:
    jinja2 = needs("jinja2", "app")
    return jinja2.Environment(
        loader=jinja2.PackageLoader("refold.service"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def page(name: str, **content: Any) -> str:
    """Return a page by the name of its template."""
    return str(_templates().get_template(f"{name}.html.j2").render(**content))
