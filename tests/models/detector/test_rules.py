"""Rules beside the model: what counts, what is an outlier in any case, what is muted."""

import json

import numpy as np
import pytest
from sklearn.base import clone

import refold
from refold import Detector
from refold.base.errors import UserError
from refold.judgement import Judgement
from refold.models.detector import ruled
from tests.modelfile.conftest import checksum

METHODS = ("creased", "ref")


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    flow = rng.normal(20.0, 2.0, n)
    pressure = 0.5 * flow + rng.normal(0.0, 0.2, n)
    return [
        {
            "pressure": round(float(p), 2),
            "flow": round(float(f), 2),
            "weight": round(float(w), 2),
            "grade": "AB"[k % 2],
            "machine": f"M{1 + k % 3}",
        }
        for k, (p, f, w) in enumerate(zip(pressure, flow, rng.normal(2.0, 0.3, n), strict=True))
    ]


def fitted(rules, method="creased", **parameters):
    return Detector(method=method, rules=rules, n_jobs=1, **parameters).fit(rows())


def distance(model, *new):
    return -model.score_samples(list(new))


USUAL = rows()[0]


@pytest.mark.parametrize("method", METHODS)
def test_what_lies_in_the_harmless_direction_is_as_far_out_as_the_nearest_value_that_counts(method):
    plain, model = fitted(None, method), fitted({"pressure": {"direction": "high"}}, method)
    low, high = {**USUAL, "pressure": 2.0}, {**USUAL, "pressure": 30.0}
    assert plain.predict([low, high]).tolist() == [-1, -1]
    assert model.predict([low, high]).tolist() == [1, -1]
    usual = float(model.scorer().centers[0])
    values = [row["pressure"] for row in rows()]
    assert np.quantile(values, 0.25) < usual < np.quantile(values, 0.75)
    if method == "ref":  # where columns add up, all of them are as the usual value
        assert distance(model, low) == distance(plain, {**low, "pressure": usual})
        assert len({*distance(model, low, {**low, "pressure": np.quantile(values, 0.1)})}) == 1
    else:  # the usual one, what flow lets expect, or the value itself: what is nearest to normal
        assert distance(model, low) <= min(distance(plain, low, {**low, "pressure": usual}))
        least = min(distance(plain, *({**low, "pressure": v} for v in np.linspace(2, 20, 200))))
        assert least <= distance(model, low) <= least + 0.01 * plain.threshold_
    assert distance(model, high) == distance(plain, high)


@pytest.mark.parametrize("method", METHODS)
def test_the_other_direction_is_the_same_of_negative_numbers(method):
    high = fitted({"pressure": {"direction": "high"}}, method)
    turned = [{**row, "pressure": -row["pressure"]} for row in rows()]
    low = Detector(method=method, rules={"pressure": {"direction": "low"}}, n_jobs=1).fit(turned)
    new = [{**USUAL, "pressure": p} for p in (2.0, 9.0, 12.0, 30.0)]
    mirrored = [{**row, "pressure": -row["pressure"]} for row in new]
    assert high.predict(new).tolist() == low.predict(mirrored).tolist() == [1, 1, 1, -1]


def test_a_tolerance_forgives_differences_from_what_is_expected():
    usual = {**USUAL, "flow": 20.0}
    at = {p: {**usual, "pressure": p} for p in (10.0, 14.0, 18.0)}
    plain = fitted(None)
    model = fitted({"pressure": {"tolerance": 2.0}})
    assert plain.predict([at[14.0]])[0] == -1
    assert model.predict([at[14.0], at[18.0]]).tolist() == [1, -1]
    for p in at:
        nearest = [{**usual, "pressure": v} for v in np.linspace(p - 2.0, p + 2.0, 201)]
        least = min(distance(plain, *nearest))
        assert least * 0.999 <= distance(model, at[p]) <= 1.01 * least + 0.01 * plain.threshold_


