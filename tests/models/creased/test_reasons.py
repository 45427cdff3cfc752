"""Reasons: what was expected in place of each value, and what difference that makes."""

import numpy as np
import pandas as pd
import pytest

from refold import CreasedREF, Detector
from refold.algorithm import kernels
from refold.models.creased.reasons import _replace_categories


@pytest.fixture
def model(table):
    return CreasedREF(n_creases=40).fit(table)


def test_what_is_expected_is_a_ridge_regression_on_the_other_columns(table, new):
    model = CreasedREF(n_creases=40, box=0.0).fit(table)
    expected = model._reasons(new).expected
    mu, sigma = table.mean(axis=0), table.std(axis=0, ddof=1)
    Z, Z_new = (table - mu) / sigma, (new - mu) / sigma
    for d in range(4):
        others = [k for k in range(4) if k != d]
        A = Z[:, others].T @ Z[:, others] + 0.01 * np.eye(3)
        beta = np.linalg.solve(A, Z[:, others].T @ Z[:, d])
        np.testing.assert_allclose(expected[:, d], mu[d] + sigma[d] * (Z_new[:, others] @ beta))


def test_the_drop_is_what_replacing_the_value_saves(model, new):
    reasons = model._reasons(new)
    before = -model.score_samples(new)
    for d in range(4):
        replaced = new.copy()
        replaced[:, d] = reasons.expected[:, d]
        after = -model.score_samples(replaced)
        np.testing.assert_allclose(reasons.drop[:, d], before - after, rtol=1e-6, atol=1e-7)


def test_what_is_expected_lies_within_what_was_learned(model, table, new):
    expected = model._reasons(new * 3).expected
    assert (expected >= table.min(axis=0)).all()
    assert (expected <= table.max(axis=0)).all()
    linear = CreasedREF(n_creases=40, box=0.0).fit(table)._reasons(new * 3).expected
    np.testing.assert_allclose(expected, np.clip(linear, table.min(axis=0), table.max(axis=0)))


def test_a_value_outside_of_all_that_was_learned_has_a_part_of_its_own(model, table):
    row = np.median(table, axis=0)[None]
    row[0, 2] = table[:, 2].max() + 2 * model.summary_.box.unit[2]
    reasons = model._reasons(row)
    alone = 10 * 2.0**2 / model.scoring_.unit
    np.testing.assert_allclose(reasons.alone, [[0.0, 0.0, alone, 0.0]], atol=1e-9)
    assert (reasons.drop[0, 2] - alone) > 0
    assert reasons.drop[0].argmax() == 2


@pytest.mark.parametrize("quarters", [False, True])
def test_rows_that_were_learned_are_explained_as_if_left_out(quarters, table, request, monkeypatch):
    if quarters:  # the same with and without a row
        request.getfixturevalue("few_are_many")
        order = np.random.default_rng(0).permutation(80)
        monkeypatch.setattr(kernels.Scatter, "pivots", lambda *_: order)
    model = CreasedREF(n_creases=40).fit(table)
    np.testing.assert_allclose(
        model._reasons(table[:50]).distance, -model.score_samples(table[:50]), rtol=1e-12
    )
    # A model without the row, of the same creases, says the same up to the unit.
    for i in np.argsort(model.score_samples(table))[5:8]:
        rest = model.empty_like().partial_fit(np.delete(table, i, axis=0))
        with_it, without = model._reasons(table[[i]]), rest._reasons(table[[i]])
        inside = with_it.alone[0] + without.alone[0] == 0
        ratio = (with_it.drop / without.drop)[0, inside]
        np.testing.assert_allclose(ratio, ratio.mean(), rtol=0.02)


def test_a_missing_value_is_no_reason_and_a_changed_constant_is_one(table):
    X = np.column_stack([table, np.full(300, 8.0)])
    model = CreasedREF(n_creases=40).fit(X)
    rows = X[:2] + 0.01 * (np.arange(5) < 4)
    whole = rows.copy()
    rows[0, 1], rows[1, 4] = np.nan, 9.0
    reasons = model._reasons(rows)
    np.testing.assert_allclose(reasons.drop[0, 1], 0.0, atol=1e-9)
    np.testing.assert_allclose(reasons.drop[0, 4], 0.0, atol=1e-12)
    saved = -model.score_samples(rows)[1] + model.score_samples(whole[1:2])[0]
    np.testing.assert_allclose(reasons.drop[1, 4], saved, rtol=1e-6)
    assert (reasons.drop[1].argmax(), reasons.expected[1, 4]) == (4, 8.0)


