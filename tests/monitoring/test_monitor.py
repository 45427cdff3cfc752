import copy
import json
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn.exceptions import NotFittedError

from refold import REF, drift
from refold.models.learned import FromRows
from refold.monitoring import DriftMonitor
from refold.monitoring._evidence import _values


def mixed(rng, rows):
    """Continuous, heavy-tailed, integer, rounded, constant and incomplete columns."""
    X = np.column_stack(
        [
            rng.normal(size=rows),
            rng.standard_t(2, size=rows),
            rng.poisson(2, rows),
            np.round(rng.normal(size=rows), 1),
            np.full(rows, 7.3),
            rng.normal(size=rows),
            rng.choice([0.1, 0.7, 1000.3], size=rows),
        ]
    )
    X[rng.random(rows) < 0.3, 5] = np.nan
    return X


def distance_of_samples(a, b):
    return ks_2samp(a[~np.isnan(a)], b[~np.isnan(b)], method="asymp").statistic


@pytest.mark.parametrize("engine", ["exact", "sketch"])
@pytest.mark.parametrize(("rows", "new_rows"), [(40, 30), (300, 900), (8000, 5000)])
def test_the_distance_is_that_of_the_samples_up_to_a_step_between_quantiles(
    rng, engine, rows, new_rows
):
    X, Y = mixed(rng, rows), mixed(rng, new_rows)
    Y[:, 0] += 0.4
    Y[:, 2] += 1
    found = drift(REF(engine=engine).fit(X), Y)
    for j, feature in enumerate(found.features):
        true = distance_of_samples(X[:, j], Y[:, j])
        assert feature.distance <= true + 1e-12
        assert feature.distance >= true - 1 / 256 - 1e-12


def test_the_bins_of_a_sketch_lower_a_distance_but_never_raise_it(rng):
    X = np.column_stack([rng.normal(size=20_000), rng.normal(size=20_000)])
    X[0, 1] = 1e4  # one wild row, and a bin is as wide as a standard deviation
    Y = rng.normal(0.5, size=(5_000, 2))
    plain, stretched = drift(REF(engine="sketch").fit(X), Y).features
    assert plain.distance == pytest.approx(distance_of_samples(X[:, 0], Y[:, 0]), abs=1 / 200)
    assert stretched.distance <= distance_of_samples(X[:, 1], Y[:, 1])


def test_values_that_a_sketch_cannot_hold_exactly_are_no_change(rng):
    X = np.round(rng.normal(size=(500, 1)), 2)
    X[0] = 1e20  # doubles beside it are far apart, and so are the edges of bins
    model = REF(engine="sketch").fit(X)
    assert drift(model, X).features[0].distance == 0.0


def test_rows_that_were_forgotten_leave_the_bins_as_wide_as_they_are(rng):
    X = np.round(rng.normal(size=(20_000, 1)), 3)
    X[-1] = 1e5
    model = REF(engine="sketch").fit(X).forget(X[5_000:])
    assert drift(model, X[:5_000]).features[0].distance == 0.0


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_result_depends_on_how_rows_come_in_chunks(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    model = REF(n_iter=11).fit(mixed(rng, 400))
    Y = mixed(rng, 200)
    Y[rng.random(200) < 0.1] = np.nan
    Y[rng.random(200) < 0.1] *= 5
    at = sorted(data.draw(st.lists(st.integers(0, 200), max_size=8)))
    order = rng.permutation(200)
    monitor = DriftMonitor(model)
    for chunk in np.split(Y[order], at):
        monitor.update(chunk)
    assert monitor.result() == drift(model, Y)


def test_setting_outliers_aside_leaves_the_smallest_distance_that_any_of_them_can(rng):
    X = rng.normal(size=(200, 1))
    model = Other(REF().fit(X))
    model.threshold_ = 1.2
    Y = rng.normal(0.8, size=(14, 1))
    monitor = DriftMonitor(model).update(Y)
    rejected = np.flatnonzero(np.abs(Y).max(axis=1) > 1.2)
    assert len(rejected) > 3
    (left,), _ = _values(monitor._counts, model.summary_, outliers=2)
    (without,), _ = _values(monitor._counts, model.summary_, outliers=0)
    rest = [np.delete(Y, out, axis=0) for n in range(3) for out in combinations(rejected, n)]
    best = min(drift(model, rows).features[0].distance for rows in rest)
    assert left == pytest.approx(best)
    assert left < without == drift(model, Y).features[0].distance


def test_medians_are_in_the_units_of_the_feature(rng):
    X = mixed(rng, 5_000)
    Y = mixed(rng, 4_001)
    Y[:, 0] = 3.0 + 2.0 * Y[:, 0]
    Y[:, 1] = 1e6 + np.arange(4_001)
    Y[:, 2] += 2
    Y[:, 4] = -5.5
    Y[:, 6] = np.nan
    found = drift(REF().fit(X), Y).features
    assert found[0].median == pytest.approx(np.median(Y[:, 0]), abs=0.05)
    assert found[0].shift == pytest.approx(3.0, abs=0.15)
    assert found[1].median == pytest.approx(1e6 + 2_000)
    assert found[2].median == np.median(Y[:, 2])
    assert found[3].median == np.median(Y[:, 3])
    assert (found[4].median_before, found[4].median) == (7.3, -5.5)
    assert (found[6].median, found[6].shift) == (None, None)


@pytest.mark.parametrize("engine", ["exact", "sketch"])
def test_the_largest_numbers_there_are_do_not_overflow(engine):
    X = np.tile([[1.7e308], [1.6e308], [1.79e308]], (4_000, 1))
    model = REF(engine=engine).fit(X)
    assert drift(model, X).features[0].distance == 0.0
    found = drift(model, -X)
    assert found.features[0].distance == 1.0
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("trained_in", [np.float32, np.float64])
@pytest.mark.parametrize("comes_in", [np.float32, np.float64])
def test_precision_is_no_change(rng, trained_in, comes_in):
    X = rng.choice([0.1, 0.2, 0.7], size=(2_000, 2))
    X[:, 1] = 0.3
    found = drift(REF().fit(X.astype(trained_in)), X.astype(comes_in))
    assert [feature.distance for feature in found.features] == [0.0, 0.0]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, lambda c: pa.table(c)])
