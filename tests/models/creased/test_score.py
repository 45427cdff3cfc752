"""CreasedREF computes what its contract says, checked against a second implementation."""

import numpy as np
import pytest

from refold import CreasedREF
from refold.algorithm import kernels
from refold.models.creased import drawing
from refold.models.creased.leverage import (
    Leverage,
    Sums,
    deleted_leverages,
    few_leverages,
    of_parts,
)
from tests.models.creased import oracle


def scores(leverage, creases, X):
    return kernels.leverages(creases.map, leverage.form(creases), X, 1)


@pytest.mark.parametrize("n_creases", [30, 160])  # features fewer and more than rows
@pytest.mark.parametrize(
    ("n_init", "n_levels", "ridge", "alpha", "box"),
    [
        (10_000, 2, 0.01, 0.1, 10.0),
        (10_000, 2, 1.0, 0.1, 0.0),
        (120, 2, 1.0, 0.1, 10.0),
        (300, 1, 0.1, 0.05, 10.0),
        (50, 3, 10.0, 0.25, 2.5),
    ],
)
def test_distances_are_those_of_a_plain_implementation(
    n_creases, n_init, n_levels, ridge, alpha, box, table, new, monkeypatch
):
    monkeypatch.setattr(drawing, "MOST_KNOTS", 10_000)
    table, n_levels = table[:210], n_levels if n_creases == 160 else 2
    options = {"n_init": n_init, "n_levels": n_levels, "ridge": ridge, "alpha": alpha, "box": box}
    model = CreasedREF(n_creases=n_creases, **options).fit(table)
    W, c = model.creases_.directions, model.creases_.offsets
    assert model.scoring_.leverage.dual == (n_creases * n_levels > 210)
    expected = oracle.distances(table, new, W, c, **options)
    np.testing.assert_allclose(-model.score_samples(new), expected, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(new), np.where(expected <= 1, 1, -1))
    assert model.threshold_ == 1.0


def test_creases_are_of_four_kinds_through_rows_and_between_two(table):
    X = table[:40]
    creases = CreasedREF(n_creases=124).fit(X).creases_
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    G = oracle.rank_gauss(Z)(Z)
    i, k = np.triu_indices(40, 1)
    np.testing.assert_allclose(np.linalg.norm(creases.directions, axis=1), 1.0)
    widths = []
    for kind, rows in enumerate((Z, Z, G, G)):
        part = slice(31 * kind, 31 * (kind + 1))
        W, c = creases.directions[part], creases.offsets[part]
        assert (np.abs(rows @ W[:15].T - c[:15]).min(axis=0) < 1e-12).all()  # through a row
        for w, offset in zip(W[15:], c[15:], strict=True):  # halfway between two
            used = w != 0
            normals = (rows[i] - rows[k])[:, used]
            normals /= np.linalg.norm(normals, axis=1, keepdims=True)
            along = np.abs(normals @ w[used]) > 1 - 1e-12
            middles = (rows[i] + rows[k])[along] / 2
            assert np.abs(middles @ w - offset).min() < 1e-12
        widths.append((W != 0).sum(axis=1))
    assert (widths[0] == 4).all()
    assert (widths[2] == 4).all()
    for sparse in (widths[1], widths[3]):
        assert set(sparse) == {1, 2, 3, 4}


@pytest.mark.parametrize("n_creases", [50, 160])
def test_leave_one_out_in_closed_form_is_what_leaving_out_gives(n_creases, table):
    model = CreasedREF(n_creases=n_creases, box=0.0).fit(table)
    Phi = kernels.crease_features(model.creases_.map, table, 1)
    brute = np.sort(oracle.left_out(Phi, 0.01)) / model.scoring_.unit
    assert model.scoring_.leverage.dual == (n_creases == 160)
    np.testing.assert_allclose(model.calibration_.scores, brute, rtol=1e-7)
    assert model.calibration_.source == "leave-one-out"


def assert_pivots(order, Phi, ridge):
    """Each feature is one of most variance that those before it do not explain."""
    centered = Phi - Phi.mean(axis=0)
    left = centered.T @ centered + ridge * np.eye(Phi.shape[1])
    scale = left.diagonal().max()
    for pivot in order:
        assert left[pivot, pivot] >= left.diagonal().max() - 1e-12 * scale
        left = left - np.outer(left[:, pivot], left[pivot]) / left[pivot, pivot]
        left[pivot, pivot] = -np.inf


