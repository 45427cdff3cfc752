"""The sketch: one pass, the same bins whatever the order, and nearly the exact model."""

import dataclasses
import functools
import pickle
import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from refold import REF, merge
from refold.algorithm.engines import exact, sketch
from refold.algorithm.engines.sketch import GrowingSketch, Sketch
from tests.conftest import assert_same_histogram
from tests.tables import adbench_files, load_adbench

GENERATORS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "bimodal": lambda rng, n: rng.normal(size=n) + 8.0 * rng.integers(2, size=n),
    "t(3)": lambda rng, n: rng.standard_t(3, size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "zero-inflated": lambda rng, n: rng.exponential(size=n) * (rng.random(n) < 0.5),
    "Poisson": lambda rng, n: rng.poisson(4.0, size=n).astype(float),
    "rounded": lambda rng, n: np.round(rng.normal(size=n), 2),
    "timestamps": lambda rng, n: 1.7e9 + rng.integers(0, 30_000_000, size=n),
    "stretched": lambda rng, n: np.where(rng.random(n) < 1e-5, 1e4, rng.normal(size=n)),
    "Cauchy": lambda rng, n: rng.standard_cauchy(size=n),
}
RECIPE = {"n_iter": 101, "fold": "abs", "max_gain": 1e6}


@pytest.mark.parametrize("name", GENERATORS)
def test_fewer_than_one_label_in_ten_thousand_differs_from_the_exact_engine(name, rng):
    draw = functools.partial(GENERATORS[name], rng)
    train = draw(1_000_000)
    spread = np.ptp(train)
    sweep = np.linspace(train.min() - spread / 2, train.max() + spread / 2, 100_000)
    new = np.concatenate([draw(100_000), sweep])[:, None]
    labels = [
        exact.distances(engine.learn(train[:, None], None, **RECIPE), new, "l1", path=False) <= 1
        for engine in (exact, sketch)
    ]
    assert (labels[0] != labels[1]).sum() < len(new) / 10_000


@pytest.mark.parametrize("name", GENERATORS)
def test_columns_that_come_in_parts_are_sketched_as_in_one(name, rng):
    X = np.column_stack([GENERATORS[name](rng, 30_000), rng.normal(size=30_000)])
    X[rng.random(X.shape) < 0.01] = np.nan
    growing, added = GrowingSketch(2, sketch.N_BINS), Sketch.of(X[:0])
    for part in np.split(X, [1, 1, 500, 9000, 9001, 20_000]):
        growing.add(part.T)
        added = added.plus(Sketch.of(part))
    whole = Sketch.of(X)
    for parts in (growing.sketch(), added):
        assert (parts.rows, parts.weight) == (whole.rows, whole.weight)
        for a, b in zip(parts.histograms, whole.histograms, strict=True):
            assert_same_histogram(a, b)


def assert_same_auroc(train, test, is_target):
    for levels in ("last", "all"):
        scores = [
            REF(engine=engine, levels=levels).fit(train).score_samples(test)
            for engine in ("exact", "sketch")
        ]
        exact_auroc, sketch_auroc = (roc_auc_score(is_target, s) for s in scores)
        assert abs(exact_auroc - sketch_auroc) < 1e-3


def test_ranks_the_papers_tasks_as_the_exact_engine_does(paper_tasks):
    for train, test, is_target in paper_tasks.values():
        assert_same_auroc(train, test, is_target)


NO_ADBENCH = [pytest.param(None, marks=pytest.mark.skip("ADBench's data is not here"))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "file", adbench_files() or NO_ADBENCH, ids=lambda f: getattr(f, "stem", "none")
)
def test_ranks_adbench_as_the_exact_engine_does(file, rng):
    X, anomaly = load_adbench(file)
    normal = rng.permutation(np.flatnonzero(~anomaly))
    train, rest = normal[: len(normal) // 2], normal[len(normal) // 2 :]
    test = np.concatenate([rest, np.flatnonzero(anomaly)])
    assert_same_auroc(X[train], X[test], ~anomaly[test])


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 300))
    scales = 10.0 ** rng.uniform(-8, 8, size=4)
    X = rng.standard_t(2, size=(n, 4)) * scales + rng.normal(size=4) * scales * 100
    X[:, 3] = rng.integers(-5, 5, size=n)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[0] = rng.normal(size=4)  # nothing is missing altogether
    return X


