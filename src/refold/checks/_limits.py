"""Detection limits of a fitted model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.checks._cell_changes import cell_changes
from refold.checks._context_limits import ShiftUnits
from refold.checks._limits_result import Limit, Limits
from refold.checks._normal_rows import normal_rows
from refold.checks._shift_search import ShiftSearch, learned_columns
from refold.judgement import Judge, unwrapped
from refold.models.detector import refuse_window


def limits(model: Any, X: Any = None) -> Limits:
    """Say how far each column must be off before a row that has nothing else wrong is rejected.

    One value of a normal row is shifted, up or down. The row's limit is the smallest shift *from
    which on it stays rejected*: distances are not monotone, and a row that is rejected at one shift
    may be accepted at a larger one. The limit of the column at 50 % (90 %) is the smallest shift
    that is enough for at least half (nine tenths) of the rows; None if a hundred times the range
    that was learned is not.

    The value is put from a thousand ranges away down to where values were learned, there to 17
    quantiles and 13 even places of the range, until one is missed; the shift between that and the
    one before is narrowed down to 2 %. So what is accepted again only in a narrow place that has
    hardly any values may be overlooked. In a discrete column it is put to all values that were
    learned, and beyond them by whole steps: the limit is such a step.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted. Of a Detector the columns of numbers are shifted; one cell of the others is changed
        to a typo, another value of the column, or a missing one, a date to a year later or earlier:
        ``Limits.changes`` says how often each is noticed.
    X : array-like, dataframe or Judgement of n rows, default=None
        Normal rows, best ones that were not learned from. None takes what the model has kept: of a
        CreasedREF or Detector a sample of its training rows; a REF keeps no rows, so values are
        drawn from its columns' quantiles, each by itself, and the distances of such rows are
        matched with those of its calibration.

    Returns
    -------
    Limits
        One ``Limit`` per column, by number or name; ``str`` is a table, ``to_frame()`` a
        dataframe, ``to_dict()`` plain values. :class:`refold.plot.LimitsDisplay` is the picture.

    Notes
    -----
    At most 200 rows are shifted per column, the same in every call; of more than 10 columns 2,000
    in all, but at least 50 per column. Rows that are rejected as they
    are, and those without a value in the column, are left out.

    Where rows are judged in their context, shifts are those of each row in its own context, in the
    column's unit; ``Limits.groups`` has those of each group among the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import CreasedREF, limits
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=1000)
    >>> dependent = np.column_stack([x, x + 0.1 * rng.normal(size=1000), rng.normal(size=1000)])
    >>> found = limits(CreasedREF(alpha=0.05).fit(dependent))
    >>> found["x1"].up_90 < found["x2"].up_50  # x0 says what x1 should be
    True
    """
    model = unwrapped(model)
    refuse_window(model, "limits")
    judge = Judge.of(model)
    numeric = [judge.names[j] for j in judge.numeric]
    rows = normal_rows(model, judge, X)
    columns = [] if model.summary_ is None else learned_columns(model.summary_)
    found = ShiftSearch(judge, rows, columns).limits() if columns else []
    out = Limits(
        tuple(
            _limit(name, (column.low, column.high), up, down)
            for name, column, (_, up, down) in zip(numeric, columns, found, strict=True)
        ),
        source=rows.source,
        alpha=judge.alpha,
        left_out=tuple(name for name in judge.names if name not in numeric),
        changes=cell_changes(judge, rows),
    )
    if rows.inputs is None:
        return out
    assert judge.encoder is not None
    assert judge.encoder.context is not None
    units = ShiftUnits(judge.encoder.context, rows.inputs)
    own = tuple(
        _limit(
            name,
            units.range(name),
            units.shifts(name, which, up, 1.0),
            units.shifts(name, which, down, -1.0),
        )
        for name, (which, up, down) in zip(numeric, found, strict=True)
    )
    in_units = replace(out, features=own)
    groups = units.by_group(in_units, out.features) if judge.encoder.context.given.by else {}
    return replace(in_units, groups=groups)


def _limit(name: str, learned: tuple[float, float], up: Floats, down: Floats) -> Limit:
    return Limit(
        feature=name,
        low=learned[0],
        high=learned[1],
        up_50=_enough_for(up, 0.5),
        up_90=_enough_for(up, 0.9),
        down_50=_enough_for(down, 0.5),
        down_90=_enough_for(down, 0.9),
        rows=len(up),
    )


def _enough_for(shifts: Floats, share: float) -> float | None:
    """Return the smallest shift that is enough for so many rows."""
    if len(shifts) == 0:
        return None
    found = float(np.sort(shifts)[int(np.ceil(share * len(shifts) * (1.0 - 1e-12))) - 1])
    return found if np.isfinite(found) else None