@pytest.mark.parametrize("method", METHODS)
def test_outside_the_limits_is_an_outlier_whatever_the_model_says(method):
    rules = {"weight": {"min": 0, "max": 5}, "grade": {"allowed": ["A", "B", "C"]}}
    model = fitted(rules, method)
    inside = np.median([row["weight"] for row in rows()])
    tight = fitted({"weight": {"min": inside}}, method)
    below = {**USUAL, "weight": inside - 0.01}
    assert fitted(None, method).predict([below])[0] == 1
    assert tight.predict([below])[0] == -1
    found = tight.explain([below])[0]
    assert found.p_value == min(tight.p_values(rows()))
    assert found.sentence() == "weight 1.98 is outside the limit you set, at least 1.99"
    assert "learned from" in found.reasons[0].details()
    assert "normal" not in found.reasons[0].details()  # the limit says what is normal
    new = [{**USUAL, "weight": 5.5}, {**USUAL, "grade": "D"}, {**USUAL, "weight": -1.0}]
    said = [each.sentence() for each in model.explain(new)]
    assert said == [
        "weight 5.5 is outside the limit you set, 0–5",
        "grade 'D' is not among the values you allow, 'A', 'B', 'C'",
        "weight −1 is outside the limit you set, 0–5",
    ]
    for alpha in (0.001, 0.5):  # whatever threshold is set
        assert tight.calibrate([below] * 2000, alpha=alpha).predict([below])[0] == -1