@given(tables(), st.data())
def test_any_order_chunks_and_merge_tree_give_the_same_bins_and_counts(X, data):
    n_bins = data.draw(st.sampled_from([16, 100, 8192]))
    whole = Sketch.of(X, n_bins=n_bins)
    order = data.draw(st.permutations(range(len(X))))
    cuts = sorted(data.draw(st.lists(st.integers(1, len(X) - 1), max_size=5, unique=True)))
    parts = [Sketch.of(p, n_bins=n_bins) for p in np.split(X[list(order)], cuts)]
    while len(parts) > 1:
        i = data.draw(st.integers(0, len(parts) - 2))
        parts[i : i + 2] = [parts[i + 1].plus(parts[i])]
    for a, b in zip(whole.histograms, parts[0].histograms, strict=True):
        assert_same_histogram(a, b)
        assert len(a.bins) <= n_bins
    assert (parts[0].rows, parts[0].weight) == (len(X), len(X))


@given(tables())
def test_the_exponent_is_the_smallest_that_fits(X):
    for h in Sketch.of(np.tile(X, (40, 1)), n_bins=64).histograms:
        finer = 2.0 ** (h.exponent - 1)
        too_fine = max(abs(h.low), abs(h.high)) / finer >= 2.0**50
        assert too_fine or np.floor(h.high / finer) - np.floor(h.low / finer) >= 64


@given(tables(), st.data())
def test_forgetting_undoes_learning_at_the_width_that_the_union_needed(X, data):
    cut = data.draw(st.integers(1, len(X) - 1))
    n_bins = data.draw(st.sampled_from([16, 8192]))
    kept, other = Sketch.of(X[:cut], n_bins=n_bins), Sketch.of(X[cut:], n_bins=n_bins)
    both = kept.plus(other)
    again = both.minus(other)
    for a, b, union in zip(kept.histograms, again.histograms, both.histograms, strict=True):
        a = a.coarsened(union.exponent)
        assert (a.exponent, a.missing, a.rows) == (b.exponent, b.missing, b.rows)
        np.testing.assert_array_equal(a.bins, b.bins)
        np.testing.assert_array_equal(a.counts, b.counts)
        np.testing.assert_allclose(a.positions, b.positions, atol=1e-9)


@given(tables(), st.data())
def test_integer_weights_are_repeated_rows(X, data):
    n = len(X)
    weights = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), dtype=float)
    weights[0] = 1.0
    repeated = np.repeat(X, weights.astype(int), axis=0)
    pairs = zip(Sketch.of(X, weights).histograms, Sketch.of(repeated).histograms, strict=True)
    for a, b in pairs:
        assert_same_histogram(a, dataclasses.replace(b, rows=a.rows))


@pytest.mark.parametrize("values", [[3.0], [0.0], [0.1, 0.1], [-7.0, 2.0, 2.0, 5000.0]])
def test_values_that_stand_alone_in_their_bin_are_kept_exactly(values):
    histogram = Sketch.of(np.array(values)[:, None]).histograms[0]
    np.testing.assert_array_equal(histogram.centroids()[0], np.unique(values))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layout_and_threads_change_no_count(order, dtype, rng):
    X = np.asarray(rng.normal(size=(20_000, 19)), dtype=dtype, order=order)
    one = Sketch.of(np.ascontiguousarray(X, dtype=float), n_jobs=1)
    for other in (Sketch.of(X, n_jobs=3), Sketch.of(np.repeat(X, 2, axis=0)[::2], n_jobs=2)):
        for a, b in zip(one.histograms, other.histograms, strict=True):
            assert_same_histogram(a, b)
            np.testing.assert_array_equal(a.positions, b.positions)


def counted_plainly(values, weights, exponent):
    """Bins, counts and positions by NumPy alone."""
    places = values / 2.0**exponent
    floors = np.where((places == 0.0) & (values < 0.0), -1.0, np.floor(places))
    bins, group = np.unique(floors.astype(int), return_inverse=True)
    return bins, np.bincount(group, weights), np.bincount(group, weights * (places - floors))


