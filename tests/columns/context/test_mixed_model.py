"""Closed forms against models that were fitted again, and against what is known."""

import numpy as np
import pytest
from scipy import sparse

from refold.columns.context.mixed_model import MixedModel, Moments
from refold.columns.context.spread import GroupSpread, normal_scores

BLOCKS = [1, 3, 4]
GROUPS = 30


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, GROUPS, 300)
    x = np.column_stack(
        [np.ones(300), rng.normal(size=(300, 3)), rng.integers(0, 2, (300, 4)).astype(float)]
    )
    effects = 2.0 * rng.normal(size=GROUPS)
    y = x @ rng.normal(size=8) + effects[groups] + rng.normal(size=300)
    return sparse.csr_array(x), y, groups, effects


def moments(x, y, groups):
    return Moments.of(x, y, groups, GROUPS)


def test_the_model_is_the_solution_of_the_ridge_equations_of_all_effects(rows):
    x, y, groups, _ = rows
    model = MixedModel.solve(moments(x, y, groups), BLOCKS)
    whole = np.hstack([x.toarray(), np.eye(GROUPS)[groups]])
    ridges = np.append(np.repeat(model.ridges, BLOCKS), np.full(GROUPS, model.group_ridge))
    solved = np.linalg.solve(whole.T @ whole + np.diag(ridges), whole.T @ y)
    np.testing.assert_allclose(model.coef, solved[:8], atol=1e-7)
    np.testing.assert_allclose(model.effects, solved[8:], atol=1e-7)


def test_a_row_left_out_in_closed_form_is_one_that_was_never_there(rows):
    x, y, groups, _ = rows
    model = MixedModel.solve(moments(x, y, groups), BLOCKS)
    expected, leverage = model.expected(x, groups)
    of_block = np.repeat(np.arange(3), BLOCKS)
    for i in range(0, 300, 23):
        others = np.arange(300) != i
        without = MixedModel.given(
            moments(x[others], y[others], groups[others]),
            model.ridges,
            of_block,
            model.group_ridge,
        )
        foreseen, _ = without.expected(x[[i]], groups[[i]])
        in_closed_form = y[i] - (y[i] - expected[i]) / (1.0 - leverage[i])
        assert in_closed_form == pytest.approx(foreseen[0], abs=1e-8)


def test_residuals_are_as_free_as_their_leverages_leave_them(rows):
    x, y, groups, _ = rows
    whole = moments(x, y, groups)
    model = MixedModel.solve(whole, BLOCKS)
    left = np.bincount(groups, 1.0 - model.expected(x, groups)[1])
    freedom = model.group_freedom(whole)
    assert freedom.sum() == pytest.approx(left.sum())
    np.testing.assert_allclose(freedom, left, rtol=0.05)


def test_sums_of_parts_are_those_of_the_whole_and_can_be_taken_away(rows):
    x, y, groups, _ = rows
    first, rest = moments(x[:100], y[:100], groups[:100]), moments(x[100:], y[100:], groups[100:])
    whole = moments(x, y, groups)
    for mine, theirs in ((first.plus(rest), whole), (whole.plus(rest, -1), first)):
        assert mine.rows == theirs.rows
        for name in ("xx", "xy", "group_rows", "group_y"):
            np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), atol=1e-10)
        np.testing.assert_allclose(mine.group_x.toarray(), theirs.group_x.toarray(), atol=1e-10)


def test_groups_that_come_later_are_added_to_those_of_before(rows):
    x, y, groups, _ = rows
    some = groups < 10
    early = Moments.of(x[some], y[some], groups[some], 10)
    late = moments(x[~some], y[~some], groups[~some])
    np.testing.assert_allclose(early.plus(late).group_y, moments(x, y, groups).group_y, atol=1e-10)


def test_variances_are_found_again(rows):
    x, y, groups, effects = rows
    model = MixedModel.solve(moments(x, y, groups), BLOCKS)
    assert model.variance == pytest.approx(1.0, rel=0.25)
    assert model.variance / model.group_ridge == pytest.approx(effects.var(), rel=0.5)


def test_groups_that_do_not_differ_have_no_effect(rows):
    x, y, groups, effects = rows
    model = MixedModel.solve(moments(x, y - effects[groups], groups), BLOCKS)
    assert np.abs(model.effects).max() < 0.3


def test_an_unknown_group_is_spread_as_all_groups_are(rows):
    x, y, groups, effects = rows
    model = MixedModel.solve(moments(x, y, groups), BLOCKS)
    _, leverage = model.expected(x[:1], np.array([-1]))
    assert model.variance * leverage[0] == pytest.approx(
        model.variance / model.group_ridge, rel=0.2
    )
    assert model.variance * leverage[0] == pytest.approx(effects.var(), rel=0.5)


def test_the_spread_of_a_small_group_is_drawn_to_that_of_all():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(200), 5)
    spread = np.exp(0.5 * rng.normal(size=200))
    residuals = spread[groups] * rng.normal(size=1000)
    found = GroupSpread.of(np.bincount(groups, 0.8 * residuals**2), np.full(200, 4.0), 1e-12)
    raw = np.bincount(groups, residuals**2) / 5.0
    shrunk, freedom = found.of_rows(np.arange(200))
    assert np.log(shrunk).std() < np.log(raw).std()
    errors = [np.abs(np.log(v) - 2.0 * np.log(spread)).mean() for v in (shrunk, raw)]
    assert errors[0] < 0.8 * errors[1]
    unknown, less = found.of_rows(np.array([-1]))
    assert unknown[0] == pytest.approx(found.prior)
    assert less[0] < freedom.min()


def test_groups_of_equal_spread_share_one():
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(100), 10)
    squares = np.bincount(groups, rng.normal(size=1000) ** 2)
    found = GroupSpread.of(squares, np.full(100, 10.0), 1e-12)
    variances, _ = found.of_rows(np.arange(100))
    assert np.sqrt(variances).std() < 0.15


@pytest.mark.parametrize("freedom", [3.0, 10.0, 1e6])
def test_scores_of_t_values_are_normal_quantiles(freedom):
    from scipy.stats import norm, t

    values = np.linspace(-6.0, 6.0, 41)
    right = norm.ppf(t.cdf(values, freedom))
    np.testing.assert_allclose(normal_scores(values, np.full(41, freedom)), right, atol=0.05)