def test_limits_may_depend_on_other_columns():
    rules = {"weight": {"if": [{"when": {"machine": "M1"}, "max": 2.0}]}}
    model = fitted(rules)
    new = [{**USUAL, "machine": machine, "weight": 2.1} for machine in ("M1", "M2")]
    assert model.predict(new).tolist() == [-1, 1]
    assert model.explain(new)[0].sentence() == (
        "weight 2.1 is outside the limit you set, at most 2 where machine = M1"
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_column_that_is_not_to_be_blamed_is_learned_and_never_named(method):
    model = fitted({"machine": {"blame": False}}, method)
    odd = [{**USUAL, "machine": "Z"}, {**USUAL, "pressure": 30.0}]
    assert model.predict(odd).tolist() == [-1, -1]
    assert distance(model, *odd).tolist() == distance(fitted(None, method), *odd).tolist()
    machine = Judgement.of(model, odd).names.index("machine")
    assert (Judgement.of(model, odd).reasons(5) != machine).all()
    first, second = model.explain(odd)
    assert first.sentence() == "unusual by what your rules do not blame: machine"
    assert second.reasons[0].feature == "pressure"
    assert all(reason.feature != "machine" for each in (first, second) for reason in each.reasons)


@pytest.mark.parametrize("method", METHODS)
def test_muted_rows_are_no_outliers_until_the_day_and_it_is_said(method, monkeypatch):
    rules = {"weight": {"max": 5}, "mute": ["machine = M2 until 2026-12-31"]}
    model = fitted(rules, method)
    odd = [{**USUAL, "machine": machine, "weight": 9.0} for machine in ("M1", "M2")]
    for day, labels in (("2026-12-31", [-1, 1]), ("2027-01-01", [-1, -1])):
        monkeypatch.setattr("refold.decisions.rules.today", lambda day=day: np.datetime64(day))
        assert model.predict(odd).tolist() == labels
    monkeypatch.setattr("refold.decisions.rules.today", lambda: np.datetime64("2026-12-31"))
    found = model.explain(odd)[1]
    assert (found.muted, found.p_value) == ("machine = M2 until 2026-12-31", 1.0)
    assert found.headline() == ("row 1: normal, muted by your rule: machine = M2 until 2026-12-31")
    assert found.to_dict()["muted"] == "machine = M2 until 2026-12-31"


def test_a_row_with_a_time_is_muted_by_its_own_day():
    days = np.datetime64("2026-01-01") + np.arange(400)
    table = [{**row, "day": str(day)} for row, day in zip(rows(), days, strict=True)]
    rules = {"weight": {"max": 5}, "mute": ["machine = M2 until 2027-02-10"]}
    model = Detector(over="day", rules=rules, n_jobs=1).fit(table)
    odd = {**USUAL, "machine": "M2", "weight": 9.0}
    new = [{**odd, "day": "2027-02-10"}, {**odd, "day": "2027-02-11"}]
    assert model.predict(new).tolist() == [1, -1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cell", [{"weight": 90.0}, {"grade": "Z"}, {"weight": None}])
def test_a_column_that_is_muted_does_not_count_in_such_rows(method, cell):
    [column] = cell
    model = fitted({column: {"mute": "machine = M2"}}, method)
    odd = [{**USUAL, **cell, "machine": machine} for machine in ("M1", "M2")]
    assert model.predict(odd).tolist() == [-1, 1]
    assert model.predict([{**odd[1], "pressure": 30.0}])[0] == -1


def test_in_a_context_the_direction_is_that_from_what_is_expected():
    level = {"M1": 10.0, "M2": 50.0, "M3": 90.0}
    table = [{**row, "weight": row["weight"] + level[row["machine"]]} for row in rows()]
    rules = {"weight": {"direction": "high"}, "pressure": {"tolerance": 5.0}}
    model = Detector(by="machine", rules=rules, n_jobs=1).fit(table)
    usual = table[1]
    assert usual["machine"] == "M2"
    new = [{**usual, "weight": w} for w in (45.0, 52.0, 60.0)]
    assert model.predict(new).tolist() == [1, 1, -1]
    assert Detector(by="machine", n_jobs=1).fit(table).predict(new).tolist() == [-1, 1, -1]
    off = {**usual, "pressure": usual["pressure"] + 4.0}
    assert model.predict([off])[0] == 1


@pytest.mark.parametrize("method", METHODS)
def test_rules_travel_with_the_model(tmp_path, method):
    rules = {
        "pressure": {"direction": "high", "tolerance": "2%"},
        "weight": {"min": 0, "if": [{"when": {"machine": "M1"}, "max": 2.2}]},
        "grade": {"allowed": ("A", "B"), "mute": "machine = M3"},
        "machine": {"blame": False},
        "mute": [{"when": {"weight": {"max": 1.2}}}],
    }
    model = fitted(rules, method)
    assert clone(model).rules == rules
    refold.save(model, tmp_path / "model.json")
    again = refold.load(tmp_path / "model.json")
    new = [*rows(60, seed=1), *({**r, "weight": 1.1 * r["weight"]} for r in rows(60, seed=2))]
    assert again.score_samples(new).tolist() == model.score_samples(new).tolist()
    assert again.predict(new).tolist() == model.predict(new).tolist()
    assert again.explain(new[:20]).to_dict() == model.explain(new[:20]).to_dict()
    assert again.threshold_ == model.threshold_


def test_models_with_other_rules_are_not_merged():
    here = fitted({"weight": {"max": 5}})
    there = here.empty_like().partial_fit(rows(seed=3))
    assert refold.merge(here, there).predict([{**USUAL, "weight": 9.0}])[0] == -1
    there.set_params(rules={"weight": {"max": 7}})
    with pytest.raises(ValueError, match="different rules for 'weight'"):
        refold.merge(here, there)


def test_learning_in_parts_keeps_to_the_rules():
    model = Detector(rules={"pressure": {"direction": "high"}, "weight": {"max": 5}}, n_jobs=1)
    for begin in range(0, 400, 100):
        model.partial_fit(rows()[begin : begin + 100])
    new = [{**USUAL, "pressure": 2.0}, {**USUAL, "weight": 5.5}]
    assert model.predict(new).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ({"weigth": {"max": 5}}, "there is no column 'weigth'. Did you mean 'weight'?"),
        ({"weight": {"allowed": ["A"]}}, "weight: allowed is for texts and categories"),
        ({"grade": {"max": 5}}, "grade: max is for numbers and dates, and this is a column of"),
        ({"grade": {"direction": "high"}}, "grade: direction is for numbers"),
        ({"grade": {"tolerance": 1}}, "grade: tolerance is for numbers"),
        ({"weight": {"max": "2026-01-01"}}, "weight: max is '2026-01-01', and this is a column"),
        ({"weight": {"format": "AA"}}, "weight: format is for texts"),
        ({"mute": "shift = 3"}, "mute: shift: there is no column 'shift'"),
        ({"mute": "weight = heavy"}, "'heavy' is not a number, and this is a column of numbers"),
        ({"weight": {"max": 0}}, "weight: all training rows lie outside the limits"),
    ],
)
def test_rules_that_do_not_fit_the_table_are_refused_by_name(rules, problem):
    with pytest.raises(UserError, match="rules: ") as error:
        fitted(rules)
    assert problem in str(error.value)


