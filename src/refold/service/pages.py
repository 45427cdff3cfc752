"""The pages of the service: one on itself, one for each model. They load nothing from elsewhere."""

from __future__ import annotations

import json
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


def curl_command(address: str, row: dict[str, Any]) -> str:
    """Return the line of a shell that scores a row; characters that are not seen are escaped."""
    text = json.dumps([row], ensure_ascii=False, default=str)
    seen = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    quoted = seen.replace("'", "'\\''")
    return f"curl {address} \\\n  -H 'Content-Type: application/json' -d '{quoted}'"