CROWDED = {
    "constant": lambda rng, n: np.full(n, 0.1),
    "few values": lambda rng, n: rng.choice([-1e-3, 0.1, 0.7], size=n),
    "then far away": lambda rng, n: np.where(np.arange(n) < n - 3, rng.normal(size=n), 1e6),
    "tiny beside huge": lambda rng, n: np.where(rng.random(n) < 0.5, -5e-324, 1e300),
    "signed zeros": lambda rng, n: rng.choice([-0.0, 0.0, 9e4], size=n),
    "normal": lambda rng, n: rng.normal(size=n),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_bins", [16, 100, 8192])
@pytest.mark.parametrize("name", CROWDED)
def test_crowded_bins_are_counted_as_numpy_counts_them(name, n_bins, weighted, rng):
    x = CROWDED[name](rng, 20_011)  # many more rows in a bin than one word can count
    weights = rng.integers(0, 3, size=len(x)).astype(float) if weighted else None
    gaps = rng.random(len(x)) < 0.01
    X = np.where(gaps, np.nan, x)[:, None]
    histogram = Sketch.of(X, weights, n_bins=n_bins).histograms[0]
    w = np.ones(len(x)) if weights is None else weights
    used = ~gaps & (w > 0.0)
    bins, counts, positions = counted_plainly(x[used], w[used], histogram.exponent)
    np.testing.assert_array_equal(histogram.bins, bins)
    np.testing.assert_array_equal(histogram.counts, counts)
    np.testing.assert_allclose(histogram.positions, positions, rtol=1e-9, atol=1e-9)
    assert (histogram.rows, histogram.missing) == (used.sum(), w[gaps].sum())
    assert (histogram.low, histogram.high) == (x[used].min(), x[used].max())


@pytest.mark.parametrize("direction", [1, -1])
def test_a_range_that_keeps_growing_is_followed(direction):
    X = (direction * np.logspace(-300, 300, 20_000))[:, None]
    histogram = Sketch.of(X).histograms[0]
    assert histogram.counts.sum() == histogram.rows == 20_000
    assert_same_histogram(histogram, Sketch.of(X[::-1]).histograms[0])
    assert (histogram.low, histogram.high) == (X.min(), X.max())


def test_partial_fit_is_fit_on_all_rows(rng):
    X = rng.normal(size=(3000, 3))
    X[::7, 1] = np.nan
    whole = REF(engine="sketch").fit(X)
    parts = REF(engine="sketch")
    for chunk in np.array_split(X, 13):
        parts.partial_fit(chunk)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    np.testing.assert_allclose(parts.score_samples(X), whole.score_samples(X), rtol=1e-9)


def test_fit_starts_anew_and_partial_fit_goes_on(rng):
    A, B = rng.normal(size=(500, 2)), rng.normal(3.0, 1.0, size=(500, 2))
    model = REF(engine="sketch").fit(A).partial_fit(B)
    assert model.sketch_.rows == 1000
    assert model.fit(A).sketch_.rows == 500


def test_forget_is_the_model_without_those_rows(rng):
    A, B = rng.normal(size=(5000, 2)), rng.normal(size=(800, 2))
    model = REF(engine="sketch").fit(A).partial_fit(B).forget(B)
    np.testing.assert_allclose(
        model.score_samples(A), REF(engine="sketch").fit(A).score_samples(A), atol=1e-2
    )


def test_forgetting_what_was_never_learned_is_refused_and_changes_nothing(rng):
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["speed", "heat"])
    model = REF(engine="sketch").fit(frame)
    before = model.score_samples(frame)
    stranger = frame[:1].assign(heat=frame["heat"][0] + 1e-3)
    for rows in (stranger, frame[:1].assign(heat=1e9), frame[:1].assign(heat=np.nan)):
        with pytest.raises(ValueError, match=r"column 'heat' would count below zero.*nothing"):
            model.forget(rows)
    np.testing.assert_array_equal(model.score_samples(frame), before)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_weights_that_are_not_whole_numbers_can_be_forgotten_in_any_order(size, rng):
    X = rng.integers(0, 5, size=(300, 2)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    weights, order = size * rng.random(300), rng.permutation(300)
    whole = Sketch.of(X, weights)
    nothing = whole.minus(Sketch.of(X[order], weights[order]))
    assert [len(h.bins) for h in nothing.histograms] == [0, 0]
    assert [h.missing for h in nothing.histograms] == pytest.approx([0.0, 0.0], abs=1e-12 * size)
    a, b = order[:100], order[100:]
    kept = whole.minus(Sketch.of(X[a], weights[a]))
    for left, right in zip(kept.histograms, Sketch.of(X[b], weights[b]).histograms, strict=True):
        np.testing.assert_allclose(left.centroids(), right.centroids(), rtol=1e-12)


def test_a_chunk_that_fails_leaves_the_model_as_it_was(rng):
    X = rng.normal(size=(300, 2))
    model = REF(engine="sketch").partial_fit(X)
    scores, bad = model.score_samples(X), X.copy()
    bad[250, 1] = np.inf
    with pytest.raises(ValueError, match="row 250, column 'x1'"):
        model.partial_fit(bad)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :1])
    np.testing.assert_array_equal(model.score_samples(X), scores)
    assert model.sketch_.rows == 300