def test_what_rules_do_to_the_training_rows_is_noticed():
    model = fitted({"weight": {"max": 2.5}, "mute": ["machine = M9", "machine = M1"]})
    found = {each.kind: each for each in model.noticed_}
    assert [each.kind for each in model.noticed_].count("idle-rule") == 1
    outside = [k for k, row in enumerate(rows()) if row["weight"] > 2.5]
    assert list(found["outside-rule"].rows) == outside
    assert "machine = M9 holds for none of the 400 training rows" in found["idle-rule"].message


def test_what_two_models_say_is_compared_with_their_rules():
    old, new = fitted({"weight": {"max": 5}}), fitted({"weight": {"max": 4}})
    found = refold.compare(old, new, [{**USUAL, "weight": 1.9}, {**USUAL, "weight": 2.1}])
    [rules] = [each for each in found.differences if each.what == "rules"]
    assert (rules.old, rules.new) == ("{'weight': {'max': 5}}", "{'weight': {'max': 4}}")


def test_feedback_does_not_overrule_a_limit():
    model = fitted({"weight": {"max": 5}, "pressure": {"direction": "high"}})
    odd = {**USUAL, "flow": 35.0, "pressure": 17.5}
    assert model.predict([odd])[0] == -1
    model.accept([odd])
    assert model.predict([odd])[0] == 1
    heavy = {**USUAL, "weight": 9.0}
    model.accept([heavy])
    assert model.predict([heavy])[0] == -1


def test_a_table_of_numbers_alone_keeps_to_the_rules():
    X = np.random.default_rng(0).normal(size=(300, 3))
    for method in METHODS:
        rules = {"x0": {"direction": "low"}, "x1": {"max": 2.0}, "x2": {"blame": False}}
        model = Detector(method=method, rules=rules, n_jobs=1).fit(X)
        new = np.zeros((5, 3))
        new[0, 0], new[1, 0], new[2, 1], new[3, 2] = 9.0, -9.0, 2.01, 9.0
        assert model.predict(new).tolist() == [1, -1, -1, -1, 1]
        said = [each.sentence() for each in model.explain(new)]
        assert said[2].startswith("x1 2.01 is outside the limit you set, at most 2")
        assert said[3] == "unusual by what your rules do not blame: x2"
        assert model.explain(new)[0].label == 1


@pytest.mark.parametrize("method", METHODS)
def test_rules_hold_of_the_numbers_that_a_window_looks_back_at(method):
    rules = {"pressure": {"tolerance": 3.0}, "weight": {"max": 5}, "machine": {"blame": False}}
    model = Detector(method=method, window=5, rules=rules, n_jobs=1).fit(rows())
    new = rows(40, seed=4)
    new[30] = {**new[30], "weight": 9.0}
    assert model.predict(new)[30] == -1
    assert model.explain(new)[30].sentence() == "weight 9 is outside the limit you set, at most 5"


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ({"wheight": {"max": 5}}, "there is no column 'wheight'"),
        ({"weight": {"max": [5]}}, "weight: max is"),
        ({"weight": 5}, "5 is not a mapping"),
        ([1], "must be an instance"),
    ],
)
def test_a_model_file_with_other_rules_is_refused_where_they_stand(tmp_path, rules, problem):
    file = tmp_path / "model.json"
    refold.save(fitted({"weight": {"max": 5}}), file)
    document = json.loads(file.read_text())
    document["parameters"]["rules"] = rules
    document["sha256"] = checksum(document)
    file.write_text(json.dumps(document))
    with pytest.raises(refold.ModelFileError, match=r"parameters\.rules") as error:
        refold.load(file)
    assert problem in str(error.value)


