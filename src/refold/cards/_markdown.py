"""A model's small print as Markdown: the card that stands beside a model file that is shared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from refold.base.words import printable, shortened
from refold.cards._card import card_of
from refold.explanation import normal_of_columns, normal_text
from refold.judgement import Judge
from refold.judgement.normal import normal_ranges

_FRONT = """---
library_name: refold
pipeline_tag: tabular-classification
tags:
- anomaly-detection
- novelty-detection
- one-class-classification
- tabular
---"""


def card_markdown(model: Any, file: str = "model.json") -> str:
    """Return a model card in Markdown, with the front matter that Hugging Face reads.

    It has what the model is, the columns and what is normal of each, what can be relied on, what
    cannot, and how to use the file. Values of training rows are in it: categories by name, numbers
    and dates by their range.

    Parameters
    ----------
    model : estimator
        Fitted.
    file : str, default="model.json"
        The name of the model file, for the example.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.cards import card_markdown
    >>> text = card_markdown(REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2))))
    >>> [line for line in text.splitlines() if line.startswith("## ")][:3]
    ['## What it is', '## Columns', '## What can be relied on']
    """
    card = card_of(model, {})
    lines = [_FRONT, f"# {type(model).__name__}", ""]
    lines.append("It has learned from normal rows, and says of new ones: normal or not, how far")
    lines += ["off, and because of which columns.", "", "## What it is", ""]
    lines += _table(("", ""), card.facts)
    headings = ("column", "read as", "normal", "such as", "missing")
    lines += ["", "## Columns", "", *_table(headings, _columns(model))]
    for title, sentences in (
        ("What can be relied on", card.guarantees),
        ("What cannot", card.limits),
    ):
        lines += ["", f"## {title}", "", *(f"- {_plain(one)}" for one in sentences)]
    lines += ["", "## How to use it", "", "```python", "import refold", ""]
    lines += [f"model = refold.load({file!r})", "labels = model.predict(table)  # 1 normal, -1 not"]
    lines += ["reasons = refold.explain(model, table)", "```", ""]
    lines.append("The file is JSON: loading it runs no code.")
    return "\n".join([*lines, ""])


def _columns(model: Any) -> Iterator[tuple[str, ...]]:
    judge = Judge.of(model)
    if judge.encoder is None:
        ranges = normal_ranges(model.summary_)
        for name, normal in zip(judge.names, ranges, strict=True):
            yield name, "number", normal_text({"normal": normal}), "", ""
        return
    known = normal_of_columns(judge.encoder, model.summary_)
    for column in model.columns_:
        learned = normal_text({"unit": column.unit, **known.get(column.name, {})})
        missing = f"{column.missing:,}" if column.missing else ""
        words = f" ({', '.join(column.missing_words)})" if column.missing_words else ""
        yield column.name, column.reading, learned, shortened(column.example), missing + words


def _table(headings: tuple[str, ...], rows: Any) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield "|" + "---|" * len(headings)
    for row in rows:
        yield f"| {' | '.join(_plain(cell).replace('|', chr(92) + '|') for cell in row)} |"


def _plain(text: str) -> str:
    """Return a text in one line, in which nothing that comes from a table is markup."""
    safe = printable(" ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;")
    for mark in "\\`*_[]#":
        safe = safe.replace(mark, f"\\{mark}")
    return safe
