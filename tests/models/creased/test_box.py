"""CreasedREF's box: faults in one column, absurd cells, streams, sites and files."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import refold
from refold import CreasedREF
from tests.tables import real_table


@pytest.fixture
def mixed(table, rng):
    """Continuous and discrete columns, and a gap here and there."""
    X = np.column_stack([table, rng.integers(4, size=300), np.full(300, 7.0)])
    X[::17, 1] = np.nan
    return X


def test_a_fault_in_one_of_thirty_columns_is_caught(rng):
    X = rng.normal(size=(900, 30))
    model = CreasedREF(alpha=0.05).fit(X[:500])
    blind = CreasedREF(alpha=0.05, box=0.0).fit(X[:500])
    new = X[500:].copy()
    new[:, 11] = X[:500, 11].max() + 0.25 * np.ptp(X[:500, 11])
    assert (model.predict(X[500:]) == -1).mean() < 0.09
    assert (model.predict(new) == -1).mean() > 0.95 > (blind.predict(new) == -1).mean()


def test_rows_in_chunks_make_the_same_model(mixed, new):
    rows = np.column_stack([new, np.tile([1.0, 7.0], (60, 1))])
    whole = CreasedREF(n_creases=30, n_init=100).fit(mixed)
    parts = CreasedREF(n_creases=30, n_init=100)
    for begin in range(0, 300, 70):
        parts.partial_fit(mixed[begin : begin + 70])
    np.testing.assert_allclose(parts.score_samples(rows), whole.score_samples(rows), rtol=1e-9)


def test_sites_add_up_to_one_box(mixed):
    first = CreasedREF(n_creases=30, n_init=100).fit(mixed[:100])
    second = first.empty_like().partial_fit(mixed[100:])
    merged = refold.merge(first, second)
    whole = first.empty_like().partial_fit(mixed)
    ours, theirs = merged.summary_.box, whole.summary_.box
    for name in ("low", "high", "unit", "middle"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_array_equal(ours.levels[4], [0, 1, 2, 3])


def test_an_absurd_cell_is_named_and_not_taken_as_normal(table):
    data = pd.DataFrame(table, columns=["flow", "load", "heat", "speed"])
    data.loc[123, "heat"] = 9999.0
    with pytest.warns(refold.RateWarning, match="heat 9999 in row 123 is far") as caught:
        model = CreasedREF(alpha=0.05).fit(data)
    assert caught[0].filename == __file__  # the line that called fit
    (finding,) = [f for f in model.noticed_ if f.kind == "absurd-cell"]
    assert (finding.column, finding.rows, finding.values) == ("heat", (123,), (9999.0,))
    between = data.iloc[:100].assign(heat=50.0)
    assert (model.predict(between) == -1).all()
    # After a merge the number of the row would be that of another table.
    again = refold.merge(model, model.empty_like().partial_fit(data.iloc[:50]))
    assert again.noticed_[0].rows == ()


def test_without_a_box_the_cell_is_named_but_learned(table):
    table[5, 0] = 1e6
    with pytest.warns(refold.RateWarning, match="everything passes as normal"):
        model = CreasedREF(n_creases=30, box=0.0).fit(table)
    assert model.noticed_[0].kind == "absurd-cell"


def test_a_wind_of_120_is_caught_although_one_of_1048_was_learned():
    data = pd.read_csv(real_table("weather-ewr.csv.gz")).select_dtypes("number")
    data = data.drop(columns="wind_gust").dropna().reset_index(drop=True)
    wild = int(data.wind_speed.idxmax())
    others = np.random.default_rng(0).permutation(np.delete(np.arange(len(data)), wild))
    train = data.loc[[*others[:3000], wild, *others[3000:7499]]].reset_index(drop=True)
    with pytest.warns(refold.RateWarning, match="wind_speed 1048.36 in row 3,000 is far from all"):
        model = CreasedREF(alpha=0.01).fit(train)
    new = data.loc[others[7499:]]
    assert (model.predict(new) == -1).mean() < 0.02
    assert (model.predict(new.assign(wind_speed=120.0)) == -1).all()


def test_a_model_with_gaps_levels_and_cut_off_cells_comes_back_with_every_bit(mixed, tmp_path):
    mixed[9, 2] = -1e5
    model = CreasedREF(n_creases=30).fit(mixed)
    refold.save(model, tmp_path / "model.json")
    again = refold.load(tmp_path / "model.json")
    rows = np.vstack([mixed, mixed + 0.01, mixed * 3])
    np.testing.assert_array_equal(again.score_samples(rows), model.score_samples(rows))
    assert again.noticed_ == model.noticed_
    more = mixed[:50] + 0.5
    np.testing.assert_array_equal(
        again.partial_fit(more).score_samples(rows), model.partial_fit(more).score_samples(rows)
    )


def test_a_missing_value_is_in_no_box(mixed):
    model = CreasedREF(n_creases=30).fit(mixed)
    row = mixed[[1]] + 0.001
    row[0, 4:] = [1.0, np.nan]
    np.testing.assert_array_equal(model.scoring_.outside(row), np.zeros((1, 6)))


def test_too_few_rows_for_a_fault_to_be_caught_are_said():
    wines, benign = load_wine(), load_breast_cancer()
    few, many = wines.data[wines.target == 0][:35], benign.data[benign.target == 1]
    with pytest.warns(refold.RateWarning, match="rests on the 2 largest of 35 left-out rows"):
        model = CreasedREF(alpha=0.05).fit(few)
    assert "too-few-rows" in {finding.kind for finding in model.noticed_}
    enough = CreasedREF(alpha=0.05).fit(many)
    assert "too-few-rows" not in {finding.kind for finding in enough.noticed_}


def test_no_bit_depends_on_how_rows_lie_in_memory(rng):
    X = rng.normal(size=(400, 23))
    model = CreasedREF(n_creases=30).fit(X)
    far = 5 * rng.normal(size=(300, 23))
    np.testing.assert_array_equal(
        model.score_samples(np.asfortranarray(far)), model.score_samples(far)
    )
    np.testing.assert_array_equal(model.score_samples(far[7:8]), model.score_samples(far)[7:8])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_value_of_a_new_sign_is_an_outlier_however_near(rng, tmp_path, sign):
    X = np.column_stack([rng.normal(size=700), sign * rng.exponential(size=700)])
    model = CreasedREF(alpha=0.01).fit(X[:400])
    flipped = X[400:] * [1.0, -1.0]
    assert (model.predict(flipped) == -1).all()
    assert (model.predict(X[400:]) == -1).mean() < 0.03
    assert model.predict([[0.0, 0.0]])[0] == 1
    found = model.scorer().attribution(flipped[:20])
    assert (found.parts.argmax(axis=1) == 1).all()
    refold.save(model, tmp_path / "model.json")
    again = refold.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.score_samples(flipped), model.score_samples(flipped))


def test_a_new_sign_is_learned_from_rows_that_have_it(rng):
    X = np.column_stack([rng.normal(size=400), rng.exponential(size=400)])
    model = CreasedREF(alpha=0.01, n_init=100).fit(X)
    assert model.predict([[0.0, -0.1]])[0] == -1
    model.partial_fit(np.column_stack([np.zeros(30), np.linspace(-0.2, -0.01, 30)]))
    assert model.predict([[0.0, -0.1]])[0] == 1
