"""llms.txt, a list of what is on the site, and llms-full.txt, the text of all its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

ABOUT = """\
# refold

> One-class classification in Python: learn from a table of normal rows, then say of any new row
> whether it is normal, how sure, and because of which columns. `Detector` takes any table;
> `CreasedREF` and `REF` take numbers.
"""


def write_plain_text(app: Sphinx, failure: Exception | None) -> None:
    """Write both files beside the pages."""
    if failure or app.builder.name != "html":
        return
    pages = ["index", *_in_order(app.env.toctree_includes, "index")]
    lines = [f"- [{app.env.titles[page].astext()}]({page}.html)" for page in pages]
    folder = Path(app.outdir)
    (folder / "llms.txt").write_text(f"{ABOUT}\n" + "\n".join(lines) + "\n", encoding="utf-8")
    written = [page for page in pages if Path(app.env.doc2path(page)).suffix == ".md"]
    (folder / "llms-full.txt").write_text(
        ABOUT + "".join(f"\n\n<!-- {page} -->\n\n{_text(app, page)}" for page in written),
        encoding="utf-8",
    )


def _in_order(below: dict[str, list[str]], page: str) -> Iterator[str]:
    """Go over the pages as the menus have them."""
    for other in below.get(page, ()):
        yield other
        yield from _in_order(below, other)


def _text(app: Sphinx, page: str) -> str:
    text = Path(app.env.doc2path(page)).read_text(encoding="utf-8")
    text = text.replace("{{ version }}", app.config.version)
    return re.sub(r"(?ms)^(`{3,}|:{3,})\{(toctree|figure|grid).*?^\1$\n?", "", text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the build: after the last page."""
    app.connect("build-finished", write_plain_text)
    return {"parallel_read_safe": True}