def test_columns_are_known_by_name(rng, frame):
    X = rng.normal(size=(500, 2))
    columns = {"pressure": X[:, 0], "speed": X[:, 1]}
    model = REF().fit(frame(columns))
    found = drift(model, frame(columns))
    assert [feature.name for feature in found.features] == ["pressure", "speed"]
    with pytest.raises(ValueError, match="pressure"):
        drift(model, frame({"speed": X[:, 1], "pressure": X[:, 0]}))
    with pytest.raises(ValueError, match=r"infinity: row 3, column 'speed'"):
        drift(model, frame({**columns, "speed": np.where(np.arange(500) == 3, np.inf, X[:, 1])}))


def test_columns_without_names_are_called_as_scikit_learn_does(rng):
    X = rng.normal(size=(50, 2))
    model = REF().fit(X)
    names = [feature.name for feature in drift(model, X).features]
    assert names == list(model.get_feature_names_out())


def test_rows_without_any_value_count_as_missing_and_are_not_judged(rng):
    X = rng.normal(size=(2_000, 2))
    model = REF().fit(X)
    Y = X.copy()
    Y[:500] = np.nan
    found = drift(model, Y)
    assert (found.rows, found.empty) == (2_000, 500)
    assert found.rejected == np.mean(model.predict(X[500:]) == -1)
    assert found.features[0].missing == 0.25
    assert found.verdict == "changed"
    assert "500 rows without any value" in str(found)
    nothing = drift(model, Y[:500])
    assert nothing.rejected is None
    assert nothing.features[0].missing == 1.0
    assert nothing.verdict == "changed"
    json.dumps(nothing.to_dict(), allow_nan=False)
    assert str(nothing)


def test_a_chunk_that_fails_changes_nothing(rng):
    X = rng.normal(size=(300, 2))
    monitor = DriftMonitor(REF().fit(X)).update(X)
    before = monitor.result()
    for bad in ([[1.0, np.inf]], [[1.0, 2.0, 3.0]], [["a", 1.0]]):
        with pytest.raises(ValueError, match=r"infinity|features|number"):
            monitor.update(bad)
    assert monitor.result() == before


def test_no_rows_are_no_result(rng):
    model = REF().fit(rng.normal(size=(50, 2)))
    monitor = DriftMonitor(model).update(np.empty((0, 2)))
    with pytest.raises(ValueError, match="no rows to compare"):
        monitor.result()
    with pytest.raises(ValueError, match="no rows to compare"):
        drift(model, pd.DataFrame({"a": [], "b": []}))


def test_what_cannot_be_compared_is_refused(rng):
    X = rng.normal(size=(50, 2))
    with pytest.raises(NotFittedError):
        drift(REF(), X)
    old = copy.copy(REF().fit(X))
    old._learned = FromRows(old.chain_, None)
    with pytest.raises(ValueError, match=r"REF has no summary .* Fit it again"):
        drift(old, X)
    for alpha in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="alpha"):
            drift(REF().fit(X), X, alpha=alpha)


def test_a_monitor_compares_with_the_model_as_it_was(rng):
    X = rng.normal(size=(500, 2))
    model = REF(engine="sketch").partial_fit(X)
    monitor = DriftMonitor(model).update(X)
    expected = DriftMonitor(model).update(X).update(X + 5).result()
    model.partial_fit(X + 100)
    assert monitor.update(X + 5).result() == expected


