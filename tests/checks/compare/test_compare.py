"""What a new model changes, against asking both models row by row."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import refold
from refold import REF, CreasedREF, Detector, compare
from refold.checks import Comparer
from refold.judgement import Judgement
from tests.tables import real_table

MODELS = {
    "REF": lambda: REF(),
    "REF at a rate": lambda: REF(alpha=0.05),
    "CreasedREF": lambda: CreasedREF(alpha=0.05),
    "Detector": lambda: Detector(alpha=0.05),
    "Detector, ref": lambda: Detector(method="ref", alpha=0.05),
    "a pipeline": lambda: make_pipeline(StandardScaler(), REF(alpha=0.1)),
}


@pytest.fixture(scope="module")
def benign():
    table = load_breast_cancer(as_frame=True)
    return table.data[table.target == 1].iloc[:, :5].reset_index(drop=True)


@pytest.fixture(scope="module")
def cases():
    return load_breast_cancer(as_frame=True).data.iloc[:, :5]


@pytest.fixture(scope="module")
def penguins():
    return pd.read_csv(real_table("penguins.csv"))


@pytest.mark.parametrize("new", MODELS)
@pytest.mark.parametrize("old", MODELS)
def test_the_counts_are_those_of_both_models_predictions(old, new, benign, cases):
    old, new = MODELS[old]().fit(benign.iloc[::2]), MODELS[new]().fit(benign.iloc[1::2])
    found = compare(old, new, cases, most=3)
    before, after = old.predict(cases), new.predict(cases)
    counts = pd.crosstab(before, after).reindex([1, -1], fill_value=0)
    counts = counts.reindex(columns=[1, -1], fill_value=0).to_numpy().ravel().tolist()
    told = ("normal_normal", "normal_outlier", "outlier_normal", "outlier_outlier")
    assert [getattr(found, name) for name in told] == counts
    assert found.changed == (before != after).mean()
    low, high = stats.binomtest(found.n_changed, 569).proportion_ci(0.95)
    assert found.interval == pytest.approx((low, high), rel=1e-9)
    for row in found.changed_rows:
        assert (row.now == "outlier") == (after[row.row] == -1)
        assert before[row.row] != after[row.row]
        assert row.reasons
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["n_changed"] == found.n_changed


@pytest.mark.parametrize("name", MODELS)
def test_a_model_beside_itself_changes_nothing_and_says_so(name, benign, cases):
    model = MODELS[name]().fit(benign)
    for other in (model, MODELS[name]().fit(benign)):
        found = compare(model, other, cases)
        assert found.same
        assert str(found) == "Nothing changes: the models say the same of all 569 rows."


@pytest.mark.parametrize("name", [name for name in MODELS if name != "a pipeline"])
def test_a_model_and_its_file_are_the_same(name, benign, cases, tmp_path):
    model = MODELS[name]().fit(benign)
    refold.save(model, tmp_path / "model.json")
    assert compare(model, refold.load(tmp_path / "model.json"), cases).same


def test_another_number_of_threads_is_no_difference(benign, cases):
    assert compare(REF(n_jobs=1).fit(benign), REF(n_jobs=2).fit(benign), cases).same


def test_what_each_says_of_a_changed_row_is_what_it_says_by_itself(penguins):
    old, new = Detector().fit(penguins.iloc[::2]), Detector().fit(penguins.iloc[1::2])
    found = compare(old, new, penguins, reasons=2)
    assert found.changed_rows
    for row in found.changed_rows:
        for model, opinion in ((old, row.old), (new, row.new)):
            alone = model.explain(penguins.iloc[[row.row]], nearest=False)[0]
            assert opinion.distance == pytest.approx(alone.distance)
            assert opinion.p_value == pytest.approx(alone.p_value)
            assert opinion.verdict == ("normal" if alone.label == 1 else "outlier")
        rejects = new if row.now == "outlier" else old
        alone = rejects.explain(penguins.iloc[[row.row]], nearest=False, reasons=2)[0]
        assert row.reasons[0].feature == alone.reasons[0].feature
        assert str(row.reasons[0].reason) == str(alone.reasons[0])


def rounded(document):
    """Plain values; the last digit of a distance may depend on the rows that are judged with it."""
    return json.loads(json.dumps(document), parse_float=lambda text: float(f"{float(text):.9g}"))


def test_rows_in_blocks_are_the_rows_at_once(benign, cases):
    old, new = REF(alpha=0.05).fit(benign.iloc[:90]), CreasedREF(alpha=0.05).fit(benign.iloc[90:])
    whole = compare(old, new, cases, most=20)
    blocks = Comparer(old, new, most=20)
    for begin in range(0, len(cases), 50):
        part = cases.iloc[begin : begin + 50]
        blocks.update(Judgement.of(old, part), Judgement.of(new, part))
    found = rounded(blocks.result().to_dict())
    assert len(found["changed_rows"]) == 20
    assert found == rounded(whole.to_dict())


def test_the_clearest_rows_are_listed_and_both_directions_have_their_share(benign, cases):
    old, new = REF(alpha=0.05).fit(benign.iloc[:90]), CreasedREF(alpha=0.05).fit(benign.iloc[90:])
    every = compare(old, new, cases, most=len(cases))
    assert len(every.changed_rows) == every.n_changed
    assert every.normal_outlier > 5 < every.outlier_normal
    some = compare(old, new, cases, most=4)
    for now in ("outlier", "normal"):
        all_rows = [row.row for row in every.changed_rows if row.now == now]
        assert [row.row for row in some.changed_rows if row.now == now] == all_rows[:2]
    times = [max(row.old.times, row.new.times) for row in some.changed_rows]
    assert times == sorted(times, reverse=True)
    assert compare(old, new, cases, most=0).changed_rows == ()


def test_columns_are_found_by_name_and_those_of_one_model_are_said(benign, cases):
    names = list(cases)
    old, new = REF(alpha=0.05).fit(benign[names[:3]]), REF(alpha=0.05).fit(benign[names[:0:-1]])
    found = compare(old, new, cases[names[::-1]])
    assert found.new.rejected == (new.predict(cases[names[:0:-1]]) == -1).sum()
    assert f"{names[0]}: only old has this column" in found.remarks()
    assert f"{names[4]}: only new has this column" in found.remarks()


@pytest.mark.parametrize("make", [REF, CreasedREF, Detector])
def test_a_column_that_is_not_there_is_named_with_its_model(make, benign, cases):
    old, new = make().fit(benign.iloc[:, :3]), make().fit(benign)
    with pytest.raises(ValueError, match=r"X has no column 'mean smoothness', which new needs"):
        compare(old, new, cases.drop(columns="mean smoothness"))


def test_an_array_for_models_with_other_columns_is_refused(benign, cases):
    old, new = REF().fit(benign), REF().fit(benign[benign.columns[::-1]])
    with pytest.raises(ValueError, match=r"hand over a dataframe"):
        compare(old, new, cases.to_numpy())


def test_an_empty_table_is_refused(benign):
    model = REF().fit(benign)
    with pytest.raises(ValueError, match=r"X has no rows"):
        compare(model, model, benign.iloc[:0])


def test_rows_without_a_value_are_counted_and_change_nothing(benign, cases):
    names, cases = list(cases), cases.copy()
    cases.iloc[:4] = np.nan
    cases.loc[4:6, names[:2]] = np.nan
    old, new = REF().fit(benign[names[:2]]), REF().fit(benign)
    found = compare(old, new, cases)
    assert (found.judged, found.only_old, found.only_new) == (562, 0, 3)
    assert "4 rows are judged by neither model" in str(found)
    assert "3 rows are judged by new alone" in str(found)
    nothing = compare(old, new, cases.iloc[:4])
    assert (nothing.changed, nothing.interval) == (None, None)
    assert str(nothing).startswith("None of the 4 rows is judged by both models.")
    json.dumps(nothing.to_dict(), allow_nan=False)


def test_without_a_calibration_there_are_no_p_values(benign, cases):
    old, new = REF().fit(benign), REF(alpha=0.2).fit(benign)
    found = compare(old, new, cases)
    assert found.changed_rows[0].old.p_value is None
    assert found.changed_rows[0].new.p_value is not None
    assert found.scatter.of == "distance"
    assert np.isnan(found.to_frame()["old_p_value"]).all()
    assert "Different: alpha None → 0.2" in str(found)


def test_a_distance_of_ones_own_has_no_reasons_and_says_so(benign, cases):
    own = REF(distance=lambda y: abs(y).max(axis=1), engine="reference").fit(benign)
    found = compare(REF().fit(benign), own, cases)
    assert found.n_changed
    assert "There are no reasons. new: " in str(found)


def test_new_categories_and_other_roles_are_said(penguins):
    old = Detector().fit(penguins[penguins["island"] != "Dream"])
    new = Detector(roles={"year": "category"}).fit(penguins)
    found = compare(old, new, penguins)
    assert "island: only new has learned 'Dream'" in found.remarks()
    assert "species: only new has learned 'Chinstrap'" in found.remarks()
    assert "year: a number to old, a category to new" in found.remarks()
    dream = penguins.index[penguins["island"] == "Dream"]
    assert found.outlier_normal > 0.9 * len(dream)
    assert len({row.row for row in found.changed_rows} & set(dream)) > 0.9 * len(found.changed_rows)


def test_the_column_that_makes_the_difference_comes_first(penguins):
    numbers = penguins.select_dtypes("number").dropna()
    heavy = numbers.assign(body_mass_g=numbers["body_mass_g"] + 4000)
    found = compare(REF(alpha=0.05).fit(numbers), REF(alpha=0.05).fit(heavy), numbers)
    assert found.drivers()[0].name == "body_mass_g"
    assert found.drivers()[0].leads_outlier > 0.9 * len(found.changed_rows)


def test_limits_stand_side_by_side_or_their_refusal_does(penguins):
    old, new = (Detector().fit(penguins.iloc[k::2]) for k in (0, 1))
    found = compare(old, new, penguins, limits=True)
    sides = {column.name: column for column in found.columns}
    for which, model in (("old", old), ("new", new)):
        for limit in refold.limits(model):
            assert getattr(sides[limit.feature], which).limit == limit
    words = penguins[["species", "island"]]
    model = Detector().fit(words)
    refused = compare(model, Detector(alpha=0.2).fit(words), words, limits=True)
    assert "no column of numbers" in refused.without_limits
    assert "There are no detection limits. old: The model has no column" in str(refused)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_frame_has_a_line_for_each_changed_row(backend, penguins):
    old, new = (Detector().fit(penguins.iloc[k::2]) for k in (0, 1))
    found = compare(old, new, penguins)
    frame = found.to_frame(backend)
    assert len(frame) == len(found.changed_rows)
    assert list(frame["row"].to_pylist() if backend == "pyarrow" else frame["row"]) == [
        row.row for row in found.changed_rows
    ]
    assert len(compare(old, old, penguins).to_frame(backend)) == 0


def test_names_from_data_are_no_html(benign, cases):
    names = [f"<script>alert(1)</script>{name}" for name in cases]
    hostile, rows = (table.set_axis(names, axis=1) for table in (benign, cases))
    page = compare(REF().fit(hostile), REF(alpha=0.2).fit(hostile), rows)._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("bad", [{"reasons": 0}, {"most": -1}])
def test_numbers_that_make_no_sense_are_refused(bad, benign):
    model = REF().fit(benign)
    with pytest.raises(ValueError, match=f"{next(iter(bad))}="):
        compare(model, model, benign, **bad)


def test_only_refolds_models_can_be_compared(benign):
    with pytest.raises(TypeError, match=r"one of refold's own models"):
        compare(REF().fit(benign), StandardScaler().fit(benign), benign)


def test_the_picture_has_a_bounded_number_of_points():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    old, new = REF(alpha=0.05).fit(X[:300]), REF(alpha=0.2).fit(X[300:600])
    comparer = Comparer(old, new)
    for part in np.array_split(X, 7):
        comparer.update(Judgement.of(old, part), Judgement.of(new, part))
    scatter = comparer.result().scatter
    assert (scatter.changed.sum(), (~scatter.changed).sum()) == (1000, 1000)
    old_out, new_out = (scatter.values <= [0.05, 0.2]).T
    assert (old_out != new_out)[scatter.changed].mean() > 0.99


@pytest.mark.slow
def test_a_table_of_flights_with_a_new_airline(tmp_path):
    flights = pd.read_csv(real_table("clean-flights.csv.gz"))
    carrier = next(name for name in flights if "carrier" in name)
    common = flights[carrier].value_counts().index[0]
    rest = flights[flights[carrier] != common]
    found = compare(Detector().fit(rest), Detector().fit(flights), flights)
    assert f"{carrier}: only new has learned '{common}'" in found.remarks()
    assert found.outlier_normal > 0.8 * (flights[carrier] == common).sum()
    assert found.drivers()[0].name == carrier


def test_a_share_near_all_is_written_as_people_do():
    X = np.random.default_rng(0).normal(size=(400, 2))
    old, new = REF(alpha=0.005).fit(X), REF(alpha=0.005).fit(X + 100.0)
    assert " to 100 %)" in compare(old, new, X).headline()
