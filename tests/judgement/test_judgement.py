"""What a model says of rows: the same as the model's own methods, read once, scored once."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from refold import REF, CreasedREF, Detector
from refold.explanation import importance
from refold.judgement import Judge, Judgement, answer_names, answer_types, answers
from refold.judgement.blame import near_expected
from refold.judgement.expected import Relations, expected_numbers
from refold.models.scoring import FoldScorer
from tests.tables import real_table

MODELS = {
    "REF": lambda: REF(alpha=0.05),
    "path": lambda: REF(levels="all", distance="l2"),
    "reference": lambda: REF(engine="reference"),
    "sketch": lambda: REF(engine="sketch"),
    "creased": lambda: CreasedREF(n_creases=32),
}


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(300, 3))
    X[7] = [0.0, 9.0, 0.0]
    X[11, 1] = np.nan
    X[20] = np.nan
    return X


@pytest.fixture(params=MODELS)
def model(request, rng):
    return MODELS[request.param]().fit(rng.normal(size=(400, 3)))


def test_it_says_what_the_model_says(model, rows):
    found, known = Judgement.of(model, rows), np.delete(np.arange(300), 20)
    assert np.flatnonzero(~found.judged).tolist() == [20]
    np.testing.assert_array_equal(found.distances[known], -model.score_samples(rows[known]))
    np.testing.assert_array_equal(found.labels[known], model.predict(rows[known]))
    assert found.labels[20] == 0
    assert np.isnan(found.distances[20])
    if hasattr(model, "calibration_"):
        np.testing.assert_array_equal(found.p_values[known], model.p_values(rows[known]))
        assert np.isnan(found.p_values[20])
    else:
        assert found.p_values is None


def test_parts_are_those_of_the_model_and_come_with_the_same_distances(model, rows):
    found, known = Judgement.of(model, rows, explained=True), np.delete(np.arange(300), 20)
    np.testing.assert_array_equal(found.distances, Judgement.of(model, rows).distances)
    parts, expected = found.attribution().parts, found.attribution().expected
    assert (parts[20] == 0.0).all()
    assert parts[11, 1] == pytest.approx(0.0, abs=1e-9)
    assert parts[7].argmax() == 1
    if isinstance(model, CreasedREF):
        reasons = model._reasons(rows[known])
        np.testing.assert_array_equal(parts[known], np.maximum(reasons.drop, 0.0))
        np.testing.assert_array_equal(expected[known], reasons.expected)
    else:
        np.testing.assert_array_equal(parts[known], model.contributions(rows[known]))
        np.testing.assert_allclose(parts[known].sum(axis=1), found.distances[known], rtol=1e-12)
        assert expected is None


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "table": pa.table,
    "batch": pa.RecordBatch.from_pydict,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_tables_of_every_kind_are_read(kind, rows):
    columns = {name: rows[:, k] for k, name in enumerate(["heat", "flow", "load"])}
    model = REF().fit(pd.DataFrame(rows, columns=[*columns]))
    found = Judgement.of(model, FRAMES[kind](columns))
    assert found.names == ("heat", "flow", "load")
    np.testing.assert_array_equal(found.distances, Judgement(Judge.of(model), rows).distances)


def test_columns_without_names_are_called_as_by_scikit_learn(rows):
    model = REF().fit(rows)
    assert Judge.of(model).names == tuple(model.get_feature_names_out())


def test_errors_name_the_column_and_the_row_of_the_table(model, rows):
    rows[40, 2] = np.inf  # the twentieth row is not judged: it still counts
    with pytest.raises(ValueError, match="infinity: row 40, column 'x2'"):
        _ = Judgement.of(model, rows).distances


def test_some_rows_keep_what_is_known_of_them(model, rows, monkeypatch):
    found = Judgement.of(model, rows, explained=True)
    worst = found.worst_first[:5]
    part = found.take(worst)
    monkeypatch.setattr(type(part.judge.scorer), "distances", None)
    if part.judge.scorer.additive:
        monkeypatch.setattr(type(part.judge.scorer), "attribution", None)
    assert (np.diff(part.distances) <= 0.0).all()
    for times in (1, 2):
        again = Judgement.joined([part] * times)
        np.testing.assert_array_equal(again.distances, np.tile(part.distances, times))
    np.testing.assert_array_equal(
        part.attribution().parts, found.attribution().parts[found.worst_first[:5]]
    )


def test_rows_keep_their_names_where_all_have_some(model, rows):
    parts = [Judgement.of(model, rows[k : k + 2]) for k in (0, 2)]
    assert Judgement.joined(parts).row_names is None
    parts[0].row_names = ["P0", "P1"]
    assert Judgement.joined(parts).row_names is None
    parts[1].row_names = ["P2", "P3"]
    joined = Judgement.joined(parts)
    assert joined.row_names == ["P0", "P1", "P2", "P3"]
    assert joined.take(np.array([3, 0])).row_names == ["P3", "P0"]


def test_rows_are_taken_in_the_order_that_is_asked_for(model, rows):
    found, order = Judgement.of(model, rows), np.arange(len(rows))[::-1]
    np.testing.assert_array_equal(found.take(order).distances, found.distances[::-1])
    np.testing.assert_array_equal(found.take(order).rows, found.rows[::-1])
    assert found.take(order[::-1]) is found
    order = np.arange(len(rows))
    order[[3, 4]] = 4, 3
    np.testing.assert_array_equal(found.take(order).rows[2:6], rows[[2, 4, 3, 5]])


def test_a_row_as_far_out_as_the_threshold_is_normal(model, rows):
    model.threshold_ = float(-model.score_samples(rows[:1])[0])
    assert Judgement.of(model, rows[:1]).labels.tolist() == model.predict(rows[:1]).tolist() == [1]
    assert Judgement.of(model, rows).reasons(3)[0].tolist() == [-1, -1, -1]


def test_tables_of_another_width_are_refused_and_change_nothing(model, rows):
    with pytest.raises(ValueError, match="2 features"):
        Judgement.of(model, rows[:, :2])
    assert model.n_features_in_ == 3
    assert len(Judgement.of(model, rows)) == 300


def test_rows_of_which_none_is_judged_join_the_others(model, rows):
    whole = Judgement.of(model, rows).attribution()
    parts = [Judgement.of(model, some) for some in (rows[:20], rows[20:21], rows[21:])]
    for part in parts:
        part.attribution()
    joined = Judgement.joined(parts).attribution()
    for got, expected in zip(joined, whole, strict=True):
        assert (got is None) == (expected is None)
        if expected is not None:
            np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_a_judge_travels_without_training_rows(model, rows):
    judge = Judge.of(model, on_worker=True)
    sent = pickle.dumps(judge)
    np.testing.assert_array_equal(
        pickle.loads(sent).rows(rows).distances, Judgement.of(model, rows).distances
    )
    assert judge.scorer.n_jobs == 1
    if isinstance(judge.scorer, FoldScorer):
        assert len(sent) < 50_000


def test_a_judge_stays_as_it_was_when_the_model_learns_on(rows, rng):
    model = REF(engine="sketch").fit(rng.normal(size=(400, 3)))
    judge = Judge.of(model)
    before = judge.rows(rows).distances
    model.partial_fit(5.0 + rng.normal(size=(4000, 3)))
    np.testing.assert_array_equal(judge.rows(rows).distances, before)


def test_answers_have_the_names_and_types_that_are_announced(model, rows):
    judge = Judge.of(model)
    names, kinds = answer_names(judge, 5, "r_", ["x"]), answer_types(judge, 5)
    columns = answers(judge.rows(rows, explained=True), 5)
    table = pa.table(columns, schema=pa.schema([*zip(names, kinds, strict=True)]))
    assert set(table.slice(20, 1).to_pylist()[0].values()) == {None}
    assert ("r_p_value" in names) == hasattr(model, "calibration_")
    seventh = table.slice(7, 1).to_pylist()[0]
    assert (seventh["r_label"], seventh["r_reason_1"]) == (-1, "x1")
    assert seventh["r_reason_4"] is None  # there are three columns
    with pytest.raises(ValueError, match=r"already has the columns \['r_label'\]"):
        answer_names(judge, 5, "r_", ["r_label"])


def test_no_row_is_an_answer_too(model):
    found = Judge.of(model).rows(np.empty((0, 3)), explained=True)
    assert {len(column) for column in answers(found, 2)} == {0}
    assert found.attribution().parts.shape == (0, 3)


def test_only_our_models_can_judge(rows):
    from sklearn.ensemble import IsolationForest

    with pytest.raises(TypeError, match="IsolationForest is not one of refold's own models"):
        Judgement.of(IsolationForest().fit(rows[:5]), rows)


def test_importance_is_over_the_rows_that_were_judged(model, rows):
    assert importance(model, rows[[7, 20]])[0].feature == "x1"
    assert importance(model, rows[[7, 20]])[0].leads == 1.0


def test_a_value_that_many_rows_have_does_not_lead():
    data = pd.read_csv(real_table("penguins.csv")).dropna().select_dtypes("number")
    train = data.sample(frac=0.7, random_state=8)
    new = data.drop(train.index)
    for model in (REF(alpha=0.05), CreasedREF(alpha=0.05)):
        found = Judgement.of(model.fit(train), new)
        year = found.names.index("year")
        assert (found.by_blame[:, 0] == year).mean() < 0.05  # it led in 98.5 % of the rows
        faulty = Judgement.of(model, new.assign(year=2012))  # a value that none has does
        assert (faulty.by_blame[:, 0] == year).all()


def test_numbers_are_as_they_were_read_and_rows_of_an_unknown_group_are_counted(rng):
    line = rng.choice(list("AB"), 300)
    size = np.where(line == "A", 5.0, 9.0) + rng.normal(0.0, 0.1, 300)
    table = pd.DataFrame({"line": line, "size": size, "weight": rng.normal(size=300)})
    new = pd.DataFrame({"line": ["A", "C", "C", None], "size": 5.0, "weight": 0.5})
    found = Judgement.of(Detector(by="line").fit(table), new)
    assert (found.context_gaps.new_group, found.context_gaps.no_group) == (2, 1)
    assert found.numbers_as_read(found.names.index("weight")).tolist() == [0.5] * 4
    assert abs(found.numbers[0, found.names.index("size")]) < 1.0
    plain = Judgement.of(Detector().fit(table), new)
    assert plain.context_gaps.new_group == 0
    assert plain.numbers_as_read(0).tolist() == [5.0] * 4


def test_shares_are_in_their_order_and_no_more_than_all(rng):
    x = rng.normal(size=400)
    X = np.column_stack([x, x + 0.1 * rng.normal(size=400), rng.integers(3, size=400)])
    found = Judgement.of(CreasedREF(n_creases=30).fit(X), rng.normal(size=(200, 3)) * 2)
    shares = np.take_along_axis(found.shares, found.by_blame, axis=1)
    assert (np.diff(shares, axis=1) <= 0).all()
    assert (shares.sum(axis=1) <= 1.0 + 1e-12).all()
    named = found.reasons(3)
    assert (named[~found.outlier] == -1).all()
    assert ((named >= 0) == (found.outlier[:, None] & (shares >= 0.01))).all()


def test_what_is_expected_of_a_row_does_not_depend_on_its_neighbours(rng):
    X = rng.normal(size=(400, 23)) @ rng.normal(size=(23, 23))
    judge = Judge.of(CreasedREF(n_creases=32).fit(X))
    together = Relations.of(Judgement(judge, X)).expected
    for row in range(0, 400, 37):
        alone = Relations.of(Judgement(judge, X[row : row + 1])).expected
        np.testing.assert_array_equal(alone[0], together[row])


def test_numbers_are_related_as_if_the_other_columns_had_not_been_learned(rng):
    numbers = rng.normal(size=(600, 4)) @ rng.normal(size=(4, 4))
    table = pd.DataFrame(numbers, columns=list("abcd"))
    table["kind"] = np.where(numbers[:, 0] > 0, "high", "low")
    found = Judgement.of(Detector(random_state=0).fit(table), table)
    relations = Relations.of(found)
    creases = relations.creases
    own = np.flatnonzero(creases.varying) < 4
    covariance = np.linalg.inv(creases.precision)
    np.testing.assert_allclose(
        relations.precision, np.linalg.inv(covariance[np.ix_(own, own)]), rtol=1e-6, atol=1e-9
    )


def test_what_is_expected_of_a_number_is_what_its_category_usually_has(rng):
    kind = rng.choice(["small", "large"], 600, p=[0.25, 0.75])
    size = np.where(kind == "small", 10.0, 40.0) + rng.normal(0.0, 0.5, 600)
    table = pd.DataFrame({"kind": kind, "size": size, "other": rng.normal(size=600)})
    model = Detector(random_state=0).fit(table)
    new = pd.DataFrame({"kind": ["small", "large"], "size": [40.0, 10.0], "other": 0.0})
    found = Judgement.of(model, new, explained=True)
    np.testing.assert_array_equal(found.labels, -1)
    np.testing.assert_allclose(found.expected[:, 0], [10.0, 40.0], atol=2.0)


def test_what_would_be_beyond_all_normal_values_is_said_to_be(rng):
    x = rng.uniform(0.0, 10.0, 500)
    model = CreasedREF(n_creases=16).fit(np.column_stack([x, x + 0.05 * rng.normal(size=500)]))
    expected, beyond = expected_numbers(Judgement.of(model, [[15.0, 5.0], [5.0, 5.0]]))
    assert beyond.tolist() == [[False, True], [False, False]]
    assert 9.0 < expected[0, 1] < 11.0
    np.testing.assert_allclose(expected[1], 5.0, atol=0.5)


def test_what_is_expected_is_beyond_by_more_than_a_rounding_of_half_the_range(rng):
    x = rng.uniform(2.0, 3.0, 500)
    X = np.column_stack([x, 10.0 * x + 0.01 * rng.normal(size=500)])
    model = CreasedREF(n_creases=16, box=0.0).fit(X)
    ends = [f(X[:, 0]) + step for f in (np.min, np.max) for step in np.linspace(-2e-3, 2e-3, 81)]
    rows = np.column_stack([ends, np.full(len(ends), 25.0)])
    raw, (low, high) = model._reasons(rows).expected, (X.min(axis=0), X.max(axis=0))
    outside = np.maximum(low - raw, raw - high) > 1e-3 * (high - low) / 2.0
    expected, beyond = expected_numbers(Judgement.of(model, rows))
    assert 0.2 < outside[:, 1].mean() < 0.8
    np.testing.assert_array_equal(beyond, outside)
    assert (expected >= low).all()
    assert (expected <= high).all()


def test_a_number_that_nearly_all_rows_have_is_as_expected_only_if_it_is_that(rng):
    X = np.column_stack([np.where(np.arange(400) < 2, 1.0, 0.0), rng.normal(size=(400, 2))])
    found = Judgement.of(CreasedREF(n_creases=16).fit(X), [[0.0, 9.0, 0.0], [1.0, 0.0, 0.0]])
    assert near_expected(found, far_out=False)[:, 0].tolist() == [True, False]


@pytest.fixture(scope="module", params=["creased", "ref"])
def grouped(request):
    """Rows of machines that idle or run, with by what their distances are divided.

    Each machine runs for another share of its time; the machine of the last row is not known.
    """
    rng = np.random.default_rng(4)
    machine = np.repeat(np.arange(20), 60)
    runs = rng.random(1200) < rng.uniform(0.1, 0.9, size=20)[machine]
    values = 6.0 * runs[:, None] + 0.5 * rng.normal(size=(1200, 3))
    table = pd.DataFrame(values, columns=list("abc")).assign(machine=[f"M{k}" for k in machine])
    model = Detector(by="machine", alpha=0.05, method=request.param, n_jobs=1).fit(table)
    new = table.iloc[::7].copy()
    new.iloc[::5, :3] += 4.0
    new.iloc[-1, -1] = "not known"
    scales = model.scorer().group_scales
    assert (scales > 1.0).sum() > 3
    of_rows = np.append(scales[machine[::7]][:-1], 1.0)
    return Judgement.of(model, new), of_rows


def test_rows_with_other_numbers_stay_in_their_groups(grouped):
    found, scales = grouped
    rows = np.arange(len(found))
    others = np.roll(rows, 25)
    asked = found.with_numbers(found.numbers[others], rows)
    np.testing.assert_allclose(
        asked.distances, found.distances[others] * scales[others] / scales, rtol=1e-12
    )
    some = np.array([100, 3, 3])
    part = found.with_numbers(found.numbers[others[some]], some)
    np.testing.assert_allclose(part.distances, asked.distances[some], rtol=1e-12)


def test_rows_that_lose_all_numbers_are_rows_without_a_value(grouped):
    found, scales = grouped
    wide = int(np.argmax(scales))
    X = np.array([[np.nan] * 3, [found.numbers[wide, 0], np.nan, np.nan]])
    asked = found.with_numbers(X, np.array([wide, wide]))
    assert asked.distances[0] == 3 * 10.0 * found.judge.scorer.unit
    assert asked.outlier[0]
    inside = found.judge.scorer.inside.distances(X[1:])
    np.testing.assert_allclose(asked.distances[1:], inside / scales[wide], rtol=1e-12)


def test_the_largest_normal_distance_inside_is_that_of_the_group(grouped):
    found, scales = grouped
    np.testing.assert_allclose(found.thresholds_inside, found.judge.threshold * scales, rtol=1e-12)
    inside = found.judge.scorer.inside.distances(found.numbers)
    np.testing.assert_array_equal(inside > found.thresholds_inside, found.outlier)
    assert 0 < found.outlier.sum() < len(found)


def test_rows_with_other_numbers_stay_outside_limits_and_muted(rng):
    table = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    rules = {"a": {"max": 4.0}, "mute": [{"when": {"b": {"min": 50.0}}}]}
    model = Detector(rules=rules, n_jobs=1).fit(table)
    found = Judgement.of(model, pd.DataFrame({"a": [0.0, 5.0, 0.0], "b": [0.0, 0.0, 60.0]}))
    usual = found.with_numbers(np.zeros((3, 2)), np.arange(3)).distances
    outside = 1000.0 * found.judge.scorer.unit
    np.testing.assert_allclose(usual, found.distances[0] + [0.0, outside, -found.distances[0]])
    np.testing.assert_array_equal(found.thresholds_inside, np.full(3, model.threshold_))


@pytest.mark.parametrize("make", [lambda: CreasedREF(n_creases=16), lambda: Detector(method="ref")])
def test_rows_with_other_numbers_are_judged_as_rows_that_came_with_them(make, rng):
    X, new = rng.normal(size=(300, 3)), 2.0 * rng.normal(size=(2, 3))
    model = make().fit(X)
    found = Judgement.of(model, X)
    asked = found.with_numbers(new, np.array([5, 2]))
    np.testing.assert_array_equal(asked.distances, -model.score_samples(new))
    np.testing.assert_array_equal(found.thresholds_inside, np.full(300, model.threshold_))