@pytest.mark.parametrize(("alpha", "calibrated_on"), [(0.01, 12_000), (0.001, 30_000)])
def test_of_many_rows_as_many_are_left_out_with_rules_as_the_rate_needs(alpha, calibrated_on):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(30_000, 2)), rng.normal(size=(50_000, 2))
    model = Detector(method="ref", alpha=alpha, rules={"x0": {"direction": "high"}}).fit(X)
    assert model.calibration_.total == calibrated_on
    assert np.mean(model.predict(new) == -1) == pytest.approx(alpha, rel=0.3)


@pytest.mark.parametrize("column", ["pressure", "flow", "weight"])
def test_limits_and_muting_hold_wherever_the_column_stands(column):
    most = max(row[column] for row in rows())
    limited = fitted({column: {"max": most}}, "ref")
    muted = fitted({column: {"mute": "machine = M2"}}, "ref")
    new = [{**USUAL, column: value, "machine": "M2"} for value in (most, most + 0.01, 9 * most)]
    found = Judgement.of(limited, new)
    at = found.names.index(column)
    assert found.violated.tolist() == [[k == at and n > 0 for k in range(5)] for n in range(3)]
    assert limited.predict(new[1:]).tolist() == [-1, -1]
    assert muted.predict(new).tolist() == [1, 1, 1]
    assert muted.predict([{**new[2], "machine": "M1"}]) == [-1]


@pytest.mark.parametrize(("others", "calibrating"), [(9, 9), (8, 40)])
def test_muted_rows_set_the_threshold_only_if_the_others_are_too_few_for_the_rate(
    others, calibrating
):
    table = [{**row, "machine": "M1" if k < others else "M2"} for k, row in enumerate(rows(40))]
    rules = {"mute": "machine = M2"}
    model = Detector(method="ref", alpha=0.1, rules=rules, n_jobs=1).fit(table)
    assert model.calibration_.total == calibrating


@pytest.mark.parametrize(
    ("enough", "n", "judged"), [(50, 1000, 400), (701, 1000, 800), (50, 399, 399)]
)
def test_parts_are_judged_by_rules_until_there_are_enough_rows_and_a_hundred_beyond_the_threshold(
    enough, n, judged, monkeypatch
):
    monkeypatch.setattr(ruled, "_ENOUGH", enough)
    model = Detector(method="ref", alpha=0.25, rules={"weight": {"max": 5}}, n_jobs=1)
    assert model.fit(rows(n)).calibration_.total == judged


def test_where_columns_depend_on_each_other_the_usual_value_is_the_lower_median():
    names = ["pressure", "flow", "weight"]
    table = [{name: row[name] for name in names} for row in rows(60)]
    model = Detector(rules={"flow": {"direction": "high"}}, n_jobs=1).fit(table)
    medians = [np.quantile([row[name] for row in table], 0.5, method="lower") for name in names]
    assert model.scorer().centers.tolist() == medians


def test_the_usual_value_is_the_one_nearest_to_the_median_of_those_that_add_least():
    names = ["pressure", "flow", "weight"]
    table = [{name: row[name] for name in names} for row in rows(201)]
    table[0]["flow"] = None
    rules = {"flow": {"direction": "high"}, "weight": {"tolerance": 0.1}}
    model = Detector(method="ref", rules=rules, n_jobs=1).fit(table)
    plain = Detector(method="ref", n_jobs=1).fit(table)
    parts = plain.scorer().attribution(plain._learned.encoded(table)[0]).parts
    for place, name in enumerate(names):
        values = np.array([row[name] for row in table], dtype=float)
        known = ~np.isnan(values)
        different, first = np.unique(values[known], return_index=True)
        adds = parts[known, place][first]
        small = different[adds <= np.quantile(adds, 0.25)]
        median = np.sort(values[known])[(known.sum() - 1) // 2]
        assert model.scorer().centers[place] == small[np.abs(small - median).argmin()]
    assert model.scorer().steps.tolist() == [0.01] * 3