def test_a_missing_value_is_never_a_reason_wherever_it_is_expected(model, new):
    rows = new * 4  # far out: what is expected leaves what was learned
    rows[:, 1] = np.nan
    np.testing.assert_array_equal(model._reasons(rows).drop[:, 1], 0.0)


def test_the_column_that_was_changed_comes_first_in_words(table):
    names = ["flow", "load", "heat", "speed"]
    model = CreasedREF(n_creases=40).fit(pd.DataFrame(table, columns=names))
    row = table[:1].copy()
    row[0, 3] += 15.0
    reasons = model._reasons(pd.DataFrame(row, columns=names))
    first = model.explain(pd.DataFrame(row, columns=names))[0].reasons[0]
    assert (first.feature, first.value) == ("speed", row[0, 3])
    assert abs(reasons.expected[0, 3] - table[0, 3]) < 3.0


def test_one_column_alone_is_expected_at_its_mean(rng):
    X = rng.normal(size=(50, 1)) + 3.0
    reasons = CreasedREF(n_creases=10).fit(X)._reasons([[9.0]])
    np.testing.assert_allclose(reasons.expected, X.mean())
    assert reasons.drop[0, 0] > 0


def expected_of(covariance, some, others, Z):
    """What others let expect of some columns, if all are normally distributed together."""
    known = np.linalg.inv(covariance[np.ix_(others, others)])
    return Z[:, others] @ (covariance[np.ix_(some, others)] @ known).T


def test_a_category_is_replaced_by_the_value_that_the_other_columns_make_likeliest(rng):
    kind, size = rng.choice(4, 400, p=[0.4, 0.3, 0.2, 0.1]), rng.choice(3, 400)
    number = kind + 0.7 * rng.normal(size=400)
    frame = pd.DataFrame({"kind": np.array(list("abcd"))[kind], "number": number})
    frame["size"], frame["other"] = np.array(list("SML"))[size], size - number
    scorer = Detector(n_jobs=1).fit(frame).scorer()
    inside, new = scorer.inside, frame.sample(60, random_state=0)
    new["number"] = rng.permutation(new["number"])
    rows = scorer.unpack(Detector(n_jobs=1).fit(frame)._learned.encoded(new)[0])[0]
    rows[5, np.flatnonzero(scorer.leading == 0)] = np.nan
    creases, leading = inside.scoring.creases, scorer.leading
    Z = creases.standardized(np.ascontiguousarray(rows))[0]
    replaced = np.full(Z.shape, 99.0)
    _replace_categories(inside.scoring, rows, Z, replaced, leading)
    covariance = np.linalg.inv(creases.expected.precision)
    at, expected = np.flatnonzero(creases.varying), np.full(Z.shape, 99.0)
    values = set()
    for column in (0, 2):
        of_column = np.append(leading == column, np.arange(4) == column)[at]
        *shown, magnitude = np.flatnonzero(of_column)
        others = np.flatnonzero(~of_column)
        center, scale = creases.center[at[shown]], creases.scale[at[shown]]
        shares = center + scale * expected_of(covariance, shown, others, Z)
        likeliest = np.column_stack([shares, 1.0 - shares.sum(axis=1)]).argmax(axis=1)
        values |= {(column, value) for value in likeliest.tolist()}
        chosen = (np.eye(len(shown) + 1)[likeliest][:, :-1] - center) / scale
        instead = Z.copy()
        instead[:, shown] = chosen
        usual = expected_of(covariance, [magnitude], [*others, *shown], instead)
        there = ~np.isnan(rows[:, at[shown]]).any(axis=1)
        expected[np.ix_(there, [*shown, magnitude])] = np.column_stack([chosen, usual])[there]
    assert len(values) > 4
    np.testing.assert_allclose(replaced, expected, rtol=1e-6, atol=1e-8)


def test_categories_that_are_all_as_frequent_are_explained_too(rng):
    frame = pd.DataFrame({"kind": np.tile(list("abcd"), 100), "number": rng.normal(size=400)})
    model = Detector(n_jobs=1).fit(frame)
    assert not model.scorer().inside.scoring.creases.varying.all()  # they surprise all the same
    found = model.explain(pd.DataFrame({"kind": ["z", "a"], "number": [0.0, 99.0]}))
    assert [each.reasons[0].feature for each in found] == ["kind", "number"]
