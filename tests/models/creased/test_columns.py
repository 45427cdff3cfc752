"""Missing values, constant and discrete columns, and input that cannot be used."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from refold import REF, CreasedREF
from refold.models.creased.drawing import MOST_COLUMNS


def small(**options):
    return CreasedREF(n_creases=20, **options)


def test_a_missing_value_is_what_the_observed_ones_lead_to_expect(table, new):
    model = small().fit(table)
    Z = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    C = Z.T @ Z + 0.01 * np.eye(4)  # with the ridge
    holes, filled = new.copy(), (new - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    for row, missing in ((0, [1]), (1, [0, 3]), (2, [0, 1, 2]), (3, [1])):
        holes[row, missing] = np.nan
        seen = [d for d in range(4) if d not in missing]
        filled[row, missing] = C[np.ix_(missing, seen)] @ np.linalg.solve(
            C[np.ix_(seen, seen)], filled[row, seen]
        )
    whole = filled * table.std(axis=0, ddof=1) + table.mean(axis=0)
    np.testing.assert_allclose(model.score_samples(holes), model.score_samples(whole), rtol=1e-8)


def test_gaps_in_training_cost_little(table, new, rng):
    holes = table.copy()
    holes[rng.random(table.shape) < 0.1] = np.nan
    a, b = small().fit(table), small().fit(holes)
    center = np.nanmean(holes, axis=0)
    np.testing.assert_allclose(b.creases_.center, center, rtol=1e-12)
    np.testing.assert_allclose(b.creases_.scale, np.nanstd(holes, axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_array_equal(b.summary_.missing, np.isnan(holes).sum(axis=0))
    np.testing.assert_allclose(
        b.creases_.expected.deviations((table - center) / b.creases_.scale),
        a.creases_.expected.deviations((table - center) / a.creases_.scale),
        atol=0.6,
    )
    assert (b.predict(new) == a.predict(new)).mean() > 0.8


def test_columns_never_observed_together_still_give_a_model(rng):
    X = rng.normal(size=(90, 3))
    X[:30, 0] = X[30:60, 1] = X[60:, 2] = np.nan
    X[60:, 1] = X[60:, 0]
    model = small().fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.score_samples([[1.0, np.nan, np.nan]])).all()


def test_training_rows_with_nothing_observed_count_for_nothing(table, new):
    holes = np.insert(table, [0, 150, 300], np.nan, axis=0)
    for learn in ("fit", "partial_fit"):
        model = getattr(small(), learn)(holes)
        assert model.sums_.weight == 300
        np.testing.assert_allclose(
            model.score_samples(new), small().fit(table).score_samples(new), rtol=1e-9
        )


def test_with_very_many_columns_a_missing_value_is_the_mean(rng):
    X = rng.normal(size=(30, MOST_COLUMNS + 1)) + 5.0
    model = small().fit(X)
    holes, means = X[:3].copy(), X[:3].copy()
    holes[:, 7], means[:, 7] = np.nan, X[:, 7].mean()
    np.testing.assert_allclose(model.score_samples(holes), model.score_samples(means), rtol=1e-9)


def test_a_constant_column_changes_nothing_until_it_changes(table, new):
    def with_constants(X):
        return np.insert(X, [0, 2], [7.0, 0.0], axis=1)

    plain, model = small().fit(table), small().fit(with_constants(table))
    np.testing.assert_allclose(
        model.score_samples(with_constants(new)), plain.score_samples(new), rtol=1e-9
    )
    rows = with_constants(new[:3])
    rows[1, 0], rows[2, 3] = 7.01, 0.02  # 10/7 and 20 units of a thousandth
    added = -model.score_samples(rows) + plain.score_samples(new[:3])
    excess = np.array([0.0, 10 / 7, 3.0])
    np.testing.assert_allclose(added, 10.0 * excess**2 / model.scoring_.unit, atol=1e-9)
    assert model.predict(rows).tolist()[1:] == [-1, -1]
    rows[:, [0, 3]] = np.nan
    np.testing.assert_allclose(model.score_samples(rows), plain.score_samples(new[:3]), rtol=1e-9)


def test_without_a_box_a_changed_constant_counts_as_in_ref(table, new):
    rows = np.insert(new[:2], 2, 7.0, axis=1)
    plain = small(box=0.0).fit(table)
    with_constant = np.insert(table, 2, 7.0, axis=1)
    model = small(box=0.0).fit(with_constant)
    rows[1, 2] = 7.1
    magnitude = REF(n_iter=1).fit(with_constant).contributions(rows)[1, 2]
    added = -model.score_samples(rows) + plain.score_samples(new[:2])
    expected = np.array([0.0, magnitude**2 / 0.01]) / model.scoring_.unit
    np.testing.assert_allclose(added, expected, rtol=1e-6, atol=1e-9)


def test_a_column_that_begins_to_vary_after_the_first_rows_is_learned(table):
    late = np.column_stack([table, np.zeros(300)])
    late[100::2, 4] = 1.0
    model = small(n_init=100).fit(late)
    assert model.creases_.varying.tolist() == [True] * 4 + [False]
    assert (model.predict(late) == 1).mean() > 0.85


@pytest.mark.parametrize("value", [0.0, 5.0, -1e300, 1e-299])
def test_a_table_of_constants_accepts_only_them(value):
    model = CreasedREF().fit(np.full((20, 2), value))
    other = value * 1.5 if value else 0.1
    assert model.predict([[value, value], [other, value]]).tolist() == [1, -1]


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_rows_that_are_nearly_all_the_same_give_a_model(learn):
    X = np.zeros((200, 3))
    X[17] = [1.0, 0.0, 2.0]
    X[180, 1] = 1.0
    model = getattr(small(), learn)(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert model.predict([[0.0, 0.0, 0.0], [3.0, 3.0, 3.0]]).tolist() == [1, -1]


@pytest.mark.parametrize("n_distinct", [2, 3])
def test_discrete_columns_give_the_same_scores_in_any_order(n_distinct, rng):
    X = rng.integers(n_distinct, size=(200, 4)).astype(float)
    X[:, 3] = X[:, 0]
    a, b = small().fit(X), small().fit(X[::-1])
    np.testing.assert_allclose(a.score_samples(X), b.score_samples(X), rtol=1e-7)
    assert small().fit(X[:, :1]).predict([[0.0], [1.0], [40.0]]).tolist() == [1, 1, -1]


@pytest.mark.parametrize("scale", [1.7e308, 1e300, 1e-300, 1e-310, 5e-324])
def test_no_magnitude_of_values_gives_nan_or_infinity(scale):
    train = np.tile([[-1.0], [0.5], [1.0], [0.3], [np.nan]], (4, 2)) * scale
    train[:, 1] = train[::-1, 1]
    model = small().fit(train)
    far = [0.0, scale, -1.79e308, 1.79e308, 1e-300, 5e-324]
    new = np.array([[x, y] for x in far for y in far])
    assert np.isfinite(model.score_samples(new)).all()
    reasons = model._reasons(new)
    assert np.isfinite(reasons.expected).all()
    assert np.isfinite(reasons.drop).all()


def test_units_do_not_matter(table, new):
    model = small().fit(table)
    plain = model.score_samples(new)
    scaled = small().fit(table * 2.0**900).score_samples(new * 2.0**900)
    np.testing.assert_array_equal(scaled, plain)
    shifted = small().fit(table * 3.0 - 1e4).score_samples(new * 3.0 - 1e4)
    same = ~model.scoring_.box.beyond_zero(new).any(axis=1)  # where zero lies does matter
    assert same.sum() > 30
    np.testing.assert_allclose(shifted[same], plain[same], rtol=1e-6)


def test_a_wild_row_among_those_learned_does_not_drown_the_others(table, new):
    model = small(n_init=250).partial_fit(table)
    before = model.score_samples(new)
    model.partial_fit([[1e300, -1e300, 1e200, 0.0]])
    assert np.isfinite(model.score_samples(new)).all()
    assert (model.predict(table) == 1).mean() > 0.85
    assert np.corrcoef(np.log(-model.score_samples(new)), np.log(-before))[0, 1] > 0.9


@pytest.mark.parametrize("ridge", [1e-300, 1e-9, 1e9])
def test_any_ridge_gives_a_model(ridge, table):
    X = np.column_stack([table, table[:, 0] + table[:, 1]])
    model = small(ridge=ridge).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert (model.predict(X) == 1).mean() > 0.85


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.ones(4), "Expected 2D array, got 1D"),
        ([[1.0, "high"], [2.0, "low"]], r"row 0, column 'x1' holds 'high', not a number"),
        ([[1.0, 2.0], [3.0, np.inf]], r"infinity: row 1, column 'x1'"),
        (np.array([[1j], [2j]]), "Complex data not supported"),
    ],
)
def test_unusable_tables_are_refused(learn, X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(CreasedREF(), learn)(X)


def test_too_few_rows_and_empty_columns_are_refused_when_they_matter(table):
    with pytest.raises(ValueError, match="at least 2 rows"):
        small().fit(table[:1])
    with pytest.raises(ValueError, match=r"alpha.0\.1 needs at least 9 rows.*there are 8"):
        small(alpha=0.1).fit(table[:8])
    empty = table[:20].copy()
    empty[:, 2] = np.nan
    with pytest.raises(ValueError, match="Nothing is observed in column 'x2'"):
        small().fit(empty)
    waiting = small().partial_fit(table[:1])
    with pytest.raises(ValueError, match="at least 2 rows"):
        waiting.predict(table)
    assert waiting.partial_fit(table[1:]).predict(table).shape == (300,)
    single = np.where(np.eye(20, 2)[:, ::-1] > 0, table[:20, :2], [1.0, np.nan])
    with pytest.warns(UserWarning, match="x1 has a value in one of 20 rows"):
        small().fit(single)
    single[1, 1] = 2.0
    with pytest.raises(ValueError, match=r"observed in column 'x1' sum to 1 or less"):
        small().fit(single, sample_weight=np.full(20, 0.4))


@pytest.mark.parametrize("method", ["predict", "score_samples", "p_values", "_reasons"])
def test_rows_that_cannot_be_judged_are_named(method, table):
    import pandas as pd

    model = small().fit(table)
    table[223] = np.nan
    with pytest.raises(ValueError, match="Nothing is observed in row 223"):
        getattr(model, method)(table)
    table[150, 2] = -np.inf
    with pytest.raises(ValueError, match="infinity: row 150, column 'x2'"):
        getattr(model, method)(table)
    named = pd.DataFrame(table, columns=list("abcd"))
    model.fit(named[:100])
    with pytest.raises(ValueError, match="infinity: row 150, column 'c'"):
        getattr(model, method)(named)


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_failed_learning_leaves_the_model_as_it_was(learn, table, new):
    model = small().fit(table).calibrate(new, alpha=0.4)
    scores, threshold = model.score_samples(new), model.threshold_
    bad = table[:, : 4 if learn == "partial_fit" else 3].copy()
    bad[200, 1] = np.inf
    with pytest.raises(ValueError, match="infinity: row 200, column 'x1'"):
        getattr(model, learn)(bad)
    np.testing.assert_array_equal(model.score_samples(new), scores)
    assert model.threshold_ == threshold
    assert model.n_features_in_ == 4


def test_wrong_width_and_missing_fit_are_said(table):
    for method in ("predict", "_reasons", "empty_like"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(CreasedREF(), method)(*[table][: method != "empty_like"])
    with pytest.raises(ValueError, match="2 features, but CreasedREF is expecting 4"):
        small().fit(table).predict(table[:, :2])


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_creases": 0},
        {"n_levels": 0},
        {"ridge": 0.0},
        {"ridge": np.inf},
        {"alpha": 0.0},
        {"alpha": 1.0},
        {"n_init": 1},
        {"random_state": "seed"},
        {"n_jobs": 0},
    ],
)
def test_unusable_parameters_are_named(parameters, table):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        CreasedREF(**parameters).fit(table)
