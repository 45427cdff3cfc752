"""Suspects, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refold._typing import Integers
from refold.base.markup import box, escaped, grid, paragraph
from refold.base.results import (
    Backend,
    ResultSequence,
    native_frame,
    numbered_reasons,
    plain,
    plain_fields,
)
from refold.base.words import ONLY_TOGETHER, number, p_text
from refold.explanation import Reason
from refold.explanation.gauges import pictured

_LIKE_OTHERS = "no value stands out; no other row is more unusual"


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
    name: Any = None  #: what the row is called: the label of a pandas index; None if by its number

    @property
    def called(self) -> str:
        """What people call the row: by its name, else by its number."""
        return str(self.row if self.name is None else self.name)

    @property
    def because(self) -> list[str]:
        """The reasons that matter, a sentence each."""
        return list(map(str, self.first)) or [ONLY_TOGETHER if self.reasons else _LIKE_OTHERS]

    @property
    def first(self) -> list[Reason]:
        """The reasons that matter."""
        return [reason for rank, reason in enumerate(self.reasons) if reason.matters(rank)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; each reason with its sentence."""
        reasons = [
            {
                **{key: plain(getattr(r, key)) for key in ("feature", "value", "share")},
                "words": str(r),
            }
            for r in self.reasons
        ]
        return {**plain_fields(self, but=("reasons",)), "reasons": reasons}

    def __str__(self) -> str:
        rarity = "" if self.p_value is None else f", {p_text(self.p_value)}"
        head = f"{self.rank}. row {self.called}: score {number(self.score)}{rarity}"
        return "\n  ".join([head, *self.because])


class Suspects(ResultSequence[Suspect]):
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
        self._items = tuple(suspects)
        self.looked_at, self.fdr, self.trusted = looked_at, fdr, trusted

    @property
    def rows(self) -> Integers:
        """Their numbers in the table, the oddest first."""
        return np.array([suspect.row for suspect in self._items], dtype=np.int64)

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
            "suspects": [suspect.to_dict() for suspect in self],
        }

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per suspect as a dataframe; reasons are sentences, null if fewer."""
        columns: dict[str, list[Any]] = {
            name: [getattr(suspect, name) for suspect in self]
            for name in ("row", "rank", "score", *(["p_value"] if self.trusted is not None else []))
        }
        reasons = numbered_reasons([suspect.because for suspect in self])
        return native_frame(
            {**columns, **reasons}, backend, integers=("row", "rank"), texts=reasons
        )

    def __repr__(self) -> str:
        return f"Suspects({len(self)} of {self.looked_at:,} rows)"

    def __str__(self) -> str:
        return "\n".join([*map(str, self._items), self.note])

    def _repr_html_(self) -> str:
        """Return a table for notebooks; what is in it from the user's table is only shown."""
        lines = (
            (
                str(s.rank),
                escaped(s.called),
                number(s.score),
                "".join(pictured(r, r) for r in s.first),
            )
            for s in self._items
        )
        return box(grid(("rank", "row", "score", "because of"), lines), paragraph(self.note))
