"""What ``fit`` says about a table and a threshold, and when it says nothing."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import refold
from refold import REF, RateWarning
from refold.algorithm.chain import MAX_GAIN
from refold.base.findings import told
from refold.model_selection import ThresholdSearchCV
from refold.models import ref_findings
from refold.report import describe


@pytest.fixture
def rows(rng):
    return pd.DataFrame(rng.normal(size=(300, 3)), columns=["heat", "flow", "load"])


def noticed(model, X, **options):
    """The kinds and columns of findings, which are also the warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, **options)
    assert [str(w.message) for w in said] == list(told(model.noticed_))
    assert all(w.category is RateWarning and w.filename == __file__ for w in said)
    return {(found.kind, found.column) for found in model.noticed_}


def kinds(model, X):
    return {kind for kind, _ in noticed(model, X)}


@pytest.mark.parametrize("model", [REF(), REF(alpha=0.05), REF(engine="sketch")], ids=str)
def test_of_an_ordinary_table_nothing_is_said(model, rows):
    assert noticed(model, rows) == set()


@pytest.mark.parametrize("engine", ["exact", "reference"])
def test_a_cell_far_from_all_others_is_said_with_its_row(engine, rows):
    rows.loc[17, "flow"] = 1e6
    model = REF(alpha=0.05, engine=engine, n_iter=11)
    assert noticed(model, rows) == {("absurd-cell", "flow")}
    assert model.noticed_[0].rows == (17,)


class TestTooFewRows:
    def test_thirty_five_wines_have_no_power_for_one_column(self):
        wines = load_wine()
        model = REF(alpha=0.05)
        assert kinds(model, wines.data[wines.target == 1][:35]) == {"too-few-rows"}
        (found,) = model.noticed_
        assert "rests on the 2 largest of 35 left-out rows" in found.message

    @pytest.mark.parametrize(("n", "fires"), [(50, True), (300, False)])
    def test_it_is_said_where_faults_in_one_column_pass(self, n, fires):
        data = load_breast_cancer()
        benign = data.data[data.target == 1]
        train, new = benign[:n], benign[n:]
        model = REF(alpha=0.05)
        assert ("too-few-rows" in kinds(model, train)) == fires
        caught = []
        for j, (low, high) in enumerate(zip(train.min(axis=0), train.max(axis=0), strict=True)):
            faulty = new.copy()
            faulty[:, j] = high + 0.25 * (high - low)
            caught.append(np.mean(model.predict(faulty) == -1))
        assert (np.mean(caught) < 0.5) == fires

    @pytest.mark.parametrize(("rows", "tried"), [(35, 35), (1999, 1999), (2500, 1250)])
    def test_the_typical_row_is_one_of_all_if_they_are_few(self, rows, tried, rng, monkeypatch):
        looked_at = []
        distances = ref_findings._distances
        monkeypatch.setattr(
            ref_findings, "_distances", lambda *of: looked_at.append(len(of[2])) or distances(*of)
        )
        monkeypatch.setattr(ref_findings, "_ROWS_TRIED", 1000)
        REF(alpha=0.1).fit(rng.normal(size=(rows, 2)))
        assert looked_at[0] == tried

    @pytest.mark.parametrize("engine", ["sketch", "reference"])
    def test_by_every_engine(self, engine):
        wines = load_wine()
        X = wines.data[wines.target == 1][:35]
        assert kinds(REF(alpha=0.05, engine=engine), X) == {"too-few-rows"}

    def test_foreign_arrays_of_integers(self):
        xp = pytest.importorskip("array_api_strict")
        wines = load_wine()
        X = xp.asarray(np.rint(100 * wines.data[wines.target == 1][:35]).astype(int))
        assert kinds(REF(alpha=0.05, n_iter=10), X) == {"too-few-rows"}


