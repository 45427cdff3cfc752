"""Rows that look least like the rest are left out of training, by every estimator."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

import refold
from refold import REF, CreasedREF, Detector, merge
from refold.models import ref_trim
from refold.models.trim import Cut

MODELS = {
    "REF": lambda **o: REF(**o),
    "REF, rate": lambda **o: REF(alpha=0.1, **o),
    "REF, reference": lambda **o: REF(engine="reference", levels="all", **o),
    "REF, sketch": lambda **o: REF(engine="sketch", **o),
    "CreasedREF": lambda **o: CreasedREF(n_creases=64, **o),
    "Detector": lambda **o: Detector(alpha=0.1, **o),
    "Detector, ref": lambda **o: Detector(alpha=0.1, method="ref", **o),
}
STREAMS = {name: MODELS[name] for name in ("REF, sketch", "CreasedREF", "Detector")}
WEIGHTED = {name: MODELS[name] for name in MODELS if not name.startswith("Detector")}

pytestmark = pytest.mark.filterwarnings("ignore::refold.RateWarning")


@pytest.fixture
def rows(rng):
    """Correlated normal rows; the last 20 of 400 are far off, in no common direction."""
    X = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5))
    X[380:] += 12.0 * rng.choice([-1.0, 1.0], size=(20, 5))
    return X


def trimmed_finding(model):
    return [found for found in model.noticed_ if found.kind == "trimmed"]


def test_the_cut_is_where_a_sorted_list_has_it(rng):
    for _ in range(50):
        odd = rng.integers(0, 30, size=60).astype(float)
        weights = rng.integers(0, 4, size=60).astype(float)
        share = rng.uniform(0.0, 0.5)
        each = np.sort(np.repeat(odd, weights.astype(int)))[::-1]
        last_kept = each[int(np.floor(share * len(each) * (1 + 1e-12)))]
        assert Cut.of(odd, weights, share).limit == last_kept


@pytest.mark.parametrize("make", MODELS)
def test_what_is_left_out_is_named_and_counted(make, rows):
    model = MODELS[make](trim=0.1).fit(rows)
    assert len(model.dropped_) == 40
    assert set(range(380, 400)) <= set(model.dropped_.tolist())
    (found,) = trimmed_finding(model)
    assert found.values == (40.0, 400.0)
    assert found.rows == tuple(model.dropped_[:10])
    assert len(MODELS[make]().fit(rows).dropped_) == 0


@pytest.mark.parametrize("make", STREAMS)
def test_rows_that_come_in_parts_and_sites_have_no_numbers(make, rows):
    model = STREAMS[make]().partial_fit(rows[:200]).partial_fit(rows[200:])
    assert model.dropped_.tolist() == []
    whole = STREAMS[make](trim=0.1).fit(rows)
    there = STREAMS[make](trim=0.1).fit(rows) if make == "REF, sketch" else whole.empty_like()
    assert merge(whole, there).dropped_.tolist() == []
    assert model.fit(rows).dropped_.tolist() == []


@pytest.mark.parametrize("method", ["creased", "ref"])
@pytest.mark.parametrize("trim", [0.0, 0.1])
def test_the_rows_that_are_kept_are_counted_once(method, trim, rows):
    table = pd.DataFrame(rows).assign(kind=np.tile(["a", "b"], 200))
    model = Detector(method=method, trim=trim).fit(table)
    assert model.encoder_.counts.rows == len(table) - len(model.dropped_)
    kinds = table.drop(index=model.dropped_)["kind"].value_counts()
    (counted,) = (each.values.counts for each in model.encoder_.counts.others.values())
    assert dict(counted) == kinds.to_dict()


@pytest.mark.parametrize("make", WEIGHTED)
def test_the_rest_is_learned_as_if_the_others_had_not_been_there(make, rows):
    model = WEIGHTED[make](trim=0.1).fit(rows)
    kept = np.delete(rows, model.dropped_, axis=0)
    alone = WEIGHTED[make]().fit(kept)
    new = rows[:50] + 0.01
    ours, theirs = -model.score_samples(new), -alone.score_samples(new)
    if make == "CreasedREF":  # creases were made at first sight, and the unit counts all rows
        assert np.corrcoef(ours, theirs)[0, 1] > 0.9
    elif make == "REF, rate":  # as many rows as there are may amplify
        np.testing.assert_allclose(ours, theirs, rtol=0.2)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("make", WEIGHTED)
def test_a_row_of_weight_two_is_the_row_twice(make, rows, rng):
    weights = rng.integers(0, 3, size=len(rows)).astype(float)
    weighted = WEIGHTED[make](trim=0.1).fit(rows, sample_weight=weights)
    repeated = WEIGHTED[make](trim=0.1).fit(np.repeat(rows, weights.astype(int), axis=0))
    np.testing.assert_allclose(
        weighted.score_samples(rows + 0.01), repeated.score_samples(rows + 0.01), rtol=1e-6
    )
    assert weights[weighted.dropped_].sum() == len(repeated.dropped_)


@pytest.mark.parametrize("make", MODELS)
def test_gaps_and_rows_without_a_value_pass(make, rows):
    rows[::7, 1] = np.nan
    rows[5] = np.nan
    model = MODELS[make](trim=0.1).fit(rows)
    assert 5 not in model.dropped_
    assert np.isfinite(model.score_samples(rows[6:])).all()


@pytest.mark.parametrize("make", MODELS)
def test_infinity_is_named_where_it_is(make, rows):
    rows[3], rows[9, 2] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"row 9"):
        MODELS[make](trim=0.1).fit(rows)


@pytest.mark.parametrize("make", STREAMS)
def test_infinity_in_later_rows_is_named_where_it_is(make, rows):
    model = STREAMS[make](trim=0.1).fit(rows)
    before = model.score_samples(rows)
    rows[3], rows[9, 2] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"row 9, column 'x2'"):
        model.partial_fit(rows)
    rows[9, 2] = 0.0
    rows[3] = 0.0
    np.testing.assert_array_equal(model.score_samples(rows[10:]), before[10:])


@pytest.mark.parametrize("make", MODELS)
def test_a_model_with_a_cut_comes_back_from_its_file(make, rows, tmp_path):
    model = MODELS[make](trim=0.1).fit(rows)
    refold.save(model, tmp_path / "model.json")
    loaded = refold.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.dropped_, model.dropped_)
    assert trimmed_finding(loaded) == trimmed_finding(model)
    if make in STREAMS:
        for each in (model, loaded):
            each.partial_fit(rows + 0.5)
    np.testing.assert_array_equal(loaded.score_samples(rows), model.score_samples(rows))


@pytest.mark.parametrize("make", STREAMS)
def test_later_rows_are_measured_by_the_first(make, rows):
    model = STREAMS[make](trim=0.1).fit(rows)
    before = trimmed_finding(model)[0].values
    learned = model.partial_fit(np.full((30, 5), 1e3))
    assert trimmed_finding(learned)[0].values == (before[0] + 30.0, before[1] + 30.0)
    assert len(learned.dropped_) == 0
    assert (model.predict(np.full((1, 5), 1e3 + 1.0)) == -1).all()


@pytest.mark.parametrize("make", ["CreasedREF", "Detector"])
def test_sites_share_the_cut_and_their_counts_add_up(make, rows):
    here = STREAMS[make](trim=0.1).fit(rows)
    there = here.empty_like().partial_fit(rows)
    assert trimmed_finding(there)[0].values == (40.0, 400.0)
    assert trimmed_finding(merge(here, there))[0].values == (80.0, 800.0)


def test_rows_in_chunks_are_those_at_once_as_long_as_they_wait(rows):
    chunks = CreasedREF(n_creases=64, trim=0.1)
    for part in np.array_split(rows, 7):
        chunks.partial_fit(part)
    whole = CreasedREF(n_creases=64, trim=0.1).fit(rows)
    np.testing.assert_allclose(
        chunks.score_samples(rows + 0.1), whole.score_samples(rows + 0.1), rtol=1e-9
    )


@pytest.mark.parametrize(("first", "then"), [(200, 100), (200, 99), (300, 0), (10, 350)])
@pytest.mark.parametrize("trim", [0.0, 0.1])
def test_what_columns_are_and_the_cut_are_decided_once_there_are_rows_enough(
    trim, first, then, rows, monkeypatch
):
    monkeypatch.setattr("refold.models.detector.table_mixin.N_INIT", 300)
    model = Detector(method="ref", trim=trim, n_jobs=1)
    for part in (rows[:first], rows[first : first + then]):
        if len(part):
            model.partial_fit(part)
    decided = first + then >= 300
    assert (model._learned.table.counts is not None) == decided
    assert (model._learned.cut is not None) == (decided and trim > 0.0)
    if decided:
        assert model._learned.sample.seen == first + then
        assert len(trimmed_finding(model)) == (trim > 0.0)


def test_what_was_left_out_is_not_subtracted(rows):
    model = REF(engine="sketch", trim=0.1).fit(rows)
    before, more = model.score_samples(rows), rows[200:] + 0.25
    model.partial_fit(more).forget(more)
    np.testing.assert_allclose(model.score_samples(rows), before, rtol=1e-9)
    assert trimmed_finding(model)[0].values == (40.0, 400.0)


def test_cells_that_were_noticed_keep_their_row(rows):
    frame = pd.DataFrame(rows, columns=list("abcde"))
    frame.loc[200, "b"] = 1e6
    frame.iloc[:5] += 40.0  # left out, so that rows move up
    for trim in (0.0, 0.02):
        model = Detector(trim=trim).fit(frame)
        found = [f.rows for f in model.noticed_ if f.kind == "absurd-cell" and f.column == "b"]
        assert found in ([(200,)], [])


@pytest.mark.slow
@pytest.mark.parametrize("make", ["REF, rate", "CreasedREF", "Detector"])
def test_the_rate_is_kept_on_clean_tables(make):
    rejected = []
    for load in (load_breast_cancer, load_digits, load_wine):
        X, y = load(return_X_y=True)
        X = X[y != 0] if load is load_breast_cancer else X
        for seed in range(3):
            order = np.random.RandomState(seed).permutation(len(X))[:1000]
            half = len(order) // 2
            options = {} if make != "CreasedREF" else {"alpha": 0.1}
            model = MODELS[make](trim=0.05, **options).fit(X[order[:half]])
            rejected.append(np.mean(model.predict(X[order[half:]]) == -1))
    assert 0.06 < np.mean(rejected) < 0.14


@pytest.mark.parametrize("engine", ["exact", "reference", "sketch"])
def test_rows_are_ranked_by_what_the_engine_learns_of_all_of_them(engine, rows):
    model = REF(engine=engine, trim=0.1, n_iter=5).fit(rows)
    everything = REF(engine=engine, n_iter=5).fit(rows)
    found = ref_trim._learned(model, rows, None)
    np.testing.assert_array_equal(found.shifts, everything.chain_.shifts)
    np.testing.assert_array_equal(found.scales, everything.chain_.scales)
