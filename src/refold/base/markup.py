"""Pieces of HTML for notebooks: one style, no script; what comes from a table is only shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from refold.base.needs import needs
from refold.base.words import printable

# Text and lines take the colours of where they stand, so that they can be read in light and dark;
# the others are seen on both. The class comes twice to outweigh what notebooks say of tables.
_STYLE = """
.refold.refold { font-size: 14px; line-height: 1.45; max-width: 1000px; overflow-wrap: break-word; }
.refold.refold .wide { overflow-x: auto; }
.refold.refold p { margin: .3em 0; max-width: 90ch; }
.refold.refold .head { font-size: 1.15em; font-weight: 600; }
.refold.refold .soft { opacity: .72; }
.refold.refold .odd { border-left: 4px solid #d9661f; padding-left: .5em; }
.refold.refold .fine { border-left: 4px solid #3d8fc4; padding-left: .5em; }
.refold.refold table { border-collapse: collapse; border: 0; margin: .5em 0; font: inherit;
  color: inherit; table-layout: auto; font-variant-numeric: tabular-nums; }
.refold.refold tr:nth-child(n) { background: none; }
.refold.refold th, .refold.refold td { padding: .3em .9em .3em 0; border: 0; text-align: left;
  border-bottom: 1px solid rgba(128, 128, 128, .35); vertical-align: top; background: none;
  color: inherit; white-space: normal; max-width: none; font-size: inherit; }
.refold.refold th { font-weight: 600; }
.refold.refold th[scope="col"] { white-space: nowrap; }
.refold.refold th[scope="row"] { min-width: 6ch; }
.refold.refold .why { display: flex; gap: 0 1em; align-items: flex-start; margin: .15em 0; }
.refold.refold .why > :first-child { flex: none; width: 120px; min-height: 1px; }
.refold.refold .why > p { margin: 0; }
.refold.refold td p:first-child { margin-top: 0; }
.refold.refold ul { margin: .3em 0; padding-left: 1.3em; }
.refold.refold details { margin: .4em 0; }
.refold.refold summary { cursor: pointer; width: fit-content; }
.refold.refold svg { display: block; width: 120px; height: 16px; margin: .2em 0;
  overflow: visible; }
.refold.refold .band, .refold.refold .bars { fill: #3d8fc4; fill-opacity: .6; }
.refold.refold .axis { stroke: rgba(128, 128, 128, .6); }
.refold.refold .tick { stroke: currentColor; stroke-width: 2; }
.refold.refold .mark { fill: #d9661f; }
@media (max-width: 600px) {
  .refold.refold .why { flex-wrap: wrap; }
  .refold.refold thead { display: none; }
  .refold.refold tr, .refold.refold th, .refold.refold td { display: block; }
  .refold.refold td, .refold.refold th { border: 0; padding: .1em 0; }
  .refold.refold tr { border-bottom: 1px solid rgba(128, 128, 128, .35); padding: .3em 0; }
}
"""


def box(*parts: str) -> str:
    """Return parts as one piece that looks the same wherever it is put."""
    return f'<div class="refold"><style>{_STYLE}</style>\n{"".join(parts)}</div>'


def escaped(text: object) -> str:
    r"""Return a text that can do nothing in a page.

    >>> print(escaped("<b>heat\x00"))
    &lt;b&gt;heat\u0000
    """
    return escape(printable(str(text)))


def paragraph(text: object, kind: str = "") -> str:
    """Return a text as a paragraph: plain, ``"head"``, ``"soft"``, ``"odd"`` or ``"fine"``."""
    return f'<p class="{kind}">{escaped(text)}</p>' if kind else f"<p>{escaped(text)}</p>"


def items(texts: Iterable[object]) -> str:
    """Return texts as a list."""
    return f"<ul>{''.join(f'<li>{escaped(text)}</li>' for text in texts)}</ul>"


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the cells are HTML already, and the first of each row is its heading."""
    lines = (
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    names = "".join(f'<th scope="col">{escaped(name)}</th>' for name in heads)
    head = f"<thead><tr>{names}</tr></thead>" if heads else ""
    table = f"<table>{head}<tbody>\n{chr(10).join(lines)}\n</tbody></table>"
    return f'<div class="wide">{table}</div>'


def details(summary: str, *parts: str, opened: bool = False) -> str:
    """Return parts behind a line that opens them."""
    start = "<details open>" if opened else "<details>"
    return f"{start}<summary>{escaped(summary)}</summary>{''.join(parts)}</details>"


def _shown(value: Any) -> Any:
    return printable(value, lines=True) if type(value) is str else value


def html_templates(loader: Any) -> Any:
    """Return the environment of jinja2 in which all pages are rendered: cells are only shown.

    So are characters that cannot be seen, or turn the direction of what follows; the filter `e`
    leaves them where a form brings the text back.
    """
    jinja2 = needs("jinja2", "report")
    return jinja2.Environment(
        loader=loader,
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