class TestFalseAlarms:
    @pytest.mark.parametrize("engine", ["exact", "sketch", "reference"])
    def test_the_expected_rate_is_the_realised_one(self, engine):
        data = load_breast_cancer()
        benign, expected, rates = data.data[data.target == 1], [], []
        for seed in range(4):
            order = np.random.default_rng(seed).permutation(len(benign))
            model = REF(engine=engine)
            assert kinds(model, benign[order[:25]]) == {"false-alarms"}
            expected += model.noticed_[0].values
            rates.append(np.mean(model.predict(benign[order[25:]]) == -1))
            assert f"about {100 * expected[-1]:.0f} %" in str(model.noticed_[0])
        assert np.mean(expected) == pytest.approx(np.mean(rates), abs=0.1)
        assert np.mean(rates) > 0.3

    @pytest.mark.parametrize(("max_gain", "used"), [(None, MAX_GAIN), (30.0, 30.0)])
    def test_features_fold_as_long_as_those_of_the_model(self, max_gain, used, rng, monkeypatch):
        recipes = []
        monkeypatch.setattr(
            ref_findings, "few_left_out", lambda *_, recipe, **__: recipes.append(recipe)
        )
        REF(engine="reference", max_gain=max_gain).fit(rng.normal(size=(25, 3)))
        assert [recipe["max_gain"] for recipe in recipes] == [used]

    def test_not_for_more_rows_nor_a_wider_threshold(self):
        data = load_breast_cancer()
        benign = data.data[data.target == 1]
        assert kinds(REF(), benign[:200]) == set()
        assert kinds(REF(threshold=1e12), benign[:25]) == set()

    def test_the_users_functions_are_not_called_for_it(self, rng):
        def distance(y):
            raise AssertionError

        assert kinds(REF(distance=distance), rng.normal(size=(25, 30))) == set()

    def test_a_column_of_one_value_does_not_stop_it_nor_fit(self, rng):
        X = rng.normal(size=(25, 30))
        X[1:, 3] = np.nan
        assert kinds(REF(), X) == {"single-value"}


class TestTies:
    def test_many_rows_at_the_threshold(self, rng):
        X = rng.normal(size=(300, 2)) / 10
        X[:45] = 30.0  # copies, farther out than all others
        model = REF(alpha=0.1)
        assert "ties" in kinds(model, X)
        found = next(found for found in model.noticed_ if found.kind == "ties")
        assert found.values == (0.0,)
        assert "0 % lie beyond it, not 10 %" in found.message
        enough = found.advice.value
        model.calibrate(alpha=enough + 0.01)
        assert np.mean(model.predict(X) == -1) >= 0.15

    def test_not_within_the_rate(self, rng):
        X = rng.normal(size=(300, 2)) / 10
        X[:15] = 30.0
        assert "ties" not in kinds(REF(alpha=0.1), X)


class TestColumns:
    @pytest.mark.parametrize("step", [1.0, -0.5, 1e-3])
    def test_a_running_number(self, rows, step):
        rows["id"] = 17 + step * np.arange(300)
        assert noticed(REF(), rows) == {("running-number", "id")}

    def test_rows_may_have_been_left_out_of_it(self, rows):
        rows["id"] = np.arange(300)
        some = rows.drop(index=[5, 70, 71, 200])
        assert noticed(REF(), some) == {("running-number", "id")}

    def test_weight_zero_is_left_out(self, rows):
        rows["id"] = np.arange(300.0)
        rows.loc[::20, "id"] = 7.0
        weights = np.where(np.arange(300) % 20 == 0, 0.0, 1.0)
        assert noticed(REF(), rows) == set()
        assert noticed(REF(), rows, sample_weight=weights) == {("running-number", "id")}

    def test_not_sorted_measurements_nor_a_shuffled_number(self, rows, rng):
        rows["sorted"] = np.sort(rng.normal(size=300))
        rows["rounded"] = np.sort(rng.normal(size=300)).round(2)
        rows["even"] = np.sort(rng.uniform(size=300))
        rows["shuffled"] = rng.permutation(300)
        assert noticed(REF(), rows) == set()

    def test_half_of_a_column_is_one_value(self, rows):
        rows.loc[:160, "flow"] = -999.0
        model = REF()
        assert noticed(model, rows) == {("one-value", "flow")}
        assert str(model.noticed_[0]).startswith("flow is -999 in 54 % of the rows")
        assert model.noticed_[0].values == (-999.0,)

    def test_missing_values_are_not_counted(self, rows):
        rows.loc[:100, "flow"] = 0.0
        assert noticed(REF(), rows) == set()
        rows.loc[200:, "flow"] = np.nan
        assert noticed(REF(), rows) == {("one-value", "flow")}

    def test_not_a_choice_among_few(self, rows, rng):
        rows["flag"] = rng.random(300) < 0.1
        rows["grade"] = rng.choice(6, p=[0.7, 0.1, 0.05, 0.05, 0.05, 0.05], size=300)
        rows["constant"] = 5.0
        assert noticed(REF(), rows) == set()

    def test_a_weight_is_a_number_of_rows(self, rng):
        X = rng.normal(size=(40, 2))
        X[:5, 1] = 0.0
        weights = np.where(np.arange(40) < 5, 12, 1)
        repeated = np.repeat(X, weights, axis=0)
        assert noticed(REF(threshold=9.0), X) == set()
        found = noticed(REF(threshold=9.0), X, sample_weight=weights)
        assert found == noticed(REF(threshold=9.0), repeated) == {("one-value", "x1")}

    def test_of_many_columns_three_are_told_one_by_one(self, rng):
        X = rng.normal(size=(300, 9))
        X[:200, 1:] = 0.0
        model = REF()
        assert len(noticed(model, X)) == 8
        *each, rest = told(model.noticed_)
        assert each == [str(found) for found in model.noticed_[:3]]
        assert rest == "The same holds 5 more times, in x4, x5, x6, x7, x8."


