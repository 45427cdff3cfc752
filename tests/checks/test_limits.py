"""Detection limits against trying every shift, on real tables."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import LocalOutlierFactor

from refold import REF, CreasedREF, Detector, limits
from refold.checks import Limit, draw_rows
from refold.judgement import Judgement
from tests.tables import real_table

MODELS = {
    "REF": lambda: REF(),
    "REF at a rate": lambda: REF(alpha=0.05),
    "REF path L2": lambda: REF(alpha=0.05, levels="all", distance="l2"),
    "REF, own distance": lambda: REF(distance=lambda y: abs(y).max(axis=1), engine="reference"),
    "REF, sketch": lambda: REF(engine="sketch", alpha=0.1),
    "CreasedREF": lambda: CreasedREF(alpha=0.05),
    "CreasedREF without a box": lambda: CreasedREF(alpha=0.05, box=0.0),
}


def one_class(load, label, columns):
    table = load(as_frame=True)
    return table.data[table.target == label].iloc[:, :columns].reset_index(drop=True)


TABLES = {
    "benign": lambda: one_class(load_breast_cancer, 1, 3),
    "wines": lambda: one_class(load_wine, 1, 4),
    "setosa": lambda: one_class(load_iris, 0, 2),
}


def by_trying(model, rows, column, sign):
    """Each row's bracket: the last shift of a fine grid that is missed, and the next."""
    shifts = np.concatenate([np.arange(1, 161) / 120, np.geomspace(1.4, 1000, 30)])
    shifts *= np.ptp(rows[column])
    moved = pd.concat([rows] * len(shifts))
    moved[column] += sign * np.repeat(shifts, len(rows))
    missed = (model.predict(moved) == 1).reshape(len(shifts), len(rows))
    last = np.where(missed.any(axis=0), len(shifts) - 1 - missed[::-1].argmax(axis=0), -1)
    ends = np.concatenate([[0.0], shifts, [np.inf]])
    return ends[np.sort(last) + 1], ends[np.sort(last) + 2]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("table", TABLES)
def test_against_trying_every_shift(name, table):
    rows = TABLES[table]()
    model = MODELS[name]().fit(rows.iloc[::2])
    new = rows.iloc[1::2].head(40)
    found, accepted, agree = limits(model, new), new[model.predict(new) == 1], []
    for limit in found:
        for way, sign in (("up", 1.0), ("down", -1.0)):
            lows, highs = by_trying(model, accepted, limit.feature, sign)
            for key, share in (("50", 0.5), ("90", 0.9)):
                at = int(np.ceil(share * len(lows) - 1e-9)) - 1
                ours = getattr(limit, f"{way}_{key}")
                agree.append(0.97 * lows[at] <= ours <= 1.03 * highs[at])
    # What is accepted again in a narrow place may be seen by one grid and not by the other.
    assert np.mean(agree) > 0.93


@pytest.mark.parametrize("name", ["REF at a rate", "CreasedREF"])
def test_what_was_kept_says_about_the_same_as_new_rows(name):
    rows = TABLES["benign"]()
    model = MODELS[name]().fit(rows.iloc[::2])
    kept, new = limits(model), limits(model, rows.iloc[1::2])
    assert kept.source != new.source
    ratios = [
        getattr(a, key) / getattr(b, key)
        for a, b in zip(kept, new, strict=True)
        for key in ("up_50", "up_90", "down_50", "down_90")
    ]
    assert 0.9 < np.median(ratios) < 1.1
    assert min(ratios) > 0.6
    assert max(ratios) < 1.6


def test_a_discrete_column_moves_by_whole_steps():
    """A third of the penguins each year: two years later two thirds are out of all years."""
    penguins = pd.read_csv(real_table("penguins.csv")).dropna().select_dtypes("number")
    found = limits(CreasedREF(alpha=0.05).fit(penguins))["year"]
    assert (found.low, found.high) == (2007, 2009)
    assert (found.up_50, found.up_90, found.down_50, found.down_90) == (2, 3, 2, 3)


