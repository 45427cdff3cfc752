"""Numbers in their context: against models fitted again, least squares, and what rows came from."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import lognorm, norm

from refold.base.errors import UserError
from refold.columns.context.column_context import ColumnContext, _whole_groups
from refold.columns.context.context_rows import ContextRows, ContextUnits
from refold.columns.context.mixed_model import MixedModel, Moments
from refold.columns.context.trend import FeatureLayout, TimeAxis, TrendFeatures
from refold.columns.table import NumberColumn, Table

N = 400


def fleet(rng, *, groups, features):
    """Rows whose spread doubles with the second of two features, and their numbers."""
    x = np.column_stack([np.ones(N), rng.normal(size=N), rng.integers(0, 2, N)])
    own = rng.integers(0, groups, N) if groups else np.full(N, -1)
    effects = np.append(4.0 * rng.normal(size=groups), 0.0)[own]
    spread = 2.0 ** x[:, 2] if features else np.ones(N)
    worth = 3.0 * x[:, 1] if features else 0.0
    values = 100.0 + effects + worth + spread * rng.normal(size=N)
    shown = x if features else x[:, :1]
    blocks = [1, 1, 1] if features else [1]
    return ContextRows(sparse.csr_array(shown), own), values, FeatureLayout(blocks, -1, groups)


def learn(rows, values, layout, log=False):
    return ColumnContext.learn(rows, values, layout, (log, "none"))


CASES = {
    "groups": {"groups": 30, "features": False},
    "features": {"groups": 0, "features": True},
    "both": {"groups": 30, "features": True},
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    rows, values, layout = fleet(np.random.default_rng(4), **CASES[request.param])
    return rows, values, layout, *learn(rows, values, layout)


def test_a_row_left_out_has_nearly_the_score_by_a_model_that_never_had_it(case):
    rows, values, layout, _, alone = case
    for i in range(0, N, 40):
        others = np.arange(N) != i
        column, _ = learn(rows.take(others), values[others], layout)
        one = rows.take(~others)
        column = replace(column, smallest=1e-24)
        # New rows are judged with care for what is not known of a group; that is no part of it.
        found = column.scores(one, values[[i]])
        known = one.groups[0] >= 0
        careful = np.exp(0.4 * np.sqrt(0.5 / found.freedom[0])) if known else 1.0
        assert alone[i] == pytest.approx(careful * found.z[0], abs=0.15)


def test_scores_are_those_of_a_normal_distribution(case):
    _, _, _, _, alone = case
    assert alone.mean() == pytest.approx(0.0, abs=0.05)
    assert alone.std() == pytest.approx(1.0, abs=0.06)
    assert (np.abs(alone) > 1.96).mean() == pytest.approx(0.05, abs=0.025)


def test_new_rows_are_scored_by_what_is_expected_of_them(case):
    rows, values, _, column, _ = case
    found = column.scores(rows, values)
    expected = np.array([column.number(y) for y in found.expected])
    residuals = values - expected
    assert residuals.std() < 2.2
    assert (np.sign(residuals) == np.sign(found.z)).all()
    np.testing.assert_array_equal(column.z(rows, values), found.z)
    units = ContextUnits(column, found, values)
    some = np.arange(0, N, 7)
    np.testing.assert_allclose(units.numbers(some, found.z[some]), values[some], rtol=1e-9)
    assert units.number(7, float(found.z[7])) == pytest.approx(values[7], abs=0.05)
    assert np.isnan(units.numbers(some[:1], np.array([np.inf])))[0]


def dense(rows, blocks, groups):
    """The features of rows, with a column for each group, and which block has which of them."""
    x = rows.x.toarray()
    own = (rows.groups[:, None] == np.arange(groups)).astype(float)
    return np.column_stack([x, own]), np.repeat(np.arange(len(blocks) + 1), [*blocks, groups])


@pytest.mark.parametrize("blocks", [[1], [1, 1], [1, 2]])
@pytest.mark.parametrize("groups", [0, 12])
def test_numbers_are_expected_as_by_a_ridge_regression_of_dense_matrices(blocks, groups, rng):
    p = sum(blocks)
    rows, values, _ = fleet(rng, groups=groups, features=p > 1)
    rows = ContextRows(rows.x[:, [0, 2, 1][:p]].tocsr(), rows.groups)
    column, _ = learn(rows, values, FeatureLayout(blocks, -1, groups))
    y = (values - np.median(values)) / np.abs(values - np.median(values)).mean()
    X, block = dense(rows, blocks, groups)
    penalty = np.append(column.model.ridges, column.model.group_ridge if groups else 0.0)[block]
    inverse = np.linalg.inv(X.T @ X + np.diag(penalty))
    leverage = np.einsum("ij,jk,ik->i", X, inverse, X)
    residuals = y - X @ (inverse @ (X.T @ y))
    # How wide: the logarithm of squares that were left out, but for its constant.
    logs = np.log((residuals**2 / (1.0 - leverage)) + column.smallest)
    wide = MixedModel.solve(Moments.of(rows.x, logs, np.full(N, -1), 0), blocks).coef
    factor = np.exp(0.5 * (rows.x[:, 1:] @ wide[1:]))
    np.testing.assert_allclose(column.factor(rows.x), factor)
    if groups == 0:
        freedom = N - np.trace(inverse @ (X.T @ X))
        mean = np.average(residuals, weights=factor**-2)
        squares = ((residuals - mean) ** 2 / factor**2).sum()
        assert column.squares.squares.tolist() == [pytest.approx(squares)]
        assert column.spread.prior == pytest.approx(squares / freedom)
    elif p == 1:
        squares = np.bincount(rows.groups, weights=residuals**2)
        np.testing.assert_allclose(column.spread.squares, squares)
    # New rows: among them one far from all, and rows without a group.
    new = rows.x[:6].toarray()
    new[:, 1:] *= np.array([1.0, 1.0, 1.0, 1.0, 60.0, 60.0])[:, None]
    new_rows = ContextRows(sparse.csr_array(new), np.append(rows.groups[:3], [-1, -1, -1]))
    Z, _ = dense(new_rows, blocks, groups)
    found = column.scores(new_rows, values[:6])
    np.testing.assert_allclose(found.expected, Z @ (inverse @ (X.T @ y)), atol=1e-9)
    beyond = np.einsum("ij,jk,ik->i", Z, inverse, Z)
    if groups:
        beyond[3:] += 1.0 / column.model.group_ridge
    variance, freedom = column.spread.of_rows(new_rows.groups)
    error = np.sqrt(0.5 / freedom + 0.25 * np.minimum(beyond, 1.0))
    careful = np.where(new_rows.groups >= 0, np.exp(0.4 * error), 1.0)
    factor = np.exp(0.5 * (new[:, 1:] @ wide[1:]))
    width = careful * np.sqrt(variance * factor**2 + column.model.variance * beyond)
    np.testing.assert_allclose(found.spread, width)


def test_a_column_may_begin_late_or_end_early(rng):
    rows, values, layout = over_time(rng, "line")
    for there in (rows.share > 0.45, rows.share <= 0.75):
        column, found = ColumnContext.learn(rows, np.where(there, values, np.nan), layout)
        foreseen = there & (rows.share > (0.5 if there[-1] else 0.3))
        np.testing.assert_array_equal(np.isnan(found), ~foreseen)
        assert column.moments.rows == there.sum()


@pytest.mark.parametrize("step", [0.25, 0.0])
def test_no_variance_is_smaller_than_that_of_rounding_to_the_smallest_step(step):
    values = 5.0 + step * np.array([0.0, 1.0, 3.0, 7.0] * 5)
    rows = ContextRows(sparse.csr_array(np.ones((20, 1))), np.full(20, -1))
    column, alone = learn(rows, values, FeatureLayout([1], -1, 0))
    scale = np.abs(values - np.median(values)).mean() or 1.0
    assert column.scale == pytest.approx(scale)
    assert column.smallest == pytest.approx(max((step / scale) ** 2 / 12.0, 1e-24))
    assert np.isfinite(alone).all()


def test_where_most_numbers_are_the_same_the_others_say_in_which_units_they_are():
    values = np.full(40_001, 7.0)
    values[1::2] = 9.0  # of so many rows every other one is looked at
    rows = ContextRows(sparse.csr_array(np.ones((40_001, 1))), np.full(40_001, -1))
    column, _ = learn(rows, values, FeatureLayout([1], -1, 0))
    assert (column.middle, column.scale) == (7.0, pytest.approx(2.0 * 20_000 / 40_001))


@pytest.mark.parametrize("name", CASES)
def test_other_features_and_numbers_of_groups_change_no_score(name, rng):
    rows, values, layout = fleet(rng, **CASES[name])
    column, _ = learn(rows, values, layout)
    order = np.array([0, 2, 1])[: rows.x.shape[1]]
    turned = sparse.csr_array(np.eye(len(order))[:, order])
    places = rng.permutation(layout.groups)
    again = column.mapped(turned, FeatureLayout(layout.blocks, -1, layout.groups), places)
    own = places[rows.groups] if layout.groups else rows.groups
    there = ContextRows((rows.x @ turned).tocsr(), own)
    np.testing.assert_allclose(again.factor(there.x), column.factor(rows.x))
    np.testing.assert_allclose(again.reference, column.reference[order])
    np.testing.assert_allclose(again.z(there, values), column.z(rows, values), atol=1e-5)


def test_without_groups_the_spread_is_that_of_least_squares(rng):
    rows, _, layout = fleet(rng, groups=0, features=True)
    even = 10.0 + rows.x.toarray() @ [0.0, 3.0, 1.0] + 0.7 * rng.normal(size=N)
    column, _ = learn(rows, even, layout)
    column = replace(column, spread_coef=None)
    x = rows.x.toarray()
    left = even - x @ np.linalg.lstsq(x, even, rcond=None)[0]
    variance = float(left @ left) / (N - 3)
    assert column.spread.prior * column.scale**2 == pytest.approx(variance, rel=0.02)
    width = column.scores(rows, even).spread * column.scale
    leverage = np.einsum("ij,jk,ik->i", x, np.linalg.inv(x.T @ x), x)
    np.testing.assert_allclose(width, np.sqrt(variance * (1.0 + leverage)), rtol=0.01)


def test_the_spread_follows_the_context(rng):
    rows, values, layout = fleet(rng, groups=0, features=True)
    column, _ = learn(rows, values, layout)
    factor = column.factor(rows.x)
    wide = rows.x.toarray()[:, 2] == 1.0
    assert np.median(factor[wide]) / np.median(factor[~wide]) == pytest.approx(2.0, rel=0.2)
    alone = ContextRows(rows.x[:, [0, 2]], rows.groups)  # one column of the context is enough
    column, _ = learn(alone, values - 3.0 * rows.x.toarray()[:, 1], FeatureLayout([1, 1], -1, 0))
    factor = column.factor(alone.x)
    assert np.median(factor[wide]) / np.median(factor[~wide]) == pytest.approx(2.0, rel=0.2)


@pytest.mark.parametrize("log", [False, True])
def test_the_likelihood_is_a_density_of_numbers(log, rng):
    values = np.exp(rng.normal(1.0, 0.5, size=N))
    rows = ContextRows(sparse.csr_array(np.ones((N, 1))), np.full(N, -1))
    column, _ = learn(rows, values, FeatureLayout([1], -1, 0), log)
    found = column.scores(rows, values)
    middle, width = column.number(found.expected[0]), found.spread[0] * column.scale
    z = column.transformed(values) - column.transformed(np.array([middle]))[0]
    z = z * column.scale / width
    near = np.abs(z) < 4.0
    ours = column.likelihood(values, z, found.spread)[near]
    density = lognorm(width, scale=middle) if log else norm(middle, width)
    theirs = density.logpdf(values[near]) + 0.5 * np.log(2.0 * np.pi)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    far = column.likelihood(values[:2], np.array([5.0, 50.0]), found.spread[:2])
    assert far[0] - far[1] == pytest.approx(np.log(values[1] / values[0]) if log else 0.0)


def test_numbers_are_taken_as_logarithms_where_that_makes_them_likelier(rng):
    rows = ContextRows(sparse.csr_array(np.ones((N, 1))), rng.integers(0, 10, N))
    layout = FeatureLayout([1], -1, 10)
    level = rng.normal(size=10)[rows.groups]
    skewed = np.exp(level + 0.8 * rng.normal(size=N))
    assert ColumnContext.learn(rows, skewed, layout)[0].log
    assert not ColumnContext.learn(rows, np.append(skewed[1:], 0.0), layout)[0].log
    assert not ColumnContext.learn(rows, 10.0 + level + 0.8 * rng.normal(size=N), layout)[0].log


def test_a_single_group_fixes_a_number_too():
    rows = ContextRows(sparse.csr_array(np.ones((9, 1))), np.zeros(9, dtype=np.int64))
    assert ColumnContext.learn(rows, np.full(9, 3.0), FeatureLayout([1], -1, 1))[0].fixed
    nobody = ContextRows(rows.x, np.full(9, -1))
    assert not ColumnContext.learn(nobody, np.full(9, 3.0), FeatureLayout([1], -1, 0))[0].fixed


def test_a_number_that_its_group_fixes_may_differ_by_rounding_alone(rng):
    groups, levels = rng.integers(0, 12, N), np.round(np.linspace(3.0, 9.0, 12), 1)
    rows = ContextRows(sparse.csr_array(np.ones((N, 1))), groups)
    column, alone = learn(rows, levels[groups], FeatureLayout([1], -1, 12))
    assert column.fixed
    assert (alone == 0.0).all()
    new = ContextRows(sparse.csr_array(np.ones((4, 1))), np.full(4, 4))
    step = np.diff(levels).min()  # a quarter of it is rounding
    z = column.z(new, levels[4] + step * np.array([0.0, 0.24, 0.26, 1.0]))
    assert (z != 0.0).tolist() == [False, False, True, True]
    assert z[3] > 3.0


def test_a_new_group_may_lie_anywhere_among_all_groups(rng):
    rows, values, layout = fleet(rng, groups=30, features=False)
    column, _ = learn(rows, values, layout)
    new = ContextRows(sparse.csr_array(np.ones((4, 1))), np.full(4, -1))
    z = column.z(new, np.array([100.0, 108.0, 92.0, 200.0]))
    assert z[:3].tolist() == [0.0, 0.0, 0.0]
    assert z[3] > 3.0
    within = column.as_expected(np.array([-1, 0, 1]), np.ones(3), np.full(3, 1e6))
    np.testing.assert_allclose(within, [3.0, 0.0, 0.0], atol=1e-4)


def test_rows_without_a_value_or_a_group_have_no_part_in_what_is_learned(rng):
    rows, values, layout = fleet(rng, groups=30, features=True)
    some = rng.random(N) < 0.8
    gaps = np.where(some, values, np.nan)
    column, scores = learn(rows, gaps, layout)
    only, alone = learn(rows.take(some), values[some], layout)
    np.testing.assert_array_equal(np.isnan(scores), ~some)
    np.testing.assert_allclose(scores[some], alone)
    strangers = ContextRows(rows.x, np.where(some, rows.groups, -1))
    column, scores = learn(strangers, values, layout)
    np.testing.assert_allclose(scores[some], alone)
    np.testing.assert_allclose(scores[~some], only.z(strangers.take(~some), values[~some]))
    assert column.moments.rows == some.sum()


def over_time(rng, kind, n=150):
    """Rows over a span of time whose level is steady, rises or wanders; and their features."""
    share = np.sort(rng.random(n))
    share[[0, -1]] = 0.0, 1.0
    times = Table(["t"], [NumberColumn(100.0 * share)], n)
    trend = TrendFeatures(TimeAxis.learn(times, "t"))
    values = 0.1 * rng.normal(size=n)
    values += {"none": 0.0, "line": 8.0 * share, "level": np.cumsum(rng.normal(size=n))}[kind]
    x = sparse.csr_array(np.column_stack([np.ones(n), trend.of(times).toarray()]))
    none = np.full(n, -1)
    rows = ContextRows(x, none, share, np.zeros(n), np.zeros(n))
    return rows, values, FeatureLayout([1, *trend.blocks], 1, 0)


@pytest.mark.parametrize("kind", ["none", "line", "level"])
def test_over_time_each_tenth_is_foreseen_by_the_rows_before_it(kind, rng):
    rows, values, layout = over_time(rng, kind)
    chosen = (False, kind) if kind == "level" else None  # nobody foresees where it wanders
    column, found = ColumnContext.learn(rows, values, layout, chosen)
    assert column.form == kind
    expected = np.full(len(values), np.nan)
    for origin in np.arange(3, 10) / 10.0:
        before = rows.share <= origin
        after = (rows.share > origin) & (rows.share <= origin + 0.1 + 1e-9)
        past = ContextRows(rows.x[before], rows.groups[before])
        earlier, _ = ColumnContext.learn(past, values[before], layout, (False, kind))
        expected[after] = earlier.scores(rows.take(after), values[after]).z
    wider = column.ahead[1] if len(column.ahead) > 1 else 1.0
    np.testing.assert_allclose(found, expected / wider)
    assert (len(column.ahead) == 8) == (kind != "none")
    assert (np.diff(column.ahead) >= 0.0).all()
    same, again = ColumnContext.learn(rows, values, layout, (False, kind))
    np.testing.assert_array_equal(again, found)
    np.testing.assert_array_equal(same.ahead, column.ahead)


def test_what_lies_ahead_is_spread_wider_by_steps_of_the_level_and_by_tenths(rng):
    rows, values, layout = over_time(rng, "level")
    column, _ = ColumnContext.learn(rows, values, layout, (False, "level"))
    last = rows.take(np.arange(len(values)) >= len(values) - 3)

    def width(column, steps, tenths):
        ahead = replace(last, steps=np.array(steps), tenths=np.array(tenths))
        return column.scores(ahead, values[-3:]).spread

    level = replace(column, ahead=np.ones(1))
    still, later = width(level, [0.0] * 3, [0.0] * 3), width(level, [0.0, 1.0, 4.0], [0.0] * 3)
    each = level.model.variance / level.model.ridges[-1]
    np.testing.assert_allclose(later**2 - still**2, [0.0, each, 4.0 * each], atol=1e-9)
    wider = replace(column, ahead=np.array([1.0, 1.5, 2.0]))
    found = width(wider, [0.0] * 3, [0.0, 0.5, 4.0]) / still
    np.testing.assert_allclose(found, [1.0, 1.25, 4.0])
    one = replace(column, ahead=np.array([1.0, 1.5]))
    np.testing.assert_allclose(width(one, [0.0] * 3, [0.0, 0.5, 2.0]) / still, [1.0, 1.25, 3.0])
    line, _ = ColumnContext.learn(rows, values, layout, (False, "line"))
    line = replace(line, ahead=np.ones(1))
    np.testing.assert_allclose(width(line, [9.0] * 3, [0.0] * 3), width(line, [0.0] * 3, [0.0] * 3))


@pytest.mark.parametrize("log", [False, True])
def test_numbers_come_back_from_the_units_of_the_model(log, rng):
    values = np.exp(rng.normal(1.0, 0.5, size=N))
    rows = ContextRows(sparse.csr_array(np.ones((N, 1))), np.full(N, -1))
    column, _ = learn(rows, values, FeatureLayout([1], -1, 0), log)
    y = column.transformed(values)
    assert [column.number(each) for each in y] == pytest.approx(values)
    own = np.log(values) if log else values
    assert np.median(y) == pytest.approx(0.0, abs=1e-9)
    assert np.abs(y).mean() == pytest.approx(1.0)
    assert (column.middle, column.scale) == pytest.approx(
        (np.median(own), np.abs(own - np.median(own)).mean())
    )
    far = column.transformed(np.array([-1.0, 0.0]))
    assert np.isfinite(far).all()
    assert (far[0] == far[1]) == log
    assert np.isfinite(column.number(1e9))


@pytest.mark.parametrize("name", CASES)
def test_rows_add_up_to_what_was_learned_of_all(name, rng):
    rows, values, layout = fleet(rng, **CASES[name])
    column, _ = learn(rows, values, layout)
    nothing, first = column.emptied(), np.arange(N) < 150
    assert nothing.moments.rows == 0
    assert np.abs(nothing.moments.xx).max() < 1e-9
    assert nothing.squares.weight.tolist() == [0.0] * len(column.squares.weight)

    def plus(some, begin, follow=False):
        return begin.plus_rows(rows.take(some), values[some], layout.groups, follow)

    one, other = plus(first, nothing), plus(~first, nothing)
    for whole in (plus(~first, one), one.plus(other), plus(first, other)):
        assert whole.moments.rows == N
        np.testing.assert_allclose(whole.moments.xy, column.moments.xy, atol=1e-8)
        np.testing.assert_allclose(whole.moments.group_y, column.moments.group_y, atol=1e-8)
        for each in ("weight", "mean", "squares"):
            found, learned = (getattr(c.squares, each) for c in (whole, column))
            np.testing.assert_allclose(found, learned, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(whole.z(rows, values), column.z(rows, values), atol=1e-6)
    followed = plus(~first, one, follow=True)
    np.testing.assert_allclose(followed.reference, followed.model.coef)
    gaps = np.where(first, values, np.nan)
    again = nothing.plus_rows(rows, gaps, layout.groups, False)
    np.testing.assert_allclose(again.moments.xy, one.moments.xy)
    with pytest.raises(UserError, match="decided apart"):
        column.plus(replace(column, middle=column.middle + 1.0))


@pytest.mark.parametrize("groups", [0, 9_000])
def test_of_very_many_rows_some_say_whether_numbers_are_taken_as_logarithms(groups, rng):
    n = 45_000
    own = rng.integers(0, groups, n) if groups else np.full(n, -1)
    rows, layout = (
        ContextRows(sparse.csr_array(np.ones((n, 1))), own),
        FeatureLayout([1], -1, groups),
    )
    skewed, even = np.exp(0.8 * rng.normal(size=n)), 9.0 + rng.normal(size=n)
    assert ColumnContext.learn(rows, skewed, layout)[0].log
    column, _ = ColumnContext.learn(rows, even, layout)
    assert not column.log
    halves = [np.arange(n) < 20_000, np.arange(n) >= 20_000]
    parts = [column.z(rows.take(half), even[half]) for half in halves]
    np.testing.assert_allclose(column.z(rows, even), np.concatenate(parts), rtol=1e-9)
    chosen = _whole_groups(own, groups)
    if groups:
        assert 20_000 <= chosen.sum() <= 20_020
        assert set(own[chosen]).isdisjoint(own[~chosen])
    else:
        assert chosen.tolist() == [k % 2 == 0 for k in range(n)]


def test_growth_by_a_share_is_a_line_of_logarithms(rng):
    rows, steady, layout = over_time(rng, "line")
    column, _ = ColumnContext.learn(rows, np.exp(0.5 * steady), layout)
    assert (column.log, column.form) == (True, "line")
    column, _ = ColumnContext.learn(rows, 20.0 + steady, layout)
    assert (column.log, column.form) == (False, "line")
