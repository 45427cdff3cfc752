"""What a comparison of two models found, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from refold.base.results import Backend, native_frame, numbered_reasons, plain
from refold.base.words import printable
from refold.checks._compare.changed_rows import ChangedRow, ScatterSample
from refold.checks._compare.compared_columns import ComparedColumn
from refold.checks._compare.compared_models import ComparedModel, Difference
from refold.checks._compare.comparison_text import as_html, headline, lines_of, not_judged
from refold.decisions.intervals import interval_of_rate


@dataclass(frozen=True, eq=False)
class Comparison:
    """What a new model would change, beside an old one, on the rows of a table.

    Examples
    --------
    >>> import numpy as np
    >>> import refold
    >>> rows = np.random.default_rng(0).normal(size=(400, 2))
    >>> old, new = refold.REF(alpha=0.02).fit(rows), refold.REF(alpha=0.02).fit(rows * [1.0, 25.4])
    >>> found = refold.compare(old, new, rows)
    >>> found.rows, len(found.changed_rows), found.columns[1].units.factor
    (400, 3, 25.4)
    """

    #: old, new: the models: what they learned from, what they promise, how many rows they reject
    old: ComparedModel
    new: ComparedModel
    rows: int  #: how many rows the table has
    #: normal_normal, normal_outlier, outlier_normal, outlier_outlier: how many of the rows that
    #: both judge are what to old and to new
    normal_normal: int
    normal_outlier: int
    outlier_normal: int
    outlier_outlier: int
    #: only_old, only_new: rows that one model judges and the other does not: they have no value in
    #: its columns
    only_old: int
    only_new: int
    #: Whether both have the same limit, and say the same distance of every row
    same_distances: bool
    #: Rows that change their verdict, at most as many as were asked for; those farthest beyond the
    #: limit of the model that rejects them first
    changed_rows: tuple[ChangedRow, ...]
    #: What each has learned, and which columns make the difference
    columns: tuple[ComparedColumn, ...]
    #: Parameters, rates and the like in which the models differ
    differences: tuple[Difference, ...]
    scatter: ScatterSample  #: p-values of some of the rows, for :func:`refold.plot.comparison`
    unexplained: str = ""  #: why there are no reasons; empty if there are
    without_limits: str = ""  #: why there are no detection limits, if they were asked for

    @property
    def judged(self) -> int:
        """How many rows both models judge."""
        return self.n_changed + self.normal_normal + self.outlier_outlier

    @property
    def n_changed(self) -> int:
        """How many rows change their verdict."""
        return self.normal_outlier + self.outlier_normal

    @property
    def changed(self) -> float | None:
        """The share of the rows that both judge which change their verdict; None if none is."""
        return self.n_changed / self.judged if self.judged else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The share that rows of this kind have in the long run, at 95 % (Clopper-Pearson)."""
        return interval_of_rate(self.n_changed, self.judged) if self.judged else None

    @property
    def same(self) -> bool:
        """Whether the models say the same of every row, to the distance, and nothing differs."""
        return (
            self.same_distances
            and not self.n_changed
            and not (self.only_old or self.only_new)
            and not self.differences
            and not any(column.differs for column in self.columns)
        )

    def remarks(self) -> list[str]:
        """Say what to look at before the new model is used, a sentence each."""
        return [
            f"{printable(column.name)}: {remark}"
            for column in self.columns
            for remark in column.remarks()
        ]

    def drivers(self) -> list[ComparedColumn]:
        """Return the columns that are the first reason of a change, the most frequent first."""
        return sorted((c for c in self.columns if c.leads), key=lambda column: -column.leads)

    def headline(self) -> str:
        """Say in a sentence what would change."""
        return headline(self)

    def not_judged(self) -> list[str]:
        """Say which rows could not be compared, a sentence each."""
        return list(not_judged(self))

    def text(self, rows: int = 10) -> str:
        """Return what a person reads, with so many of the changed rows."""
        return "\n".join(lines_of(self, rows))

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields but the scatter as plain values, ready for JSON."""
        counts = ("normal_normal", "normal_outlier", "outlier_normal", "outlier_outlier")
        return {
            "same": self.same,
            "rows": self.rows,
            "judged": self.judged,
            "changed": self.changed,
            "changed_interval": None if self.interval is None else list(self.interval),
            "n_changed": self.n_changed,
            **{name: getattr(self, name) for name in (*counts, "only_old", "only_new")},
            "old": self.old.to_dict(),
            "new": self.new.to_dict(),
            "differences": plain(self.differences),
            "remarks": self.remarks(),
            "columns": [column.to_dict() for column in self.columns],
            "changed_rows": [row.to_dict() for row in self.changed_rows],
            "unexplained": self.unexplained,
            "without_limits": self.without_limits,
        }

    def __repr__(self) -> str:
        return f"Comparison({self.n_changed:,} of {self.judged:,} rows change their verdict)"

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the changed rows as a dataframe, one line each.

        It has ``row``, ``now``, what each model says, and ``reason_1`` …, the columns to blame.
        """
        columns: dict[str, list[Any]] = {
            "row": [row.row for row in self.changed_rows],
            "now": [row.now for row in self.changed_rows],
        }
        for which in ("old", "new"):
            for key in ("distance", "threshold", "p_value"):
                values = [getattr(getattr(row, which), key) for row in self.changed_rows]
                columns[f"{which}_{key}"] = [float("nan") if v is None else v for v in values]
        reasons = numbered_reasons([[e.feature for e in r.reasons] for r in self.changed_rows])
        columns |= reasons
        columns["because"] = [row.because() or None for row in self.changed_rows]
        texts = ("now", "because", *reasons)
        return native_frame(columns, backend, integers=["row"], texts=texts)