@pytest.mark.usefixtures("few_are_many")
def test_many_rows_are_scored_by_the_first_and_the_last_quarter_of_the_pivots(
    table, new, monkeypatch
):
    orders, pivots = [], kernels.Scatter.pivots
    monkeypatch.setattr(
        kernels.Scatter, "pivots", lambda *given: orders.append(pivots(*given)) or orders[-1]
    )
    model = CreasedREF(n_creases=50, box=0.0).fit(table)
    Phi, phi = (kernels.crease_features(model.creases_.map, X, 1) for X in (table, new))
    order = orders[0]
    assert_pivots(order[:75], Phi, 0.01)
    first, all_but_last = order[:25], order[:75]

    def expected(score):
        return score(first) + score(order) - score(all_but_last)

    unit = model.scoring_.unit
    judged = expected(lambda used: oracle.scores(Phi[:, used], phi[:, used], 0.01))
    np.testing.assert_allclose(-model.score_samples(new), judged / unit, rtol=1e-7)
    brute = expected(lambda used: oracle.left_out(Phi[:, used], 0.01))
    np.testing.assert_allclose(model.calibration_.scores, np.sort(brute) / unit, rtol=1e-7)
    np.testing.assert_allclose(-model.score_samples(table), brute / unit, rtol=1e-7)


@pytest.mark.parametrize(
    ("rows", "n_creases", "quarters"),
    [(4_999, 256, False), (5_000, 256, True), (5_000, 255, False)],
)
def test_quarters_of_the_pivots_score_from_5000_rows_and_512_features_on(
    rows, n_creases, quarters, rng
):
    X = rng.normal(size=(rows, 3))
    parts = CreasedREF(n_creases=n_creases, n_init=1000).partial_fit(X[:2000]).partial_fit(X[2000:])
    assert (parts.scoring_.leverage.quarters is not None) == quarters


@pytest.mark.parametrize("weight", [0.4, 1.0, 3.0])
@pytest.mark.usefixtures("few_are_many")
def test_a_weighted_row_is_left_out_of_the_quarters_too(weight, table, monkeypatch):
    order = np.random.default_rng(0).permutation(40)  # the same with and without the row
    monkeypatch.setattr(kernels.Scatter, "pivots", lambda *_: order)
    weights = np.where(np.arange(300) % 3 == 0, weight, 1.0)
    creases = CreasedREF(n_creases=20).fit(table).creases_
    leverage = Leverage.of(Sums.of(creases, table, weights), 0.01)
    less = weights.copy()
    less[0] = max(weight - 1.0, 0.0)
    brute = scores(Leverage.of(Sums.of(creases, table, less), 0.01), creases, table[:1])
    forms = leverage.form(creases), *leverage.learned_forms(creases)
    found = (kernels.leverages(creases.map, form, table[:1], 1) for form in forms)
    direct = of_parts(lambda h: deleted_leverages(h, weights[:1]), *found)
    np.testing.assert_allclose(direct, brute, rtol=1e-8)


def test_a_weighted_row_is_left_out_once_or_wholly_if_it_weighs_less(table):
    weights = np.where(np.arange(60) % 3 == 0, 2.5, 0.5)
    model = CreasedREF(n_creases=20).fit(table[:60], sample_weight=weights)
    creases, ones = model.creases_, np.ones(1)
    whole = Sums.of(creases, table[:60], weights)
    leverage = Leverage.of(whole, 1.0)
    for i in (0, 1):
        less = weights.copy()
        less[i] = max(less[i] - 1.0, 0.0)
        without = Leverage.of(Sums.of(creases, table[:60], less), 1.0)
        brute = scores(without, creases, table[[i]])[0]
        direct = deleted_leverages(scores(leverage, creases, table[[i]]), ones * weights[i])[0]
        np.testing.assert_allclose(direct, brute, rtol=1e-9)


def test_dual_and_primal_are_the_same_score(table, new):
    model = CreasedREF(n_creases=200).fit(table)
    few = model.sums_
    many = Sums(few.weight, few.total, few.rows[:0], few.counts[:0], few.products())
    dual, primal = Leverage.of(few, 1.0), Leverage.of(many, 1.0)
    assert dual.dual
    assert not primal.dual
    found = [scores(each, model.creases_, new) for each in (dual, primal)]
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_few_rows_are_scored_without_a_factor_to_the_same(table, new, rng):
    weights = rng.uniform(0.2, 3.0, len(table))
    model = CreasedREF(n_creases=200).fit(table, sample_weight=weights)
    sums, creases = model.sums_, model.creases_
    learned, others = few_leverages(sums, kernels.crease_features(creases.map, new, 1), 1.0)
    leverage = Leverage.of(sums, 1.0)
    np.testing.assert_allclose(learned, scores(leverage, creases, table), rtol=1e-9)
    np.testing.assert_allclose(others, scores(leverage, creases, new), rtol=1e-9)


