"""Chunks, sites and weights add up; what is random is repeatable."""

import pickle
import tracemalloc

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from refold import REF, CreasedREF, merge
from refold.models.creased import row_sample


def assert_same_model(a, b, new):
    """Two models that differ by rounding only."""
    assert a.sums_.weight == pytest.approx(b.sums_.weight)
    np.testing.assert_allclose(a.sums_.total, b.sums_.total, rtol=1e-8, atol=1e-8)
    lower = np.tril_indices(len(a.sums_.total))
    np.testing.assert_allclose(
        a.sums_.products()[lower], b.sums_.products()[lower], rtol=1e-8, atol=1e-8
    )
    np.testing.assert_allclose(a.score_samples(new), b.score_samples(new), rtol=1e-8)
    np.testing.assert_allclose(a.p_values(new), b.p_values(new), rtol=1e-8)


def chunked(model, X, cuts, weights=None):
    parts = np.split(np.arange(len(X)), cuts)
    for part in parts:
        model.partial_fit(X[part], sample_weight=None if weights is None else weights[part])
    return model


@pytest.mark.parametrize("n_creases", [20, 200])
@pytest.mark.parametrize("cuts", [[1, 2, 50, 51], [100], [99, 101, 299], []])
def test_chunks_give_the_model_of_all_rows(n_creases, cuts, table, new):
    whole = CreasedREF(n_creases=n_creases, n_init=100, alpha=0.1).fit(table)
    parts = chunked(CreasedREF(n_creases=n_creases, n_init=100, alpha=0.1), table, cuts)
    assert_same_model(whole, parts, new)
    assert parts.summary_.rows == whole.summary_.rows == 300
    np.testing.assert_array_equal(parts.summary_.high, table.max(axis=0))


def test_sites_that_share_the_creases_merge_into_the_model_of_all_rows(table, new):
    whole = CreasedREF(n_creases=100, n_init=100).fit(table)
    here = CreasedREF(n_creases=100, n_init=100).fit(table[:150])
    there = here.empty_like().partial_fit(table[150:200]).partial_fit(table[200:270])
    elsewhere = pickle.loads(pickle.dumps(here.empty_like())).partial_fit(table[270:])
    before = joblib.hash((here, there, elsewhere))
    merged = merge(here, there, elsewhere)
    assert joblib.hash((here, there, elsewhere)) == before
    assert_same_model(whole, merged, new)
    assert merged.summary_.rows == 300
    assert_same_model(
        merge(elsewhere, here, there).partial_fit(new),
        chunked(CreasedREF(n_creases=100, n_init=100), np.vstack([table, new]), []),
        new,
    )


def test_only_models_that_share_their_creases_merge(table):
    model = CreasedREF(n_creases=20, n_init=100).fit(table)
    with pytest.raises(ValueError, match=r"Models 0 and 1 have different creases.*empty_like"):
        merge(model, CreasedREF(n_creases=20, n_init=100).fit(table[50:]))
    with pytest.raises(ValueError, match=r"Model 1 has learned 40 of n_init=100 rows"):
        merge(model, CreasedREF(n_creases=20, n_init=100).partial_fit(table[:40]))
    with pytest.raises(ValueError, match="different kinds: CreasedREF and REF"):
        merge(model, REF(engine="sketch").fit(table))
    with pytest.raises(ValueError, match=r"ridge=0\.01 and 2\.0"):
        merge(model, model.empty_like().set_params(ridge=2.0))


def test_an_empty_model_says_that_it_has_learned_nothing(table):
    model = CreasedREF(n_creases=20).fit(table).empty_like()
    for ask in (model.predict, model.score_samples, lambda _: model.summary_):
        with pytest.raises(ValueError, match="has not learned any rows yet: call partial_fit"):
            ask(table)
    with pytest.raises(ValueError, match="40 of n_init=500"):
        CreasedREF(n_init=500).partial_fit(table[:40]).empty_like()


