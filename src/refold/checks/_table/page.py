"""Findings as HTML: a part of a notebook, or a page of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refold.base.markup import box, grid, said, shown

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What was noticed</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 1000px; margin: 0 auto; padding: 24px 16px; }}
body {{ font: 15px/1.5 system-ui, sans-serif; }}
</style>
</head>
<body>
<h1>What was noticed about this table</h1>
{part}
</body>
</html>
"""


def part_of_page(heading: str, kinds: Mapping[str, Sequence[str]]) -> str:
    """Return findings as a part of a page; names and cells in them can do nothing there."""
    rows = ((shown(kind), "".join(map(said, sentences))) for kind, sentences in kinds.items())
    return box(said(heading), grid((), rows) if kinds else "")


def whole_page(heading: str, kinds: Mapping[str, Sequence[str]]) -> str:
    """Return findings as a page."""
    return _PAGE.format(part=part_of_page(heading, kinds))