def test_a_monitor_can_be_put_away_and_taken_up_again(rng):
    X = rng.normal(size=(500, 2))
    monitor = DriftMonitor(REF().fit(X)).update(X)
    again = pickle.loads(pickle.dumps(monitor))
    assert again.update(X + 1).result() == monitor.update(X + 1).result()


def test_memory_does_not_grow_with_the_rows(rng):
    X = rng.normal(size=(6_000, 3))
    monitor = DriftMonitor(REF().fit(X)).update(X)
    size = len(pickle.dumps(monitor))
    for _ in range(20):
        monitor.update(rng.normal(size=(2_000, 3)))
    assert len(pickle.dumps(monitor)) < size + 200


def test_weights_are_no_observations(rng):
    X = rng.normal(size=(40, 1))
    Y = rng.normal(size=(5_000, 1))
    plain = drift(REF().fit(X), Y).features[0]
    heavy = drift(REF().fit(X, sample_weight=np.full(40, 1000.0)), Y).features[0]
    light = drift(REF().fit(X, sample_weight=np.full(40, 0.25)), Y).features[0]
    assert heavy.p_value == plain.p_value < light.p_value


def test_results_are_plain_values(rng):
    X = rng.normal(size=(500, 2))
    model = REF().fit(X).calibrate(rng.normal(size=(500, 2)), alpha=0.05)
    found = drift(model, X + np.array([0.0, 1.0]))
    data = found.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["verdict"] == found.verdict == "changed"
    assert [feature["changed"] for feature in data["features"]] == [False, True]
    assert data["features"][1]["shift"] == found.features[1].shift
    assert data["expected"] == pytest.approx(0.05, abs=0.002)


def test_a_person_can_read_the_result(rng):
    X = rng.normal(size=(500, 30))
    text = str(drift(REF().fit(X), X + np.arange(30)))
    lines = text.splitlines()
    assert lines[0].startswith("The data has changed")
    assert "500 rows; 29 of 30 columns differ" in lines[1]
    assert "not calibrated" in lines[1]
    assert len(lines) == 13
    assert lines[-1] == "  and 19 more"


def test_missing_values_and_outliers_are_part_of_the_text(rng):
    X, Y = rng.normal(size=(5_000, 2)), rng.normal(size=(5_000, 2))
    model = REF().fit(X).calibrate(rng.normal(size=(5_000, 2)), alpha=0.01)
    Y[::10, 0] = 30.0
    Y[1::4, 1] = np.nan
    found = drift(model, Y)
    (second, first) = str(found).splitlines()[2:]
    assert second.startswith("  x1: ")
    assert "missing 0 % → 25 % (p < 0.000001)" in second
    assert first.startswith("  x0: ")
    assert "missing" not in first
    assert first.endswith("(p < 0.000001); outliers may explain it")


class Largest:
    """The largest magnitude of a row is its distance."""

    additive, unexplained = False, "A magnitude has no parts."

    def distances(self, X):
        return np.abs(X).max(axis=1)


class Other:
    """Not a REF, but it has what is asked for."""

    def __init__(self, ref):
        self.summary_, self.n_features_in_, self.threshold_ = ref.summary_, ref.n_features_in_, 3.0
        self.alpha_ = None

    def fit(self, X):
        return self

    def scorer(self):
        return Largest()

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_tags__(self):
        return REF().__sklearn_tags__()


def test_any_estimator_with_a_scorer_and_a_summary_will_do(rng):
    X = rng.normal(size=(2_000, 2))
    Y = rng.normal(size=(2_000, 2))
    found = drift(Other(REF().fit(X)), Y)
    assert found.verdict == "same"
    assert found.rejected == np.mean(np.abs(Y).max(axis=1) > 3.0)


def test_arrays_of_other_libraries_are_read(rng):
    xp = pytest.importorskip("array_api_strict")
    X = rng.normal(size=(200, 2))
    model = REF(engine="reference").fit(X)
    assert drift(model, xp.asarray(X)) == drift(model, X)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_as_a_table_there_is_a_line_per_column(rng, backend):
    X = rng.normal(size=(300, 2))
    found = drift(REF(alpha=0.05).fit(X), X + np.array([0.0, 3.0]))
    frame = found.to_frame(backend)
    names = frame["name"].to_pylist() if backend == "pyarrow" else list(frame["name"])
    assert names == ["x0", "x1"]
    changed = frame["changed"].to_pylist() if backend == "pyarrow" else list(frame["changed"])
    assert changed == [False, True]
    assert repr(found) == "Drift('changed', 300 rows, 1 of 2 columns differ)"