def test_few_rows_unlike_those_that_made_the_creases_are_scored_to_the_same(table, new):
    creases, rows = CreasedREF(n_creases=200).fit(table).creases_, table[:100] + 3.0
    sums = Sums.of(creases, rows, np.ones(100))
    learned, others = few_leverages(sums, kernels.crease_features(creases.map, new, 1), 1.0)
    leverage = Leverage.of(sums, 1.0)
    assert np.abs(leverage.center).max() > 0.5
    np.testing.assert_allclose(learned, scores(leverage, creases, rows), rtol=1e-9)
    np.testing.assert_allclose(others, scores(leverage, creases, new), rtol=1e-9)


def test_p_values_count_the_leave_one_out_scores_that_are_as_large(table, new):
    model = CreasedREF(n_creases=30).fit(table)
    d = -model.score_samples(new)
    at_least = (model.calibration_.scores[None] >= d[:, None]).sum(axis=1)
    np.testing.assert_allclose(model.p_values(new), (1 + at_least) / 301)


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.3])
def test_the_share_of_new_normal_rows_that_is_rejected_is_alpha(alpha, rng):
    mixing = rng.normal(size=(5, 5))
    shares = []
    for seed in range(4):
        X = rng.normal(size=(1500, 5)) @ mixing
        model = CreasedREF(n_creases=64, alpha=alpha, random_state=seed).fit(X[:500])
        shares.append((model.predict(X[500:]) == -1).mean())
    assert np.mean(shares) == pytest.approx(alpha, abs=0.01 + 0.25 * alpha)


def test_calibrating_on_held_out_rows_sets_another_threshold_until_more_is_learned(table, rng):
    held = table[200:]
    model = CreasedREF(n_creases=30).fit(table[:200])
    model.calibrate(held, alpha=0.2)
    assert model.calibration_.source == "held-out"
    assert (model.predict(held) == -1).mean() == pytest.approx(0.2, abs=0.011)
    model.partial_fit(table[200:])
    assert model.threshold_ == 1.0
    assert model.calibration_.source == "leave-one-out"
    assert model.calibrate(alpha=0.3).threshold_ < 1.0


def test_dependence_that_no_single_feature_shows_is_seen(rng):
    x = rng.normal(size=1000)
    model = CreasedREF().fit(np.column_stack([x, x + 0.05 * rng.normal(size=1000)]))
    assert model.predict([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]).tolist() == [1, -1, -1]


def test_far_rows_are_the_further_the_further_they_are(table):
    model = CreasedREF().fit(table)
    d = -model.score_samples(table[:1] + np.array([[10.0], [100.0], [1e4], [1e5]]))
    assert (np.diff(d) > 0).all()


@pytest.mark.parametrize(("alpha", "calibrating"), [(0.1, 20_000), (0.005, 30_000)])
def test_of_many_rows_enough_are_calibrated_on_and_the_rate_holds(rng, alpha, calibrating):
    rows, new = rng.standard_t(4, size=(2, 30_000, 3))
    model = CreasedREF(n_creases=16, alpha=alpha).fit(rows)
    assert model.calibration_.total == calibrating
    off = np.sqrt(alpha * (1.0 - alpha) * (1.0 / calibrating + 1.0 / len(new)))
    assert abs(np.mean(model.predict(new) == -1) - alpha) < 4.0 * off


def test_rows_that_count_for_nothing_are_not_calibrated_on(rng):
    rows = rng.normal(size=(25_000, 2))
    weights = np.r_[np.zeros(10_000), np.full(15_000, 2.0)]
    model = CreasedREF(n_creases=16).fit(rows, sample_weight=weights)
    assert model.calibration_.total == 30_000.0


@pytest.mark.parametrize("trim", [0.0, 0.05])
def test_the_rows_that_are_kept_have_their_own_leave_one_out_distances(trim, rng):
    X, weights = rng.normal(size=(25_000, 2)), rng.integers(0, 3, size=25_000).astype(float)
    model = CreasedREF(n_creases=16, box=0.0, trim=trim).fit(X, sample_weight=weights)
    scoring, state = model.scoring_, model._learned.state
    assert len(state.sample.rows) == 10_000
    h = scores(scoring.leverage, scoring.creases, state.sample.rows)
    expected = h / (1.0 - np.minimum(state.kept, 1.0) * h) / scoring.unit
    np.testing.assert_allclose(scoring.left_out, expected, rtol=1e-12)