def test_one_row_is_enough_for_a_chunk_but_not_for_a_model():
    model = REF(engine="sketch").partial_fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="at least 2 rows"):
        model.predict([[1.0, 2.0]])
    assert model.partial_fit([[1.5, 2.5]]).predict([[1.2, 2.1]]) == 1


def test_a_column_may_be_missing_from_a_chunk_but_not_from_all():
    model = REF(engine="sketch").partial_fit([[1.0, np.nan], [2.0, np.nan]])
    with pytest.raises(ValueError, match="Nothing is observed in column 'x1'"):
        model.predict([[1.0, 2.0]])
    assert model.partial_fit([[1.0, 5.0], [1.5, 6.0]]).predict([[1.2, 5.5]]) == 1


@pytest.mark.parametrize("engine", ["auto", "exact", "reference"])
def test_only_the_sketch_can_go_on_learning(engine, rng):
    model = REF(engine=engine).fit(rng.normal(size=(10, 2)))
    assert not hasattr(model, "partial_fit")
    assert not hasattr(model, "forget")


@pytest.mark.threads
def test_threads_that_ask_at_once_get_one_chain(rng):
    X = rng.normal(size=(2000, 8))
    model = REF(engine="sketch").partial_fit(X)
    chains = []
    threads = [threading.Thread(target=lambda: chains.append(model.chain_)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(chains) == 8
    assert all(chain is chains[0] for chain in chains)


def test_merged_models_are_one_model_of_all_rows(rng):
    X = rng.normal(size=(4000, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    sites = [REF(engine="sketch").fit(part) for part in (frame[:500], frame[500:900], frame[900:])]
    merged = merge(*sites)
    whole = REF(engine="sketch").fit(frame)
    for a, b in zip(whole.sketch_.histograms, merged.sketch_.histograms, strict=True):
        assert_same_histogram(a, b)
    np.testing.assert_array_equal(merged.predict(frame), whole.predict(frame))
    assert sites[0].sketch_.rows == 500
    assert merged.feature_names_in_.tolist() == ["a", "b", "c"]


def test_models_that_do_not_fit_together_are_refused_by_name(rng):
    X = rng.normal(size=(50, 2))
    model = REF(engine="sketch").fit(X)
    with pytest.raises(ValueError, match="n_iter=101 and 5"):
        merge(model, REF(engine="sketch", n_iter=5).fit(X))
    with pytest.raises(ValueError, match="engine='exact'"):
        merge(model, REF().fit(X))
    with pytest.raises(ValueError, match="different columns"):
        merge(model, REF(engine="sketch").fit(rng.normal(size=(50, 3))))
    named = [REF(engine="sketch").fit(pd.DataFrame(X, columns=list(c))) for c in ("ab", "ba")]
    with pytest.raises(ValueError, match=r"different columns: \['a', 'b'\] and \['b', 'a'\]"):
        merge(*named)
    with pytest.raises(ValueError, match="at least one"):
        merge()


def test_auto_turns_to_the_sketch_for_many_rows(rng):
    X = rng.normal(size=(250_000, 1))  # as docs/sketch.md says
    assert REF().fit(X).engine_ == "sketch"
    assert REF().fit(X[:-1]).engine_ == "exact"
    assert REF(fold=np.abs, n_iter=2).fit(X).engine_ == "reference"


def test_a_sketched_model_survives_pickling_and_learns_on(rng):
    X = rng.normal(size=(400, 2))
    model = pickle.loads(pickle.dumps(REF(engine="sketch").partial_fit(X)))
    np.testing.assert_array_equal(
        model.partial_fit(X).predict(X), REF(engine="sketch").fit(np.vstack([X, X])).predict(X)
    )


def test_memory_does_not_grow_with_the_rows(rng):
    model = REF(engine="sketch", n_bins=256)
    sizes = []
    for _ in range(30):
        model.partial_fit(rng.standard_cauchy(size=(1000, 2)))
        sizes.append(sum(len(h.bins) for h in model.sketch_.histograms))
    assert max(sizes) <= 512
