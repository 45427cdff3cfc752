"""What was noticed about a table, for people and for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

from refold.base.advice import NO_ADVICE, Setting, in_python, in_words
from refold.base.findings import ONE_BY_ONE, Finding, told
from refold.base.markup import box, escaped, grid, paragraph
from refold.base.results import Backend, native_frame, plain
from refold.base.words import plural, printable

LIMIT = 7  # findings that are shown first
_WIDTH = 100  # characters of a line
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
_OF_SEVERAL = frozenset({"drift", "missing-block"})  # kinds whose values are columns
_FIELDS = ("kind", "column", "rows", "values", "message", "advice")


@dataclass(frozen=True)
class Findings(Sequence[Finding]):
    """What :func:`refold.check` has noticed, what matters most first.

    It is a sequence: ``len``, ``for`` and ``[k]`` work, and it is false where nothing was noticed.
    ``str`` is a table for people; a notebook shows one too.

    Examples
    --------
    >>> from refold import check
    >>> rows = [{"heat": 20 + k % 7, "gear": 5, "label": "ok"} for k in range(100)]
    >>> print(check(rows))
    2 things to look at in 100 rows and 3 columns:
      constant  gear is always 5.
                label is always ok.
    """

    findings: tuple[Finding, ...]  #: in the order of consequence
    rows: int  #: rows, columns: the size of the table
    columns: int
    #: What is good to know and needs nothing to be done: how columns were taken, and that rows
    #: without a time are in some order. They do not count as findings.
    notes: tuple[Finding, ...] = ()

    @overload
    def __getitem__(self, place: int) -> Finding: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Finding, ...]: ...

    def __getitem__(self, place: int | slice) -> Finding | tuple[Finding, ...]:
        return self.findings[place]

    def __len__(self) -> int:
        return len(self.findings)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds there are, each once."""
        return tuple(dict.fromkeys(found.kind for found in self.findings))

    def of(self, kind: str, column: str | None = None) -> tuple[Finding, ...]:
        """Return the findings and notes of a kind, or of a kind about, or naming, a column."""
        return tuple(
            found
            for found in (*self.findings, *self.notes)
            if found.kind == kind and column in (None, *_columns(found))
        )

    def map(self, function: Callable[[Finding], Finding]) -> Findings:
        """Return the same with each finding and note replaced, such as by ``Finding.one_based``."""
        findings, notes = (tuple(map(function, each)) for each in (self.findings, self.notes))
        return replace(self, findings=findings, notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON; rows count from 0."""
        findings, notes = (plain(each) for each in (self.findings, self.notes))
        return {"rows": self.rows, "columns": self.columns, "findings": findings, "notes": notes}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per finding as a dataframe; rows and values are written as texts."""
        columns: dict[str, list[Any]] = {key: [] for key in _FIELDS}
        for found in self.findings:
            for key in _FIELDS:
                value = getattr(found, key)
                listed = isinstance(value, tuple)
                text = ", ".join(map(str, value)) if listed else value
                columns[key].append(str(text) if key == "advice" else text)
        return native_frame(columns, backend, texts=_FIELDS)

    def to_html(self, limit: int | None = None) -> str:
        """Return a page of its own with the findings that matter most; a `limit` of None is all."""
        return _PAGE.format(part=self._part_of_page(limit, in_words))

    def to_text(self, limit: int | None = LIMIT) -> str:
        """Return a table for people, with what matters most; a `limit` of None is all."""
        kinds = self.by_kind(limit=limit)
        wide = max(map(len, kinds), default=0)
        lines = [self.heading]
        for kind, sentences in kinds.items():
            for k, sentence in enumerate(sentences):
                first = f"  {kind if k == 0 else '':{wide}}  "
                lines += textwrap.wrap(
                    printable(sentence),
                    _WIDTH,
                    initial_indent=first,
                    subsequent_indent=" " * len(first),
                    break_on_hyphens=False,
                )
        for line in self.closing(limit):
            lines += textwrap.wrap(printable(line), _WIDTH, break_on_hyphens=False)
        return "\n".join(lines)

    def by_kind(
        self, setting: Setting = in_python, limit: int | None = None
    ) -> dict[str, list[str]]:
        """Return what to tell people of each kind; `setting` says how what is advised is set.

        A `limit` shows the findings that matter most.
        """
        kinds: dict[str, list[Finding]] = {}
        for found in self.findings[:limit]:
            kinds.setdefault(found.kind, []).append(found)
        return {kind: list(_told(alike, setting)) for kind, alike in kinds.items()}

    @property
    def heading(self) -> str:
        """How much was noticed, in a sentence."""
        rows, columns = plural(self.rows, "row"), plural(self.columns, "column")
        if not self.findings:
            return f"Nothing was noticed in {rows} and {columns}."
        return f"{plural(len(self), 'thing')} to look at in {rows} and {columns}:"

    def closing(
        self,
        limit: int | None = LIMIT,
        ask: str = "to_text(limit=None)",
        setting: Setting = in_python,
    ) -> list[str]:
        """Return the lines below the findings: how many more there are, and the notes.

        `ask` says how to see the others, `setting` how what is advised is set where people read it.
        """
        lines = []
        if limit is not None and len(self) > limit:
            kinds: dict[str, int] = {}
            for found in self.findings[limit:]:
                kinds[found.kind] = kinds.get(found.kind, 0) + 1
            counts = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
            lines.append(
                f"{len(self) - limit:,} less important ones ({counts}) are not shown: {ask} "
                "shows them."
            )
        if self.notes:
            # Of each kind one sentence: notes are quiet.
            notes = {kind: self.of(kind) for kind in dict.fromkeys(f.kind for f in self.notes)}
            lines += [f"Note: {' '.join(_told(alike, setting, 1))}" for alike in notes.values()]
        return lines

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        kinds: dict[str, int] = {}
        for found in self.findings:
            kinds[found.kind] = kinds.get(found.kind, 0) + 1
        counts = ", ".join(f"{kind}: {count:,}" for kind, count in kinds.items())
        size = f"{self.rows:,} rows, {self.columns:,} columns"
        return f"<Findings of {size}: {counts or 'none'}>"

    def _repr_html_(self) -> str:
        return self._part_of_page(LIMIT)

    def _part_of_page(self, limit: int | None, setting: Setting = in_python) -> str:
        """Return a part of a page; names and cells in it can do nothing there."""
        kinds = self.by_kind(setting, limit)
        rows = ((escaped(kind), "".join(map(paragraph, told))) for kind, told in kinds.items())
        closing = "".join(map(paragraph, self.closing(limit, setting=setting)))
        return box(paragraph(self.heading), grid((), rows) if kinds else "", closing)


def _columns(found: Finding) -> tuple[Any, ...]:
    """Return the columns that a finding is about."""
    several = found.kind in _OF_SEVERAL or (found.kind == "absurd-cell" and found.column is None)
    return (found.column, *(found.values if several else ()))


def _told(alike: Sequence[Finding], setting: Setting, most: int = ONE_BY_ONE) -> Iterator[str]:
    """Tell findings of a kind; advice that is the same for all comes once, last."""
    same = len(alike) > 1 and len({found.advice for found in alike}) == 1
    findings = (replace(found, advice=NO_ADVICE) if same else found for found in alike)
    yield from told(findings, setting, most)
    if same and alike[0].advice:
        yield alike[0].advice.render(setting)