def test_asking_before_the_creases_are_final_answers_and_freezes_nothing(table, new):
    model = CreasedREF(n_creases=20, n_init=200).partial_fit(table[:120])
    early = CreasedREF(n_creases=20, n_init=200).fit(table[:120])
    np.testing.assert_allclose(model.score_samples(new), early.score_samples(new), rtol=1e-9)
    model.partial_fit(table[120:])
    assert_same_model(model, CreasedREF(n_creases=20, n_init=200).fit(table), new)


def test_learning_can_go_on_after_fit_with_its_creases(table, new):
    model = CreasedREF(n_creases=20).fit(table[:100])
    creases = model.creases_
    model.partial_fit(table[100:])
    assert model.creases_ is creases
    assert_same_model(model, CreasedREF(n_creases=20, n_init=100).fit(table), new)


def test_a_chunk_that_the_caller_overwrites_stays_learned(table, new):
    chunk = table[:50].copy()
    model = CreasedREF(n_creases=20).partial_fit(chunk)
    chunk[:] = 0.0
    expected = CreasedREF(n_creases=20).fit(table[:50])
    np.testing.assert_allclose(model.score_samples(new), expected.score_samples(new), rtol=1e-9)


@pytest.mark.parametrize("n_init", [10_000, 70])
@pytest.mark.parametrize("holes", [False, True])
def test_weights_count_rows(n_init, holes, table, new, rng):
    if holes:
        table[rng.random(table.shape) < 0.1] = np.nan
    weights = rng.integers(4, size=300)
    weighted = CreasedREF(n_creases=30, n_init=n_init).fit(table, sample_weight=weights)
    repeated = CreasedREF(n_creases=30, n_init=n_init).fit(np.repeat(table, weights, axis=0))
    np.testing.assert_allclose(weighted.score_samples(new), repeated.score_samples(new), rtol=1e-8)
    np.testing.assert_allclose(weighted.p_values(new), repeated.p_values(new), rtol=1e-8)
    parts = chunked(CreasedREF(n_creases=30, n_init=n_init), table, [13, 40, 200], weights)
    np.testing.assert_allclose(weighted.score_samples(new), parts.score_samples(new), rtol=1e-8)


def test_the_order_of_the_first_rows_does_not_matter(table, new, rng):
    a = CreasedREF(n_creases=30).fit(table)
    b = CreasedREF(n_creases=30).fit(table[rng.permutation(300)])
    np.testing.assert_allclose(a.score_samples(new), b.score_samples(new), rtol=1e-8)


def test_one_seed_gives_the_same_bits_and_another_other_creases(table, new):
    def scores(seed, learn="fit"):
        return getattr(CreasedREF(n_jobs=1, random_state=seed), learn)(table).score_samples(new)

    np.testing.assert_array_equal(scores(3), scores(3))
    np.testing.assert_array_equal(scores(np.random.RandomState(3)), scores(3))
    np.testing.assert_array_equal(scores(3, "partial_fit"), scores(3, "partial_fit"))
    assert (scores(3) != scores(4)).all()
    assert (scores(None) != scores(None)).all()


def test_partial_fit_calibrates_on_a_uniform_sample(monkeypatch, rng):
    monkeypatch.setattr(row_sample, "SIZE", 400)
    X = rng.normal(size=(3000, 3))
    models = [
        chunked(CreasedREF(n_creases=20, n_init=500), X, cuts) for cuts in ([], [100, 101, 2000])
    ]
    kept = [model._learned.state.sample.rows for model in models]
    np.testing.assert_array_equal(kept[0], kept[1])  # whatever the chunks
    places = np.flatnonzero((X[:, None, 0] == kept[0][None, :, 0]).any(axis=1))
    assert len(places) == 400
    assert np.histogram(places, bins=6, range=(0, 3000))[0].min() > 40
    whole = CreasedREF(n_creases=20, n_init=500).fit(X)
    np.testing.assert_allclose(models[0].scoring_.unit, whole.scoring_.unit, rtol=0.2)
    there = whole.empty_like().partial_fit(X[:1000])
    both = merge(models[0].empty_like().partial_fit(X[1000:]), there)._learned.state.sample
    from_there = (both.rows[:, None, 0] == X[None, :1000, 0]).any(axis=1).sum()
    assert 90 < from_there < 180  # a third of the rows, a third of the sample


