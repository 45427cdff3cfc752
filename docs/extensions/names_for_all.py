"""Names for what screen readers would call nothing: menus that unfold, headings without a word."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sphinx.application import Sphinx

MENU = re.compile(r"(<a [^>]*>(?P<name>[^<]*)</a>\s*<details[^>]*>\s*)<summary>")
EMPTY = re.compile(r'<th class="head[^"]*">(?:<p></p>)?</th>')


def with_names(menu: Any) -> str:
    """Return a menu; what unfolds is called after the page above it."""
    return MENU.sub(r'\1<summary aria-label="Pages below \g<name>">', str(menu))


def name_all(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Name the menus and the tables of a page that is being written."""
    if "body" in context:
        context["body"] = EMPTY.sub("<td></td>", context["body"])
    menu: Callable[..., Any] | None = context.get("generate_toctree_html")
    if menu is not None:
        context["generate_toctree_html"] = lambda *given, **named: with_names(menu(*given, **named))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the build: after the theme."""
    app.connect("html-page-context", name_all, priority=1000)
    return {"parallel_read_safe": True}
