"""What two models say of the same rows, counted block by block in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.errors import UserError
from refold.checks._compare.changed_rows import (
    ChangedRow,
    ChangeReason,
    RowVerdict,
    ScatterSample,
    Verdict,
)
from refold.checks._compare.compared_columns import LearnedTableView, compared_columns
from refold.checks._compare.compared_models import ComparedModel, differences
from refold.checks._compare.comparison_result import Comparison
from refold.columns.conversion import is_table
from refold.columns.frames import batch_to_table, column_names, feature_names, frame_to_numpy
from refold.explanation import Explanation, explain
from refold.judgement import Judge, Judgement, unwrapped

_NAMED = 20


def judged(model: Any, X: Any, which: str) -> Judgement:
    """Judge the rows of a table; columns that the model does not need are left out."""
    if not is_table(X):
        return Judgement.of(model, X)
    X = batch_to_table(X)
    encoder = getattr(unwrapped(model), "encoder_", None)
    if encoder is not None and model is unwrapped(model):
        _require(encoder.inputs.names, X, which)
        return Judgement.of(model, X)
    if isinstance(X, list):
        raise UserError(
            f"{which} is a {type(model).__name__}, which takes no lists of records: make a "
            "dataframe of X."
        )
    if getattr(model, "feature_names_in_", None) is None:
        return Judgement.of(model, _without_names(model, X, which))
    wanted = feature_names(model)
    _require(wanted, X, which)
    return Judgement.of(model, nw.from_native(X, eager_only=True).select(wanted).to_native())


def _require(wanted: list[str], X: Any, which: str) -> None:
    """Refuse a table without some of the columns."""
    there = (
        {str(name) for record in X for name in record}
        if isinstance(X, list)
        else set(map(str, column_names(X)))
    )
    absent = [name for name in wanted if name not in there]
    if absent:
        more = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
        raise UserError(
            f"X has no column {', '.join(map(repr, absent[:_NAMED]))}{more}, which {which} needs. "
            "Both models must find their columns in X."
        )


def _without_names(model: Any, X: Any, which: str) -> Any:
    """Return the numbers of a table for a model that was fitted on an array."""
    found, needed = len(column_names(X)), model.n_features_in_
    if found != needed:
        raise UserError(
            f"{which} was fitted without column names on {needed} columns; X has {found}. Hand "
            "over these columns as an array, in the order of training."
        )
    return frame_to_numpy(X)


def check_same_columns(old: Any, new: Any, X: Any) -> None:
    """Refuse an array, whose columns have no names, for models that give them different ones."""
    names = [getattr(model, "feature_names_in_", None) for model in (old, new)]
    if is_table(X) or names[0] is None or names[1] is None:
        return
    if list(names[0]) != list(names[1]):
        raise UserError(
            "X has no column names, and the models have different columns or another order of "
            "them: hand over a dataframe."
        )


_SAME = 1e-9  # distances that differ by less of the limit are the same


class _Changed(NamedTuple):
    """Rows that change in one direction, those that are clearest first."""

    rows: Integers
    old: Judgement
    new: Judgement

    def with_more(self, more: _Changed, now: Verdict, most: int) -> _Changed:
        """Return the clearest of these and others: farthest out for the model that rejects."""
        parts = (self, more)
        old, new = (Judgement.joined([getattr(p, side) for p in parts]) for side in ("old", "new"))
        rows = np.concatenate([self.rows, more.rows])
        clear = (new if now == "outlier" else old).distances
        order = np.argsort(-clear, kind="stable")[:most]
        return _Changed(rows[order], old.take(order), new.take(order))


class Comparer:
    """Counts what two models say of the same rows, a block of rows at a time."""

    def __init__(self, old: Any, new: Any, *, reasons: int = 3, most: int = 100) -> None:
        if reasons < 1:
            raise ValueError(f"reasons={reasons!r}: at least one column per row must be named.")
        if most < 0:
            raise ValueError(f"most={most!r}: a number of rows cannot be below 0.")
        self._models = (unwrapped(old), unwrapped(new))
        self._judges = (Judge.of(old), Judge.of(new))
        self._reasons, self._most = reasons, most
        self._rows = self._only_old = self._only_new = 0
        self._outcomes = np.zeros((2, 2), dtype=np.int64)  # old, new: normal, outlier
        self._changed: dict[Verdict, _Changed] = {}
        self._same_distances = True
        self._scatter = ScatterSample.nothing(self._judges)

    def update(self, old: Judgement, new: Judgement, *, first: int | None = None) -> None:
        """Add rows, as both models judge them.

        Parameters
        ----------
        old, new : Judgement
            Of the same rows.
        first : int or None, default=None
            The number of the first of them; None counts on, from 0.
        """
        if len(old) != len(new):
            raise ValueError(f"old judges {len(old):,} rows and new {len(new):,}.")
        first = self._rows if first is None else first
        self._rows += len(old)
        self._only_old += int((old.judged & ~new.judged).sum())
        self._only_new += int((new.judged & ~old.judged).sum())
        both = np.asarray(old.judged & new.judged)
        at = 2 * old.outlier[both].astype(np.int64) + new.outlier[both]
        self._outcomes += np.bincount(at, minlength=4).reshape(2, 2)
        self._same_distances &= self._alike(old.distances[both], new.distances[both])
        self._keep(old, new, both, first)
        self._scatter = self._scatter.with_rows(old, new, both)

    def _alike(self, old: Floats, new: Floats) -> bool:
        limits = [judge.threshold for judge in self._judges]
        largest = _SAME * max(limits)
        return abs(limits[0] - limits[1]) <= largest and bool((np.abs(old - new) <= largest).all())

    def _keep(self, old: Judgement, new: Judgement, both: Booleans, first: int) -> None:
        """Keep the clearest of the rows that change."""
        ways: tuple[tuple[Verdict, Judgement, Judgement], ...] = (
            ("outlier", new, old),
            ("normal", old, new),
        )
        for now, rejects, accepts in ways:
            rows = np.flatnonzero(both & rejects.outlier & ~accepts.outlier)
            order = np.argsort(-rejects.distances[rows], kind="stable")[: self._most]
            rows = rows[order]
            if len(rows) == 0:
                continue
            found = _Changed(rows + first, old.take(rows), new.take(rows))
            kept = self._changed.get(now)
            self._changed[now] = found if kept is None else kept.with_more(found, now, self._most)

    def result(self, *, limits: bool = False) -> Comparison:
        """Return what was found.

        Parameters
        ----------
        limits : bool, default=False
            Whether to find the detection limits of both models; see :func:`refold.limits`.

        Returns
        -------
        Comparison
        """
        (kept, moved), (back, still) = self._outcomes.tolist()
        both = kept + moved + back + still
        described = (
            ComparedModel.of(self._models[0], self._judges[0], back + still, both),
            ComparedModel.of(self._models[1], self._judges[1], moved + still, both),
        )
        rows = self._changed_rows()
        leads = Counter((row.reasons[0].feature, row.now) for row in rows if row.reasons)
        views = [
            LearnedTableView(model, judge, with_limits=limits)
            for model, judge in zip(self._models, self._judges, strict=True)
        ]
        return Comparison(
            old=described[0],
            new=described[1],
            rows=self._rows,
            normal_normal=kept,
            normal_outlier=moved,
            outlier_normal=back,
            outlier_outlier=still,
            only_old=self._only_old,
            only_new=self._only_new,
            same_distances=self._same_distances,
            changed_rows=rows,
            columns=compared_columns(views[0], views[1], leads),
            differences=differences(self._models, described),
            scatter=self._scatter,
            unexplained=" ".join(
                f"{which}: {judge.scorer.unexplained}"
                for which, judge in zip(("old", "new"), self._judges, strict=True)
                if judge.scorer.unexplained
            ),
            without_limits=" ".join(
                f"{which}: {view.refused}"
                for which, view in zip(("old", "new"), views, strict=True)
                if view.refused
            ),
        )

    def _changed_rows(self) -> tuple[ChangedRow, ...]:
        """Explain the rows that are listed: each direction has half of them, if it has so many."""
        found = self._changed
        counts = {now: len(changed.rows) for now, changed in found.items()}
        out: list[ChangedRow] = []
        for now, changed in found.items():
            others = sum(counts.values()) - counts[now]
            room = max(self._most - others, (self._most + (now == "outlier")) // 2)
            out += self._explained(changed, np.arange(min(room, counts[now])))
        return tuple(sorted(out, key=lambda row: -max(row.old.times, row.new.times)))

    def _explained(self, changed: _Changed, some: Integers) -> Iterable[ChangedRow]:
        old, new = changed.old.take(some), changed.new.take(some)
        because = [self._explain(0, old), self._explain(1, new)]
        opinions = [_opinions(old), _opinions(new)]
        for k, row in enumerate(changed.rows[some].tolist()):
            rejects = int(opinions[1][k].verdict == "outlier")
            yield ChangedRow(
                row,
                opinions[0][k],
                opinions[1][k],
                _reasons(because[rejects][k], because[1 - rejects][k], self._reasons),
            )

    def _explain(self, which: int, found: Judgement) -> list[Explanation | None]:
        if len(found) == 0 or found.judge.scorer.unexplained:
            return [None] * len(found)
        return list(explain(self._models[which], found, nearest=False))


def _opinions(found: Judgement) -> list[RowVerdict]:
    p_values = [None] * len(found) if found.p_values is None else found.p_values.tolist()
    return [
        RowVerdict(distance, found.judge.threshold, p)
        for distance, p in zip(found.distances.tolist(), p_values, strict=True)
    ]


def _reasons(
    rejects: Explanation | None, accepts: Explanation | None, most: int
) -> tuple[ChangeReason, ...]:
    """Return why one model rejects a row, beside what the other says of the same columns."""
    if rejects is None:
        return ()
    others = {} if accepts is None else {reason.feature: reason for reason in accepts.reasons}
    return tuple(
        ChangeReason(reason, others.get(reason.feature))
        for rank, reason in enumerate(rejects.reasons)
        if reason.matters(rank) and (rank < most or reason.novel)
    )
