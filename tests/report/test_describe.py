"""What a report says is what the model says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import refold
from refold import REF, CreasedREF, drift, explain
from refold.columns.frames import feature_names
from refold.judgement.normal import normal_ranges
from refold.report import describe


@pytest.fixture(scope="module")
def report(model, new):
    return describe(model, new)


@pytest.fixture(scope="module")
def judged(new):
    return new.dropna(how="all")


def test_counts_are_those_of_predict(report, model, new, judged):
    rejected = model.predict(judged) == -1
    assert (report.rows, report.empty, report.judged) == (800, 1, 799)
    assert report.rejected == rejected.sum() > 20
    assert report.rate == rejected.mean()
    assert report.training_rows == 1500
    assert (report.alpha, report.threshold) == (0.01, model.threshold_)
    assert report.distances.counts.sum() == 799


def test_rates_come_from_the_calibration(report, model, judged):
    chosen = refold.select(model.p_values(judged), fdr=0.1)
    assert report.selected == (chosen & (model.predict(judged) == -1)).sum()
    assert report.expected.rate == report.drift.expected
    assert report.expected.rows == pytest.approx(799 * report.expected.rate)
    assert report.expected.interval[0] <= 8 <= report.expected.interval[1]


def test_worst_rows_are_the_farthest(report, model, judged):
    distances, p_values = -model.score_samples(judged), model.p_values(judged)
    order = np.argsort(-distances, kind="stable")[: report.rejected]
    chosen = refold.select(p_values, fdr=0.1)
    assert [(int(r.name), r.distance, r.p_value, r.selected) for r in report.worst] == [
        (judged.index[i], distances[i], p_values[i], chosen[i]) for i in order
    ]


def test_reasons_are_those_of_explain(report, model, judged):
    rows = judged.loc[[int(row.name) for row in report.worst]]
    for row, theirs in zip(
        report.worst, explain(model, rows, reasons=3, nearest=False), strict=True
    ):
        assert row.reasons == tuple(r for r in theirs.reasons if r.share >= 0.01)


def test_a_feature_leads_where_it_is_the_first_reason(report, model, judged):
    rejected = judged[model.predict(judged) == -1]
    first = explain(model, rejected, reasons=1, nearest=False)
    leads = Counter(row.reasons[0].feature for row in first)
    assert {f.name: f.leads for f in report.features if f.leads} == leads
    assert report.blamed == report.rejected


def side_of(value, ranges):
    if value > ranges[-1][1]:
        return "above normal"
    if value < ranges[0][0]:
        return "below normal"
    within = any(low <= value <= high for low, high in ranges)
    return "inside its normal range, far out with others" if within else "between normal values"


def test_groups_have_the_same_reason_and_side(report, model, judged):
    rejected = judged[model.predict(judged) == -1]
    firsts = [row.reasons[0] for row in explain(model, rejected, reasons=1, nearest=False)]
    sides = [(first.feature, side_of(first.value, first.normal)) for first in firsts]
    assert {(g.feature, g.how): g.rows for g in report.groups} == Counter(sides)
    assert [g.rows for g in report.groups] == sorted((g.rows for g in report.groups), reverse=True)
    for group in report.groups:
        members = [side == (group.feature, group.how) for side in sides]
        mine = rejected.loc[members, group.feature]
        assert group.values == (mine.min(), mine.max())
        farthest = [row.name for row in report.worst if int(row.name) in mine.index]
        assert group.examples == tuple(farthest[:3])
    between = next(group for group in report.groups if group.how == "between normal values")
    assert (between.feature, between.rows, between.values) == ("temperature", 20, (40.0, 40.0))


@pytest.mark.parametrize("estimator", [REF(alpha=0.05), CreasedREF(n_creases=16, alpha=0.05)])
def test_the_drivers_are_counted_over_the_worst_thousand(estimator):
    rng = np.random.default_rng(0)
    model = estimator.fit(rng.normal(size=(300, 3)))
    found = describe(model, rng.normal([9.0, 0.0, 0.0], size=(1500, 3)), worst=5)
    assert found.rejected > found.blamed == 1000 == sum(group.rows for group in found.groups)
    assert 1000 <= sum(feature.leads for feature in found.features) <= 2000
    assert found.features[0].leads > 950
    assert len(found.worst) == 5
    assert found.groups[0].feature == "x0"


def test_features_have_their_ranges_and_drift(report, model, new):
    assert [feature.name for feature in report.features] == feature_names(model)
    assert [feature.normal for feature in report.features] == normal_ranges(model.summary_)
    assert tuple(feature.drift for feature in report.features) == drift(model, new).features
    assert report.drift.verdict == "changed"


@pytest.mark.parametrize("kind", [pd.DataFrame, pa.Table.from_pandas, np.asarray])
def test_tables_of_any_kind_give_the_same_report(model, new, kind):
    table = new.iloc[:60, [0, 1, 2]]
    plain = REF(threshold=0.5).fit(kind(table))
    ours = describe(plain, kind(table))
    distances = -REF(threshold=0.5).fit(table).score_samples(table)
    assert [row.distance for row in ours.worst] == sorted(distances[distances > 0.5])[::-1]


def test_what_is_not_listed_is_counted(model, new, report):
    few = describe(model, new, worst=3, reasons=1)
    assert [row.name for row in few.worst] == [row.name for row in report.worst[:3]]
    assert {len(row.reasons) for row in few.worst} == {1}
    assert (few.rejected, few.blamed) == (report.rejected, report.blamed)
    assert describe(model, new, worst=0).worst == ()


def test_rows_are_called_by_their_names(model, new):
    names = [f"part-{i}" for i in range(len(new))]
    named = describe(model, new, row_names=names)
    assert [row.name for row in named.worst] == [
        f"part-{r.name}" for r in describe(model, new).worst
    ]


def test_without_calibration_no_rate_is_claimed():
    rng = np.random.default_rng(0)
    report = describe(REF().fit(rng.normal(size=(200, 2))), rng.normal(size=(50, 2)))
    assert (report.expected, report.selected, report.alpha, report.needed) == (None,) * 4
    assert {row.p_value for row in report.worst} <= {None}
    assert any("no rate of false alarms is promised" in limit for limit in report.card.limits)


def test_the_card_says_where_a_rate_comes_from(model, normal):
    rng = np.random.default_rng(0)
    held_out = REF().fit(rng.normal(size=(300, 2))).calibrate(rng.normal(size=(99, 2)), alpha=0.1)
    said = describe(held_out, rng.normal(size=(5, 2)), about={"Plant": "4"}).card
    assert "at most 10 %" in said.guarantees[0]
    assert dict(said.facts)["Calibration"] == "99 normal rows that were held out"
    assert dict(said.facts)["Plant"] == "4"
    left_out = describe(model, normal[:5]).card
    assert "measured, not proven" in left_out.guarantees[0]
    facts = dict(left_out.facts)
    assert facts["Model"] == "REF(alpha=0.01, levels='all')"
    assert (facts["Training rows"], facts["Columns"], facts["Alpha"]) == ("1,500", "7", "0.01")
    assert facts["refold"] == refold.__version__
    assert facts["Missing values in training"] == "1.10%"


def test_too_few_calibration_rows_for_one_row_to_stand_out_are_said():
    rng = np.random.default_rng(0)
    model = REF().fit(rng.normal(size=(300, 2))).calibrate(rng.normal(size=(199, 2)), alpha=0.1)
    new = rng.normal(size=(50, 2))
    new[0] = 40.0
    assert describe(model, new).needed == 499
    assert describe(model, new).selected == 0
    assert describe(model, new[:20]).needed is None
    assert describe(model, new[:20]).selected == 1


def test_a_distance_of_the_users_own_has_no_reasons_and_says_so():
    rng = np.random.default_rng(0)
    model = REF(distance=lambda folded: np.abs(folded).max(axis=1), engine="reference")
    report = describe(model.fit(rng.normal(size=(100, 2))), [[9.0, 0.0]])
    assert report.worst[0].reasons == ()
    assert "cannot be divided" in report.unexplained
    assert (report.blamed, report.groups) == (0, ())


def test_estimated_reasons_are_shown_too():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    table = pd.DataFrame({"a": x, "b": x + 0.1 * rng.normal(size=500)})
    model = CreasedREF().fit(table)
    new = pd.DataFrame({"a": [1.0, 1.0], "b": [1.1, -1.0]})
    report = describe(model, new)
    theirs = model._reasons(new)
    (row,) = report.worst
    assert row.name == "1"
    first = int(theirs.drop[1].argmax())
    assert row.reasons[0].feature == ["a", "b"][first]
    assert row.reasons[0].expected == pytest.approx(theirs.expected[1, first], abs=1e-3)
    side = "higher" if row.reasons[0].value > row.reasons[0].expected else "lower"
    (group,) = report.groups
    assert group.how == f"{side} than expected"
    assert (group.rows, group.examples) == (1, ("1",))
    assert max(feature.leads for feature in report.features) == report.blamed == 1


def test_large_numbers_and_single_rows():
    X = np.array([[1e308, 1.0], [-1e308, 2.0], [0.0, 3.0], [1e300, 4.0]])
    report = describe(REF().fit(X), X[:1])
    assert report.judged == 1
    assert describe(REF().fit(X), X.astype(np.float64)[2:]).judged == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"worst": -1}, "worst=-1 must be a whole number of 0 or more"),
        ({"worst": 2.5}, "worst=2.5"),
        ({"reasons": 0}, "reasons=0 must be a whole number of 1 or more"),
        ({"fdr": 1.5}, "fdr=1.5 is not a rate"),
        ({"row_names": ["a"]}, "There are 800 rows and 1 row_names"),
    ],
)
def test_bad_wishes_are_refused(model, new, options, message):
    with pytest.raises(ValueError, match=message):
        describe(model, new, **options)


def test_bad_tables_are_refused(model, new):
    with pytest.raises(ValueError, match="None of the 3 rows has a value"):
        describe(model, new.iloc[[77] * 3])
    infinite = new.copy()
    infinite.iloc[4, 1] = np.inf
    with pytest.raises(ValueError, match="row 4, column 'pressure'"):
        describe(model, infinite)
    with pytest.raises(ValueError, match="feature names"):
        describe(model, new.rename(columns={"pressure": "p"}))


def test_a_column_that_is_half_of_the_reason_in_many_rows_is_counted(rng):
    normal = rng.normal(size=(800, 40))
    model, new = REF(alpha=0.01).fit(normal), rng.normal(size=(200, 40))
    for row in range(10):  # another column is a little farther off in each
        new[row, 7], new[row, 10 + row] = 9.0, 9.5
    found = describe(model, new)
    assert next(each.leads for each in found.features if each.name == "x7") == 10
