"""What was noticed about a table, for people and for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, overload

import narwhals.stable.v2 as nw

from refold.base.advice import NO_ADVICE, Setting, in_python, in_words
from refold.base.findings import Finding, told
from refold.base.words import printable
from refold.checks._table.page import part_of_page, whole_page

_WIDTH = 100  # characters of a line
_FIELDS = ("kind", "column", "rows", "values", "message", "advice")


@dataclass(frozen=True)
class Findings(Sequence[Finding]):
    """What :func:`refold.check` has noticed, what matters most first.

    It is a sequence: ``len``, ``for`` and ``[k]`` work, and it is false where nothing was noticed.
    ``str`` is a table for people; a notebook shows one too.

    Attributes
    ----------
    findings : tuple of Finding
        In the order of consequence.
    rows, columns : int
        The size of the table.

    Examples
    --------
    >>> from refold import check
    >>> rows = [{"heat": 20 + k % 7, "gear": 5, "label": "ok"} for k in range(100)]
    >>> print(check(rows))
    2 things to look at in 100 rows and 3 columns:
      constant  gear is always 5.
                label is always ok.
    """

    findings: tuple[Finding, ...]
    rows: int
    columns: int

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
        """Return the findings of a kind, or of a kind about a column.

        Parameters
        ----------
        kind : str
            Such as ``"sentinel"``.
        column : str or None, default=None
            A column; None is any.

        Returns
        -------
        tuple of Finding
        """
        return tuple(
            found
            for found in self.findings
            if found.kind == kind and column in (None, found.column)
        )

    def said(self, word: Callable[[Finding], Finding]) -> Findings:
        """Return the same in other words, such as those of a command line."""
        return replace(self, findings=tuple(map(word, self.findings)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON; rows count from 0."""
        findings = [
            {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(found).items()}
            for found in self.findings
        ]
        return {"rows": self.rows, "columns": self.columns, "findings": findings}

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return one line per finding as a dataframe; rows and values are written as texts.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            Which dataframe.

        Returns
        -------
        DataFrame or Table
        """
        columns: dict[str, list[Any]] = {key: [] for key in _FIELDS}
        for found in self.findings:
            for key in _FIELDS:
                value = getattr(found, key)
                listed = isinstance(value, tuple)
                text = ", ".join(map(str, value)) if listed else value
                columns[key].append(str(text) if key == "advice" else text)
        schema = dict.fromkeys(_FIELDS, nw.String())
        return nw.from_dict(columns, schema, backend=backend).to_native()

    def to_html(self) -> str:
        """Return a page of its own: one file that needs nothing else."""
        return whole_page(self.heading, self.by_kind(in_words))

    def by_kind(self, setting: Setting = in_python) -> dict[str, list[str]]:
        """Return what to tell people of each kind: three findings, and where there are more.

        Parameters
        ----------
        setting : callable, default: as in Python
            Says how what is advised is set where people read it.

        Returns
        -------
        dict of str to list of str
        """
        return {kind: list(_told(self.of(kind), setting)) for kind in self.kinds}

    @property
    def heading(self) -> str:
        """How much was noticed, in a sentence."""
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        columns = "1 column" if self.columns == 1 else f"{self.columns:,} columns"
        if not self.findings:
            return f"Nothing was noticed in {rows} and {columns}."
        things = "1 thing" if len(self) == 1 else f"{len(self):,} things"
        return f"{things} to look at in {rows} and {columns}:"

    def __str__(self) -> str:
        kinds = self.by_kind()
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
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return part_of_page(self.heading, self.by_kind())


def _told(alike: Sequence[Finding], setting: Setting) -> Iterator[str]:
    """Tell findings of a kind; advice that is the same for all comes once, last."""
    same = len(alike) > 1 and len({found.advice for found in alike}) == 1
    findings = (replace(found, advice=NO_ADVICE) if same else found for found in alike)
    yield from told(findings, setting)
    if same and alike[0].advice:
        yield alike[0].advice.render(setting)
