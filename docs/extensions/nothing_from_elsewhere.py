"""Take away what others' output would load from the network, such as the icons of animations.

The theme brings the same icons with it.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

SHEET = re.compile(r'<link rel="stylesheet"\s+href="https?:[^"]*"\s*/?>')


def leave_out(app: Sphinx, page: str, source: list[str]) -> None:
    """Remove style sheets of other hosts from a page that is being read."""
    source[0] = SHEET.sub("", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the build."""
    app.connect("source-read", leave_out)
    return {"parallel_read_safe": True}
