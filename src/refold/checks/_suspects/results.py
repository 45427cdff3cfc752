"""Suspects, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import narwhals.stable.v2 as nw
import numpy as np

from refold._typing import Integers
from refold.base.markup import box, grid, paragraph
from refold.base.words import ONLY_TOGETHER, number
from refold.explanation import Reason
from refold.explanation.gauges import pictured


@dataclass(frozen=True)
class Suspect:
    """A row of a training table that looks unlike the rest."""

    row: int  #: its number in the table, from 0
    rank: int  #: 1 is the row that looks least like the rest
    #: How far out it is. Beside the rest of the table: the mean over its columns of how surprising
    #: their cells are. Beside trusted rows: its distance by a model of these.
    score: float
    p_value: float | None  #: how rare such a row is among trusted rows; None if there were none
    #: The columns that make it so, the largest share of the score first
    reasons: tuple[Reason, ...]

    @property
    def because(self) -> list[str]:
        """The reasons that matter, a sentence each."""
        return list(map(str, self.first)) or [ONLY_TOGETHER]

    @property
    def first(self) -> list[Reason]:
        """The reasons that matter."""
        return [reason for rank, reason in enumerate(self.reasons) if reason.matters(rank)]

    def __str__(self) -> str:
        rarity = "" if self.p_value is None else f", p = {self.p_value:.2g}"
        head = f"{self.rank}. row {self.row}: score {number(self.score)}{rarity}"
        return "\n  ".join([head, *self.because])


class Suspects(Sequence[Suspect]):
    """The rows of a table that look least like the rest, the oddest first.

    Parameters
    ----------
    suspects : sequence of Suspect
        In their order.
    looked_at : int
        How many rows were looked at.
    fdr : float or None
        The share of normal rows among them that was allowed for, on average.
    trusted : int or None
        How many trusted rows they were compared with.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers in the table, the oddest first.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import suspects
    >>> rows = np.random.default_rng(0).normal(size=(300, 2))
    >>> rows[17, 1] = 40.0
    >>> found = suspects(rows, 3)
    >>> [suspect.row for suspect in found][0], len(found)
    (17, 3)
    """

    def __init__(
        self,
        suspects: Sequence[Suspect],
        looked_at: int,
        *,
        fdr: float | None = None,
        trusted: int | None = None,
    ) -> None:
        self._suspects = tuple(suspects)
        self.looked_at, self.fdr, self.trusted = looked_at, fdr, trusted

    @property
    def rows(self) -> Integers:
        """Their numbers in the table, the oddest first."""
        return np.array([suspect.row for suspect in self._suspects], dtype=np.int64)

    @overload
    def __getitem__(self, index: int) -> Suspect: ...
    @overload
    def __getitem__(self, index: slice) -> Suspects: ...
    def __getitem__(self, index: int | slice) -> Suspect | Suspects:
        """Return one of them, or several."""
        if isinstance(index, slice):
            return Suspects(
                self._suspects[index], self.looked_at, fdr=self.fdr, trusted=self.trusted
            )
        return self._suspects[index]

    def __len__(self) -> int:
        return len(self._suspects)

    def __iter__(self) -> Iterator[Suspect]:
        return iter(self._suspects)

    @property
    def note(self) -> str:
        """What the list means, in a few sentences."""
        head = f"{len(self):,} of {self.looked_at:,} rows"
        if self.trusted is None:
            return (
                f"{head}, those that look least like the rest. Every table has such rows; nothing "
                "says that they are wrong: look at them. Bad rows that are much alike, a tight "
                "clump of them, pass as normal."
            )
        head = f"{head}, compared with {self.trusted:,} trusted ones"
        if self.fdr is None:
            return f"{head}: those that are farthest from these."
        return f"{head}: on average at most {100 * self.fdr:.3g} % of such a list are like these."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "rows": self.looked_at,
            "fdr": self.fdr,
            "trusted": self.trusted,
            "suspects": [
                {
                    "row": suspect.row,
                    "rank": suspect.rank,
                    "score": suspect.score,
                    "p_value": suspect.p_value,
                    "reasons": [_plain(reason) for reason in suspect.reasons],
                }
                for suspect in self._suspects
            ],
        }

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return one line per suspect as a dataframe; reasons are sentences, null if fewer."""
        because = [suspect.because for suspect in self._suspects]
        most = max(map(len, because), default=0)
        columns: dict[str, list[Any]] = {
            "row": self.rows.tolist(),
            "rank": [suspect.rank for suspect in self._suspects],
            "score": [suspect.score for suspect in self._suspects],
        }
        if self.trusted is not None:
            columns["p_value"] = [suspect.p_value for suspect in self._suspects]
        for k in range(most):
            columns[f"reason_{k + 1}"] = [s[k] if k < len(s) else None for s in because]
        types = {"row": nw.Int64(), "rank": nw.Int64(), "score": nw.Float64()}
        types |= {"p_value": nw.Float64()}
        schema = {name: types.get(name, nw.String()) for name in columns}
        return nw.from_dict(columns, schema, backend=backend).to_native()

    def __str__(self) -> str:
        return "\n".join([*map(str, self._suspects), self.note])

    def _repr_html_(self) -> str:
        """Return a table for notebooks; what is in it from the user's table is only shown."""
        lines = (
            (str(s.rank), str(s.row), number(s.score), "".join(pictured(r, r) for r in s.first))
            for s in self._suspects
        )
        return box(grid(("rank", "row", "score", "because of"), lines), paragraph(self.note))


def _plain(reason: Reason) -> dict[str, Any]:
    value = reason.value
    missing = isinstance(value, float) and math.isnan(value)
    return {
        "feature": reason.feature,
        "value": None if missing else value,
        "share": reason.share,
        "words": str(reason),
    }
