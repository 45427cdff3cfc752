"""Closed forms against models that were fitted again, and against what is known."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import polygamma

from refold.columns.context.mixed_model import GroupSquares, MixedModel, Moments
from refold.columns.context.spread import (
    GroupSpread,
    _trigamma_inverse,
    normal_scores,
    t_values,
)

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
    one_more = Moments.of(x[some], y[some], groups[some], GROUPS - 1).plus(late)
    np.testing.assert_allclose(one_more.group_y, moments(x, y, groups).group_y, atol=1e-10)


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


def restricted_likelihood(x, y, groups, n_groups, ridges, group_ridge):
    """Twice the restricted log likelihood at the best variance, by dense matrices; and that."""
    n, fixed = len(y), x[:, :1]
    covariance = np.eye(n)
    for columns, ridge in zip(np.split(x, np.cumsum(BLOCKS)[:-1], axis=1)[1:], ridges, strict=True):
        covariance += columns @ columns.T / ridge
    member = np.eye(n_groups)[groups]
    covariance += member @ member.T / group_ridge
    inverse = np.linalg.inv(covariance)
    within = fixed.T @ inverse @ fixed
    rest = inverse - inverse @ fixed @ np.linalg.solve(within, fixed.T @ inverse)
    variance = float(y @ rest @ y) / (n - 1)
    logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(within)[1]
    return -(n - 1) * np.log(variance) - logs, variance


def test_ridges_are_those_of_the_largest_restricted_likelihood(rows):
    x, y, groups = (each[:120] for each in rows[:3])
    y = 0.1 * y
    model = MixedModel.solve(moments(x, y, groups), BLOCKS)
    assert model.ridges[0] == 0.0
    chosen = np.append(model.ridges[1:], model.group_ridge)

    def likelihood(ridges):
        return restricted_likelihood(x.toarray(), y, groups, GROUPS, ridges[:-1], ridges[-1])

    best, variance = likelihood(chosen)
    assert model.variance == pytest.approx(variance, rel=1e-3)
    for k in range(len(chosen)):
        for factor in (0.6, 1.6):
            other = chosen.copy()
            other[k] *= factor
            assert likelihood(other)[0] < best + 1e-3


CASES = {
    "features and groups": (8, GROUPS),
    "two features and groups": (2, GROUPS),
    "a constant and groups": (1, GROUPS),
    "features alone": (8, 0),
    "more groups than have rows": (1, GROUPS + 4),
    "features and more groups": (8, GROUPS + 4),
}


@pytest.mark.parametrize("case", CASES)
def test_equations_of_any_shape_are_those_of_dense_matrices(rows, case):
    x, y, groups, _ = rows
    p, n_groups = CASES[case]
    x = x[:, :p]
    groups = groups.copy() if n_groups else np.full(len(y), -1)
    groups[0] = n_groups - 1  # of more groups than have rows one has a single row
    sums, ridges, group_ridge = Moments.of(x, y, groups, n_groups), np.array([0.0, 0.7, 3.0]), 1.7
    block_of = np.repeat(np.arange(3), BLOCKS)[:p]
    model = MixedModel.given(sums, ridges, block_of, group_ridge)
    member = np.eye(n_groups)[groups] if n_groups else np.empty((len(y), 0))
    whole = np.hstack([x.toarray(), member])
    penalty = np.append(ridges[block_of], np.full(n_groups, group_ridge))
    inverse = np.linalg.inv(whole.T @ whole + np.diag(penalty))
    solved = inverse @ whole.T @ y
    fitted, hat = whole @ solved, np.einsum("ij,jk,ik->i", whole, inverse, whole)
    np.testing.assert_allclose(model.coef, solved[:p], rtol=1e-7)
    np.testing.assert_allclose(model.effects, solved[p:], atol=1e-8)
    expected, leverage = model.expected(x, groups)
    np.testing.assert_allclose(expected, fitted, atol=1e-8)
    np.testing.assert_allclose(leverage, hat, atol=1e-8)
    assert model._residual_squares(sums) == pytest.approx(((y - fitted) ** 2).sum())
    np.testing.assert_allclose(model._group_variances(), np.diagonal(inverse)[p:], atol=1e-9)
    if n_groups == 0:
        return
    counts = np.bincount(groups, minlength=n_groups)
    off = np.bincount(groups, y - fitted, n_groups) / np.maximum(counts, 1)
    found, some = model.group_residuals(sums), counts > 0
    np.testing.assert_allclose(found[some], off[some], atol=1e-8)
    stranger, unsure = model.expected(x[:3], np.full(3, -1))
    np.testing.assert_allclose(stranger, x[:3].toarray() @ solved[:p], atol=1e-8)
    variance = 1.0 / group_ridge + np.einsum(
        "ij,jk,ik->i", x[:3].toarray(), inverse[:p, :p], x[:3].toarray()
    )
    np.testing.assert_allclose(unsure, variance, atol=1e-8)
    freedom = model.group_freedom(sums)
    left = np.bincount(groups, 1.0 - hat, n_groups)
    if p == 1:
        np.testing.assert_allclose(freedom, left, atol=1e-8)
    assert freedom.sum() == pytest.approx(left.sum())


def test_rows_without_a_group_count_for_the_features_alone(rows):
    x, y, groups, _ = rows
    none = np.where(np.arange(len(y)) % 3 == 0, -1, groups)
    found = Moments.of(x, y, none, GROUPS)
    np.testing.assert_allclose(found.xx, x.toarray().T @ x.toarray())
    np.testing.assert_allclose(found.xy, x.toarray().T @ y)
    assert found.yy == pytest.approx(y @ y)
    inside = none >= 0
    member = np.eye(GROUPS)[none[inside]]
    np.testing.assert_allclose(found.group_x.toarray(), member.T @ x.toarray()[inside])
    np.testing.assert_allclose(found.group_y, member.T @ y[inside])
    np.testing.assert_array_equal(found.group_rows, member.sum(axis=0))


def test_sums_of_other_features_are_those_of_the_features_made_of_them(rows, rng):
    x, y, groups, _ = rows
    turn = sparse.csr_array(rng.integers(-1, 2, size=(8, 5)).astype(float))
    ours, theirs = moments(x, y, groups).mapped(turn), moments(x @ turn, y, groups)
    np.testing.assert_allclose(ours.xx, theirs.xx)
    np.testing.assert_allclose(ours.xy, theirs.xy)
    np.testing.assert_allclose(ours.group_x.toarray(), theirs.group_x.toarray())


def squares_of(values, weights, groups, n_groups):
    """Weight, mean and squares of each group, one group after the other."""
    out = np.zeros((3, n_groups))
    for group in range(n_groups):
        own, w = values[groups == group], weights[groups == group]
        if w.sum() > 0.0:
            mean = np.average(own, weights=w)
            out[:, group] = w.sum(), mean, (w * (own - mean) ** 2).sum()
    return out


def assert_squares(found, expected):
    np.testing.assert_allclose(
        [found.weight, found.mean, found.squares], expected, rtol=1e-9, atol=1e-9
    )


def test_squares_within_groups_add_and_can_be_taken_away(rng):
    values, weights = 50.0 + rng.normal(size=200), rng.uniform(0.5, 2.0, 200)
    groups = rng.integers(0, 6, 200)
    groups[:90] %= 4  # the first rows are of four groups, one of which has no others
    groups[90:][groups[90:] == 3] = 2
    first, rest = slice(None, 90), slice(90, None)
    expected = [squares_of(values[s], weights[s], groups[s], 6) for s in (first, rest)]
    one = GroupSquares.of(values[first], weights[first], groups[first], 4)
    other = GroupSquares.of(values[rest], weights[rest], groups[rest], 6)
    assert_squares(one, expected[0][:, :4])
    assert_squares(other, expected[1])
    whole = squares_of(values, weights, groups, 6)
    assert_squares(one.plus(other), whole)
    assert_squares(other.plus(one), whole)
    assert_squares(one.plus(other).plus(other, -1), expected[0])
    assert_squares(one.plus(one, -1), np.zeros((3, 4)))
    places = np.array([5, 1, 0, 7])
    turned = np.zeros((3, 8))
    turned[:, places] = expected[0][:, :4]
    assert_squares(one.numbered(places, 8), turned)


def test_squares_of_rows_with_equal_weights_are_the_same_by_another_way(rng):
    y, groups = rng.normal(size=500), rng.integers(0, 7, 500)
    sums = Moments.of(sparse.csr_array(np.ones((500, 1))), y, groups, 9)
    expected = squares_of(y - 0.3, np.ones(500), groups, 9)
    assert_squares(GroupSquares.of_alike(y.copy(), groups, sums, 0.3), expected)


@pytest.mark.parametrize(("prior", "prior_freedom"), [(0.5, 3.0), (2.0, 12.0), (1.0, 40.0)])
def test_the_prior_of_spreads_is_the_one_that_they_were_drawn_from(prior, prior_freedom):
    rng = np.random.default_rng(3)
    freedom = rng.choice([2.5, 6.0, 15.0], 40_000)
    variances = prior * prior_freedom / rng.chisquare(prior_freedom, 40_000)
    found = GroupSpread.of(variances * rng.chisquare(freedom), freedom, 1e-12)
    assert found.prior == pytest.approx(prior, rel=0.03)
    assert found.prior_freedom == pytest.approx(prior_freedom, rel=0.15)
    groups = np.array([0, 1, -1])
    shrunk, worth = found.of_rows(groups)
    squares, own = np.append(found.squares[:2], 0.0), np.append(freedom[:2], 0.0)
    np.testing.assert_allclose(worth, found.prior_freedom + own)
    np.testing.assert_allclose(
        shrunk, (found.prior_freedom * found.prior + squares) / (found.prior_freedom + own)
    )


def test_spreads_of_one_or_two_groups_are_pooled_and_none_is_below_rounding():
    pooled = GroupSpread.of(np.array([4.0, 8.0, 9.0]), np.array([2.0, 4.0, 0.5]), 1e-6)
    assert pooled.prior == pytest.approx(2.0)  # half a degree of freedom says nothing
    assert pooled.prior_freedom >= 1e6
    three = GroupSpread.of(np.array([9.0, 90.0, 900.0]), np.full(3, 9.0), 1e-6)
    assert three.prior_freedom < 1e6
    assert GroupSpread.of(np.zeros(5), np.full(5, 3.0), 0.25).prior == pytest.approx(0.25)
    assert GroupSpread.of(np.zeros(2), np.zeros(2), 0.25).prior == 0.25
    none = GroupSpread.of(np.zeros(4), np.full(4, 3.0), 0.25)
    assert none.of_rows(np.arange(4))[0].tolist() == [0.25] * 4
    single = GroupSpread(np.array([4.0]), np.array([9.0]), 1.0, 2.0, 1e-6)
    variance, freedom = single.of_rows(np.array([0, -1]))
    np.testing.assert_allclose(variance, [6.0 / 11.0, 1.0])
    assert freedom.tolist() == [11.0, 2.0]
    alone = GroupSpread.of_all(12.0, 4.0, 1.0)
    assert alone.of_rows(np.array([-1, -1]))[0] == pytest.approx([3.0, 3.0])
    assert GroupSpread.of_all(1.0, 4.0, 1.0).prior == 1.0
    # A group that does not vary at all does not make all others strangers to each other.
    steady = GroupSpread.of(np.append(np.full(50, 9.0), 0.0), np.full(51, 9.0), 1e-12)
    assert steady.prior_freedom < 1e6
    assert 0.1 < steady.prior < 2.0


def test_a_row_left_out_takes_its_square_and_one_degree_of_freedom_along():
    found = GroupSpread.of(np.array([3.0, 9.0, 4.0, 30.0]), np.array([4.0, 5.0, 6.0, 0.75]), 1e-3)
    residuals, groups = np.array([0.5, 4.0, 1.0, 2.0]), np.array([0, 1, -1, 3])
    variance, freedom = found.left_out(residuals, groups)
    squares = np.array([3.0 - 0.25, 0.0, 0.0, 26.0])  # not below none
    own = np.array([3.0, 4.0, 0.0, 0.0])
    np.testing.assert_allclose(freedom, found.prior_freedom + own)
    np.testing.assert_allclose(
        variance, (found.prior_freedom * found.prior + squares) / (found.prior_freedom + own)
    )


def test_values_of_a_t_distribution_are_found_again_from_their_scores():
    for freedom in (0.8, 3.0, 50.0):
        values = np.array([-30.0, -1.0, 0.0, 0.2, 8.0])
        scores = normal_scores(values, np.full(5, freedom))
        np.testing.assert_allclose(t_values(scores, np.full(5, freedom)), values, rtol=1e-9)
    assert np.isfinite(t_values(np.array([1e9]), np.array([3.0]))).all()


@pytest.mark.parametrize("value", [1e-6, 1e-3, 0.5, 1.6, 40.0, 1e6])
def test_the_inverse_of_trigamma_is_one(value):
    assert polygamma(1, _trigamma_inverse(value)) == pytest.approx(value, rel=1e-8)


def test_no_rows_add_up_to_nothing():
    for p in (1, 3):
        nothing = Moments.of(sparse.csr_array((0, p)), np.empty(0), np.empty(0, dtype=int), 4)
        assert (nothing.rows, nothing.yy, nothing.xx.shape) == (0, 0.0, (p, p))
        assert nothing.group_rows.tolist() == nothing.group_y.tolist() == [0.0] * 4
        assert nothing.group_x.shape == (4, p)
