"""The templates, and the words in them."""

from __future__ import annotations

from functools import cache
from typing import Any

from refold.report.parts import drawing, environment_of


@cache
def _templates() -> Any:
    environment = environment_of("refold.app")
    environment.globals["drawing"] = drawing
    return environment


def page(name: str, **content: Any) -> str:
    """Return a page by the name of its template."""
    return str(_templates().get_template(f"{name}.html.j2").render(**content))


@cache
def asset(name: str) -> str:
    """Return a file that pages refer to."""
    return str(_templates().get_template(name).render())