def test_steps_beyond_the_last_value_are_counted_one_by_one(rng):
    """REF has no box: how many steps it takes is found by trying all."""
    X = pd.DataFrame(rng.normal(size=(400, 9)), columns=list("nabcdefgh"))
    X["n"] = rng.integers(0, 4, 400)
    model = REF(alpha=0.01, levels="all").fit(X)
    new = X.head(150)
    accepted = new[model.predict(new) == 1]
    still = [model.predict(accepted.assign(n=accepted["n"] + k)) == 1 for k in range(80)]
    needed = np.sort([1 + max(np.flatnonzero(row)) for row in np.transpose(still)])
    assert limits(model, new)["n"].up_90 == needed[int(np.ceil(0.9 * len(needed))) - 1]


def test_a_row_that_is_accepted_again_farther_off_counts_as_missed(rng):
    """Between two heaps a value stands out; on the other heap it does not."""
    X = np.where(rng.random((600, 1)) < 0.5, 0.0, 10.0) + rng.normal(0.0, 0.05, (600, 1))
    model = CreasedREF(alpha=0.02).fit(X)
    low = X[X[:, 0] < 5]
    assert (model.predict(low + 5.0) == -1).mean() > 0.9
    assert (model.predict(low + 10.0) == -1).mean() < 0.5
    found = limits(model)[0]
    assert found.up_90 > 9.9
    assert found.down_90 > 9.9


def test_gaps(rng):
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    X.loc[rng.random(300) < 0.4, "b"] = np.nan
    model = CreasedREF(alpha=0.05).fit(X)
    new = X.head(100)
    accepted = new[model.predict(new) == 1]
    found = limits(model, new)
    assert found["b"].rows == accepted["b"].notna().sum()
    assert found["a"].rows == len(accepted)
    assert 0.0 < found["b"].up_50 <= found["b"].up_90
    nothing = limits(model, new.assign(b=np.nan))["b"]
    assert (nothing.rows, nothing.up_90) == (0, None)
    text = str(limits(model, new.assign(b=np.nan)))
    assert next(line for line in text.splitlines() if line.startswith("b ")).count("no value") == 4


@pytest.mark.parametrize("make", [REF, CreasedREF])
def test_a_constant_column_has_no_range_but_limits(make, rng):
    X = np.column_stack([rng.normal(size=(300, 2)), np.full(300, 40.0)])
    found = limits(make(alpha=0.05).fit(X))["x2"]
    assert found.low == found.high == 40.0
    assert 0.0 < found.up_90 < 40.0
    assert found.relative(found.up_90) is None


def test_what_is_never_noticed_is_said():
    """A cosine brings every value back."""
    found = limits(REF(fold="cos").fit(TABLES["benign"]()))
    assert {limit.up_90 for limit in found} == {None}
    assert str(found).splitlines()[1].count("not at all") == 4
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["features"][0]["up_90"] is None
    assert np.isinf(found.to_frame()["up_90"]).all()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_as_a_frame(backend, rng):
    model = REF(alpha=0.1).fit(pd.DataFrame(rng.normal(size=(200, 2)), columns=["x [mm]", "y"]))
    found = limits(model)
    frame = found.to_frame(backend)
    columns = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert columns == ["feature", "low", "high", "up_50", "up_90", "down_50", "down_90", "rows"]
    assert list(map(str, frame["feature"])) == ["x [mm]", "y"]
    assert float(frame["up_90"][1]) == found["y"].up_90


def test_words_and_units(rng):
    model = REF(alpha=0.1).fit(pd.DataFrame(rng.normal(size=(200, 2)), columns=["x [mm]", "y\x1b"]))
    found = limits(model)
    head, first, second, note = str(found).splitlines()
    heads = ["column", "unit", "learned", "up 50 %", "up 90 %", "down 50 %", "down 90 %"]
    assert head.split() == " ".join(heads).split()
    assert first.split()[:2] == ["x", "mm"]
    assert second.startswith(r"y\u001b")
    assert "10 % false alarms" in note
    one = found.to_dict()["features"][0]
    assert (one["name"], one["unit"]) == ("x", "mm")
    assert one["up_50_relative"] == pytest.approx(one["up_50"] / (one["high"] - one["low"]))
    with pytest.raises(KeyError, match="no column 'z'"):
        found["z"]