class TestKeeping:
    def test_a_stream_says_it_once(self, rows):
        rows["id"] = np.arange(300)
        model = REF(engine="sketch")
        with pytest.warns(RateWarning, match="id runs from 0 to 99"):
            model.partial_fit(rows[:100])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.partial_fit(rows[100:]).forget(rows[:50])
        assert [found.column for found in model.noticed_] == ["id"]

    def test_merged_models_keep_what_was_noticed_of_columns(self, rows):
        rows["id"] = np.arange(300)
        parts = [REF(engine="sketch").fit(part) for part in (rows[:150], rows[150:], rows[:20])]
        assert "false-alarms" in {found.kind for found in parts[2].noticed_}
        merged = refold.merge(*parts)
        assert {found.kind for found in merged.noticed_} == {"running-number"}

    def test_another_fit_forgets(self, rows):
        model = REF().fit(rows.assign(id=np.arange(300)))
        assert model.fit(rows).noticed_ == ()

    def test_a_file_keeps_it(self, rows, tmp_path):
        rows.loc[:160, "flow"] = -999.0
        model = REF().fit(rows.assign(id=np.arange(300)))
        refold.save(model, tmp_path / "m.json")
        assert len(model.noticed_) == 2
        assert refold.load(tmp_path / "m.json").noticed_ == model.noticed_

    def test_the_paper_stays_the_paper(self):
        data = load_breast_cancer()
        X = data.data[data.target == 1][:25]
        warned, silent = REF().fit(X), REF(threshold=1e12).fit(X)
        assert warned.noticed_
        assert not silent.noticed_
        np.testing.assert_array_equal(warned.score_samples(X), silent.score_samples(X))
        assert warned.alpha_ is None
        assert not hasattr(warned, "calibration_")


class TestElsewhere:
    def test_a_search_for_a_threshold_says_it_once_of_the_one_it_found(self, rng):
        data = load_breast_cancer()
        X, y = data.data[:60], data.target[:60]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            search = ThresholdSearchCV(REF()).fit(X, y)
        assert [str(w.message) for w in said if w.category is RateWarning] == list(
            told(search.best_estimator_.noticed_)
        )

    def test_a_detector_with_a_threshold_of_its_own_speaks_of_columns_only(self, rng):
        pytest.importorskip("pyod")
        from refold.integrations.pyod import REFDetector

        X = rng.normal(size=(25, 30))
        assert "false-alarms" in kinds(REF(levels="all"), X)
        X[:, 4] = np.arange(25)
        with pytest.warns(RateWarning) as said:
            detector = REFDetector().fit(X)
        assert [str(w.message).split()[0] for w in said] == ["x4"]
        assert {found.kind for found in detector.model_.noticed_} == {"running-number"}

    def test_the_model_card_has_it(self, rows):
        rows["id"] = np.arange(300)
        card = describe(REF().fit(rows), rows).card
        assert next(text for name, text in card.facts if name == "Noticed").startswith("id runs")
