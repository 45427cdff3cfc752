"""Pages that are one HTML file and need no other."""

from __future__ import annotations

from typing import Any


def render(package: str, extra: str, template: str = "index.html.j2", /, **shown: Any) -> str:
    """Return a page from a package's template; ``style.css.j2`` is there for all to include."""
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise ImportError(
            f"The page is made with jinja2, which is not installed. Install 'refold[{extra}]'."
        ) from None
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("refold.experiments")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**shown)
