"""Whether a table passes, by how many of its rows are outliers and how far out they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy.special import bdtrc

from refold.base.errors import UserError

# A table of normal rows fails by chance with this probability at most.
CHANCE = 0.01
_FAR = 1000.0  # times the limit: how many exactly tells nobody anything


@dataclass(frozen=True)
class GateResult:
    """What one condition of a gate says of a table.

    Examples
    --------
    >>> from refold.decisions.gate import Gate
    >>> Gate(max_outliers=3).check(rows=200, outliers=4, farthest=2.0, alpha=0.01)[0].passed
    False
    """

    condition: str  # its option
    passed: bool
    text: str  # why

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {**vars(self)}


@dataclass(frozen=True)
class Gate:
    """Conditions on a table of new rows; all of those that are set must hold.

    Examples
    --------
    At 1 % false alarms, 7 of 263 rows are no surprise; 9 are.

    >>> from refold.decisions.gate import Gate
    >>> gate = Gate(chance=True)
    >>> [gate.check(263, outliers, 2.0, 0.01)[0].passed for outliers in (0, 7, 9)]
    [True, True, False]
    """

    #: So many outliers at most; a float is a share of the rows
    max_outliers: int | float | None = None
    #: Whether no more outliers may be there than alpha explains: by the binomial distribution a
    #: table of normal rows fails with a probability of 1 % at most
    chance: bool = False
    beyond: float | None = None  #: no row may be farther out than so many times the threshold

    def check(
        self, rows: int, outliers: int, farthest: float, alpha: float | None
    ) -> list[GateResult]:
        """Look at a table.

        Parameters
        ----------
        rows, outliers : int
            How many rows were judged, and how many of them are outliers.
        farthest : float
            The largest distance as a multiple of the threshold.
        alpha : float or None
            The false alarm rate of the model.

        Returns
        -------
        list of GateResult
            One for each condition that is set.
        """
        found = []
        share = 100.0 * outliers / max(rows, 1)
        counted = f"{outliers:,} of {rows:,} rows ({share:.3g} %) are outliers"
        if self.max_outliers is not None:
            relative = isinstance(self.max_outliers, float)
            most = self.max_outliers * rows if relative else self.max_outliers
            allowed = f"{100 * self.max_outliers:.3g} %" if relative else f"{self.max_outliers:,}"
            text = f"{counted}; at most {allowed} may be"
            found.append(GateResult("--max-outliers", outliers <= most, text))
        if self.chance:
            if alpha is None:
                raise UserError(
                    "The model has no false alarm rate to compare with: fit it with alpha, or set "
                    "a largest share of outliers."
                )
            probability = float(bdtrc(outliers - 1, rows, alpha)) if outliers else 1.0
            text = (
                f"{counted}; of {rows:,} normal rows about {rows * alpha:,.3g} would be, so many "
                f"or more with probability {probability:.2g}"
            )
            found.append(GateResult("--gate", probability >= CHANCE, text))
        if self.beyond is not None:
            passed = not farthest > self.beyond
            far = f"{farthest:.3g}" if farthest < _FAR else f"more than {_FAR:,.0f}"
            text = f"the farthest row is {far} × the limit; at most {self.beyond:g} × may be"
            found.append(GateResult("--fail-beyond", passed, text))
        return found


def parse_max_outliers(text: str) -> int | float:
    """Read the largest number of outliers, ``12``, or share, ``3%``.

    Examples
    --------
    >>> from refold.decisions.gate import parse_max_outliers
    >>> parse_max_outliers("3%"), parse_max_outliers("12")
    (0.03, 12)
    """
    word = text.strip()
    try:
        value = float(word.removesuffix("%")) / 100.0 if word.endswith("%") else int(word)
    except ValueError:
        value = -1
    if not (0 <= value <= 1 if isinstance(value, float) else value >= 0):
        raise UserError(f"{text!r} is neither a number of rows such as 12 nor a share such as 3%.")
    return value