def test_every_way_to_hand_rows_over(rng):
    X = pd.DataFrame(rng.normal(size=(3000, 2)), columns=["a", "b"])
    model = CreasedREF(alpha=0.05).fit(X.head(300))
    found = limits(model, X)
    assert limits(model, Judgement.of(model, X)) == found
    assert limits(pickle.loads(pickle.dumps(model)), X) == found
    assert limits(model) != found
    assert limits(model).source == "kept by the model"


def test_rows_are_drawn_from_all_blocks_alike():
    blocks = [np.full((n, 1), float(n)) for n in (500, 4000, 1500)]
    rows = draw_rows(iter(blocks)).ravel()
    shares = [np.mean(rows == n) for n in (500, 4000, 1500)]
    np.testing.assert_allclose(shares, np.array([500, 4000, 1500]) / 6000, atol=0.04)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e300])
def test_any_unit(scale):
    rows = TABLES["setosa"]()
    for make in (REF, CreasedREF):
        here, there = (limits(make(alpha=0.1).fit(rows * s)) for s in (1.0, scale))
        for one, other in zip(here, there, strict=True):
            assert other.up_90 / scale == pytest.approx(one.up_90, rel=0.05)


def test_refusals(rng):
    X = rng.normal(size=(100, 2))
    with pytest.raises(NotFittedError):
        limits(REF())
    with pytest.raises(TypeError, match="one of refold's own"):
        limits(LocalOutlierFactor(novelty=True).fit(X))
    with pytest.raises(ValueError, match="accepts none of the rows"):
        limits(REF().fit(X), X + 100.0)
    with pytest.raises(ValueError, match="no rows"):
        draw_rows([])


def cars(rows, seed):
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2026-03-02") + pd.to_timedelta(rng.integers(0, 200, rows), "D")
    return pd.DataFrame(
        {
            "brand": rng.choice(["Ford", "Opel", "Fiat"], rows),
            "power": rng.normal(100.0, 10.0, rows).round(1),
            "sold": days.strftime("%Y-%m-%d"),
            "plate": [f"K-{k:04d}" for k in rng.integers(0, 9999, rows)],
        }
    )


def test_wrong_cells_of_other_columns_are_noticed_as_often_as_predict_says():
    model, new = Detector().fit(cars(500, 0)), cars(150, 1)
    found = {(each.feature, each.change): each for each in limits(model, new).changes}
    normal = new[model.predict(new) == 1]
    later = pd.to_datetime(normal["sold"]) + pd.Timedelta(days=365)
    for key, changed in {
        ("brand", "a missing value"): normal.assign(brand=None),
        ("plate", "a missing value"): normal.assign(plate=None),
        ("sold", "a missing value"): normal.assign(sold=None),
        ("sold", "a year later"): normal.assign(sold=later.dt.strftime("%Y-%m-%d")),
    }.items():
        assert found[key].rows == len(normal)
        assert found[key].noticed == np.mean(model.predict(changed) == -1), key
    typo = found["brand", "a typo"]
    assert typo.noticed == 1.0
    wrong = typo.example.split("'")[1]
    assert (model.predict(normal.assign(brand=wrong)) == -1).all()
    assert found["brand", "another of its values"].noticed < 0.1
    text = str(limits(model, new))
    assert f"brand (category): noticed is a typo ({typo.example}) in 100 % of rows" in text


def test_a_table_without_numbers_has_changes_and_no_shifts():
    model = Detector().fit(cars(300, 0)[["brand", "plate"]])
    found = limits(model)
    assert len(found) == 0
    assert {each.feature for each in found.changes} == {"brand", "plate"}
    assert "The shift" not in str(found)
    assert json.loads(json.dumps(found.to_dict()))["changes"][0]["change"] == "a typo"


def test_a_shift_of_next_to_nothing_is_any():
    limit = Limit("x", 1.0, 3.0, 1.9e-6, 1.0, None, 0.5, 100)
    assert [limit.shown(getattr(limit, s)) for s in ("up_50", "up_90", "down_50", "down_90")] == [
        *("any", "1 (50 %)", "not at all", "0.5 (25 %)")
    ]