def test_memory_does_not_grow_with_the_rows(rng):
    def peak(rows, learn):
        X = rng.normal(size=(rows, 5)).astype(np.float32)
        tracemalloc.start()
        learn(CreasedREF(n_creases=32, n_init=1000, n_jobs=1), X)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    def in_chunks(model, X):
        for begin in range(0, len(X), 2000):
            model.partial_fit(X[begin : begin + 2000])
        model.predict(X[:10])

    few, many = peak(15_000, in_chunks), peak(45_000, in_chunks)
    assert many < 1.05 * few
    # fit keeps one score per row (of 2¹⁸ at once), never a copy of the table
    few, many = (peak(rows, CreasedREF.fit) for rows in (15_000, 45_000))
    assert (many - few) / 30_000 < 100


@pytest.mark.parametrize("rows", [1, 2, 3, 9, 40, 64, 65, 127, 128, 129])
@pytest.mark.parametrize("n_creases", [20, 256])
@pytest.mark.parametrize("columns", [4, 70])
def test_a_row_alone_gets_the_bits_it_got_among_others(rows, n_creases, columns, table, rng):
    table = np.concatenate([table, rng.normal(size=(len(table), columns - 4))], axis=1)
    table[rng.random(table.shape) < 0.1] = np.nan
    table[np.isnan(table).all(axis=1)] = 0.0
    model = CreasedREF(n_creases=n_creases).fit(table)
    among = model.score_samples(table)
    for begin in (3, 170):
        part = slice(begin, begin + rows)
        np.testing.assert_array_equal(model.score_samples(table[part]), among[part])
    np.testing.assert_array_equal(model.score_samples(table[::-1]), among[::-1])


def test_scoring_changes_nothing_in_the_model(table):
    model = CreasedREF(n_creases=20).fit(table)
    before = joblib.hash(model), sorted(vars(model))
    for method in ("predict", "score_samples", "decision_function", "p_values", "_reasons"):
        getattr(model, method)(table)
    assert (joblib.hash(model), sorted(vars(model))) == before


def test_a_model_survives_pickling_and_cloning(table, new):
    model = CreasedREF(n_creases=20).fit(table)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.score_samples(new), model.score_samples(new))
    assert_same_model(again.partial_fit(new), model.partial_fit(new), new)
    assert clone(model).get_params() == model.get_params()


def test_tables_of_any_kind_give_the_same_model(table, new):
    import pandas as pd
    import polars as pl

    names = ["a", "b", "c", "d"]
    plain = CreasedREF(n_creases=20).fit(table).score_samples(new)
    for frame in (lambda X: pd.DataFrame(X, columns=names), lambda X: pl.DataFrame(X, names)):
        model = CreasedREF(n_creases=20).fit(frame(table))
        np.testing.assert_array_equal(model.score_samples(frame(new)), plain)
        assert list(model.feature_names_in_) == names
        assert list(model.empty_like().feature_names_in_) == names
    single = table.astype(np.float32)
    np.testing.assert_array_equal(
        CreasedREF(n_creases=20).fit(single).score_samples(new),
        CreasedREF(n_creases=20).fit(single.astype(np.float64)).score_samples(new),
    )
    np.testing.assert_allclose(
        CreasedREF(n_creases=20).fit(np.asfortranarray(table)).score_samples(new), plain, rtol=1e-9
    )


def test_more_rows_get_more_creases_unless_told_otherwise(rng):
    X = rng.normal(size=(5_000, 2))
    counts = [len(CreasedREF(n_levels=1).fit(X[:n]).creases_.offsets) for n in (300, 4_999, 5_000)]
    assert counts == [256, 256, 512]
    assert len(CreasedREF(n_creases=40).fit(X).creases_.offsets) == 40
    # The rows that creases are made from count, in whatever chunks they come.
    stream = CreasedREF(n_levels=1, n_init=400).partial_fit(X)
    assert len(stream.creases_.offsets) == 256
