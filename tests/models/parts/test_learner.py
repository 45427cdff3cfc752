"""How many rows are held out of a table in parts, and what they set."""

import numpy as np
import pandas as pd
import pytest

from refold import REF, CreasedREF, Detector
from refold.columns.table import NumberColumn, Table, TextColumn
from refold.models.parts import Header, drawn, learn_parts, learner
from refold.models.parts.drawn import enough, matrix, numbers_without
from refold.models.parts.learn import check_learnable

HEADER = Header(("heat", "flow"))


def taught(model, header=HEADER):
    return check_learnable(model)(model, header)


@pytest.mark.parametrize(
    ("alpha", "rows", "held"),
    [
        (0.1, 1_000, 100),  # one row in ten
        (0.1, 200_000, 20_000),
        (0.1, 900_000, 20_000),  # but no more than that
        (0.01, 1_000, 200),  # unless the rate needs more
        (0.00005, 900_000, 40_000),
        (0.3, 60, 7),
        (0.01, 400, 200),
    ],
)
def test_a_tenth_is_held_out_and_two_rows_for_each_that_may_be_rejected(alpha, rows, held):
    for model in (REF(alpha=alpha), CreasedREF(alpha=alpha), Detector(alpha=alpha)):
        assert taught(model).held_out(rows) == held


@pytest.mark.parametrize(("alpha", "least"), [(0.01, 400), (0.3, 14), (0.001, 4_000)])
def test_half_of_the_rows_must_be_left_to_learn_from(alpha, least):
    for model in (REF(alpha=alpha), CreasedREF(alpha=alpha)):
        assert taught(model).held_out(least) == least // 2
        with pytest.raises(ValueError, match=f"needs at least {least:,} rows"):
            taught(model).held_out(least - 1)


def test_without_a_rate_none_is_held_out_and_auto_is_that_of_many_rows():
    assert taught(REF()).held_out(10**6) == 0
    assert taught(CreasedREF()).alpha == taught(Detector()).alpha == 0.01


@pytest.mark.parametrize(
    ("model", "first"),
    [
        (REF(), 20_000),
        (REF(alpha=0.00005), 40_000),
        (CreasedREF(n_init=500), 20_500),
        (Detector(), 30_000),
    ],
)
def test_so_many_rows_are_drawn_at_first(model, first):
    looking = taught(model).first
    assert looking.size == first
    assert (looking.n_bins is not None) == isinstance(model, REF)
    assert looking.apart == (getattr(model, "alpha", None) is not None)


def test_rows_of_which_enough_are_drawn_by_six_standard_deviations(rng):
    for size, rows in ((100, 5_000), (2_000, 10_000)):
        keys = rng.random((400, rows)) if rows < 6_000 else rng.random((50, rows))
        drawn_rows = (keys <= enough(size, rows)).sum(axis=1)
        assert drawn_rows.min() >= size
        assert drawn_rows.mean() == pytest.approx(size + 6.0 * np.sqrt(size), rel=0.02)
    assert enough(10, 0) >= 1.0


def test_the_first_rows_are_seen_in_the_context_of_all_rows(rng):
    kind = rng.integers(0, 10, 900)
    columns = [
        NumberColumn(rng.normal(kind, 1.0)),
        TextColumn([f"K{k}" for k in range(10)], kind),
    ]
    table = Table(["heat", "kind"], columns, 900)
    model = Detector(by="kind")
    learning = taught(model, Header(("heat", "kind")))
    learning._state, learning._first = model._nothing()[0].in_context(table.head(200))
    [_, all_rows] = model._nothing()[0].in_context(table)[0].context
    learning.take_context(all_rows)
    expected = all_rows.left_out(table.head(200))["heat"].values
    np.testing.assert_array_equal(learning._first["heat"].values, expected)


def test_columns_without_some_rows_have_all_others(rng):
    X = rng.normal(size=(50, 3))
    table = Table.of_numbers(list("abc"), X.T)
    np.testing.assert_array_equal(matrix(table), X)
    for some in (rng.random(50) < 0.3, np.zeros(50, bool), np.ones(50, bool), np.arange(50) < 49):
        left = [column.copy() for column in numbers_without(table, some)]
        for column, x in zip(left, X.T, strict=True):
            np.testing.assert_array_equal(np.sort(column), np.sort(x[~some]))
        together = {tuple(row) for row in np.column_stack(left)}
        assert together == {tuple(row) for row in X[~some]}


class Parts:
    """A table that lies in parts."""

    def __init__(self, table, size):
        self.table, self.size = table, size

    def added_up(self, work):
        total = None
        for first in range(0, self.table.rows, self.size):
            rows = np.arange(first, min(first + self.size, self.table.rows))
            found = work(self.table.take(rows), first)
            total = found if total is None else total.plus(found)
        return total


MODELS = {
    "REF": (REF(), None, 3000),
    "REF, rate": (REF(alpha=0.05), "held-out", 300),
    "CreasedREF": (CreasedREF(alpha=0.05, n_creases=16, n_init=1000), "held-out", 300),
    "Detector": (Detector(alpha=0.05), "held-out", 300),
    "numbers": (Detector(alpha=0.05), "held-out", 300),
    "numbers, ref": (Detector(alpha=0.05, method="ref"), "held-out", 300),
    "by, ref": (Detector(by="kind", alpha=0.05, method="ref"), "held-out", 300),
    "by": (Detector(by="kind", alpha=0.05), "leave-one-out", 2700),
    "over": (Detector(over="time", alpha=0.05), "leave-one-out", None),
}


@pytest.mark.parametrize("name", MODELS)
def test_rows_that_were_held_out_set_the_threshold_unless_others_are_as_if_they_had_been(
    name, rng, monkeypatch
):
    monkeypatch.setattr(learner, "HELD_OUT", 500)
    model, source, rows = MODELS[name]
    frame = pd.DataFrame(rng.normal(size=(3000, 2)), columns=["heat", "flow"])
    table = Table.of_numbers(list(frame), frame.to_numpy().T)
    if isinstance(model, Detector) and "numbers" not in name:
        kind = rng.integers(0, 10, 3000)
        frame["kind"] = [f"K{k}" for k in kind]
        columns = [*table.columns, TextColumn([f"K{k}" for k in range(10)], kind)]
        if name == "over":
            frame["time"] = np.arange(3000.0)
            columns.append(NumberColumn(frame["time"].to_numpy()))
        table = Table(list(frame), columns, 3000)
    learn_parts(model, Parts(table, 700), Header(tuple(frame)))
    assert len(model.dropped_) == 0
    if source is None:
        assert not hasattr(model, "calibration_")
        assert model.sketch_.rows == rows
        return
    assert model.calibration_.source == source
    if rows is not None:
        assert model.calibration_.total == rows
    if source == "held-out":
        keys = drawn.draws(drawn._SEED, 0, 3000)
        out = np.flatnonzero(keys <= np.sort(keys)[299])
        distances = np.sort(-model.score_samples(frame.iloc[out]))
        np.testing.assert_allclose(distances, model.calibration_.scores, rtol=1e-9)
