"""Which rows of a table are left out of training, and when that is decided."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.columns.encoding.state import TableState
from refold.models.detector.trim import of_rows, plus_rows

ENOUGH = 60


@pytest.fixture
def table(rng):
    """Rows of which every tenth is far out, each in its own direction."""
    values = rng.normal(size=(ENOUGH, 3))
    values[::10] += 30.0 * rng.choice([-1.0, 1.0], size=(6, 3))
    kinds = np.resize(["a", "b", "b"], ENOUGH)
    return Detector()._begin(pd.DataFrame(values, columns=list("xyz")).assign(kind=kinds))


def nothing():
    return TableState({}, ENOUGH)


@pytest.mark.parametrize("parts", [[60], [59, 1], [1, 59], [20, 20, 20]])
def test_the_cut_is_set_when_there_are_enough_rows(parts, table):
    state, cut, _ = of_rows(nothing(), table, trim=0.1, n_jobs=1)
    grown, none, begin = nothing(), None, 0
    for number in parts:
        assert none is None
        assert grown.counts is None
        some = table.take(np.arange(begin, begin + number))
        grown, none = plus_rows(grown, none, some, trim=0.1, n_jobs=1)
        begin += number
    assert grown.waiting == ()
    assert grown.counts.rows == state.counts.rows == 54
    assert none.cut == cut.cut
    assert (cut.cut.seen, cut.cut.left_out) == (60.0, 6.0)
    np.testing.assert_array_equal(none.dropped(table), cut.dropped(table))
    assert sorted(cut.dropped(table).tolist()) == [*range(0, 60, 10)]


def test_later_rows_are_counted_and_do_not_move_the_cut(table):
    state, cut, _ = of_rows(nothing(), table, trim=0.1, n_jobs=1)
    more, same = plus_rows(state, cut, table, trim=0.1, n_jobs=1)
    assert same.cut.limit == cut.cut.limit
    assert more.counts.rows == 2 * state.counts.rows
    np.testing.assert_array_equal(same.beyond(table), cut.beyond(table))


def test_a_cut_cannot_be_set_after_the_first_rows(table):
    state, cut, _ = of_rows(nothing(), table, trim=0.0, n_jobs=1)
    assert cut is None
    assert state.counts.rows == ENOUGH
    assert plus_rows(state, None, table, trim=0.0)[0].counts.rows == 2 * ENOUGH
    with pytest.raises(ValueError, match=r"trim=0\.1 was not set when the first rows were learned"):
        plus_rows(state, None, table, trim=0.1)


def fleet(rows, seed, far=0.0):
    """Numbers around the place of a machine; some rows are of one far from the others."""
    rng = np.random.default_rng(seed)
    machine = np.where(rng.random(rows) < far, 60, rng.integers(0, 20, rows))
    numbers = machine[:, None] + 0.5 * rng.normal(size=(rows, 3))
    return pd.DataFrame(numbers, columns=list("xyz")).assign(machine=[f"M{k}" for k in machine])


def rare(rows, seed):
    """Numbers that are never below zero, but for rows that look least like the rest."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.exponential(size=(rows, 3)), columns=list("xyz"))
    table.loc[rng.random(rows) < 0.03, ["x", "y", "z"]] = -50.0
    return table.assign(kind=rng.choice(["a", "b"], rows))


def gappy(rows, seed):
    """One column has no value in rows that look least like the rest."""
    table = rare(rows, seed)
    return table.assign(w=np.where(table["x"] < 0.0, np.nan, 1.0 - table["y"]))


TABLES = {
    "pairs of values": fleet,
    "a value": lambda rows, seed: fleet(rows, seed, far=0.03),
    "a sign": rare,
    "a gap": gappy,
}
RULES = {"x": {"max": 1000.0}}


@pytest.mark.parametrize("method", ["creased", "ref"])
@pytest.mark.parametrize(
    ("kind", "rules"), [*((kind, None) for kind in TABLES), ("pairs of values", RULES)]
)
def test_what_many_rows_left_out_have_is_not_novel(kind, method, rules, tmp_path):
    table, new = TABLES[kind](1_000, seed=0), TABLES[kind](2_000, seed=1)
    model = Detector(method=method, rules=rules, alpha=0.01, trim=0.1).fit(table)
    assert (model.predict(new) == -1).mean() < 0.025
    assert (model.p_values(new) <= 0.05).mean() < 0.08
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(
        Detector.load(tmp_path / "model.json").score_samples(new), model.score_samples(new)
    )


def test_of_all_columns_only_those_with_much_novelties_are_open():
    table = fleet(1_500, seed=0, far=0.03).assign(kind=np.resize(["a", "b", "c"], 1_500))
    model = Detector(alpha=0.01, trim=0.1).fit(table)
    row = table.head(1)
    assert model.predict(row.assign(kind=["z"])) == [-1]
    assert model.explain(row.assign(kind=["z"]))[0].reasons[0].feature == "kind"
    assert -model.score_samples(row.assign(kind=["z"]))[0] > model.scorer().certain
    assert -model.score_samples(row.assign(machine=["M99"]))[0] < model.scorer().certain


@pytest.mark.parametrize("method", ["creased", "ref"])
def test_what_few_rows_left_out_have_is_novel_and_moves_no_threshold(method, rng):
    table = pd.DataFrame(rng.normal(size=(1_000, 3)), columns=list("xyz"))
    table["kind"] = rng.choice(["a", "b"], 1_000)
    clean = Detector(method=method, alpha=0.005, trim=0.1).fit(table)
    table.loc[[3, 4, 5], ["x", "kind"]] = 3.0, "c"
    model = Detector(method=method, alpha=0.005, trim=0.1).fit(table)
    assert {3, 4, 5} <= set(model.dropped_.tolist())
    assert (model.predict(table.head(10).assign(kind="c")) == -1).all()
    assert model.threshold_ < 5.0 * clean.threshold_
    assert model.calibration_.total == 1_000
