"""Reasons: exact shares, readable ranges, text that a person reads."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from refold import REF, CreasedREF, explain
from refold.base.words import number
from refold.columns.summary import Summary
from refold.explanation import Reason, importance
from refold.judgement.normal import normal_ranges
from refold.judgement.number_text import ranges_text


@pytest.fixture
def parts(rng):
    return pd.DataFrame(
        {
            "torque [Nm]": rng.normal(74.0, 2.0, size=600),
            "speed": rng.normal(1500.0, 30.0, size=600),
            "gap": rng.normal(size=600) * 0.1 + 5.0,
        }
    )


@pytest.fixture
def bad(parts):
    bad = parts.head(3).copy()
    bad.loc[1, "torque [Nm]"] = 91.2
    bad.loc[2, "speed"] = math.nan
    return bad


def test_shares_add_up_to_one_and_contributions_to_the_distance(parts, bad):
    model = REF(levels="all").fit(parts)
    for row, distance in zip(explain(model, bad), -model.score_samples(bad), strict=True):
        assert sum(r.share for r in row.reasons) == pytest.approx(1.0, rel=1e-12)
        assert sum(r.contribution for r in row.reasons) == pytest.approx(distance, rel=1e-12)
        shares = [r.share for r in row.reasons]
        assert shares == sorted(shares, reverse=True)


def test_a_reason_reads_as_a_sentence_with_its_unit(parts, bad):
    row = explain(REF().fit(parts), bad)[1]
    text = str(row.reasons[0])
    low, high = row.reasons[0].normal[0]
    assert row.label == -1
    assert text.startswith(f"torque 91.2 Nm is {91.2 - high:.4g}")
    assert f" Nm above the highest normal value, {high:.4g} Nm – " in text
    assert text.endswith(f" % of the distance; normal {low:.4g}–{high:.4g} Nm")
    assert (low, high) == (parts["torque [Nm]"].min(), parts["torque [Nm]"].max())
    assert str(row).startswith(f"row 1: outlier; {row.sentence()}\n  ")


def test_a_missing_value_adds_nothing(parts, bad):
    reason = explain(REF().fit(parts), bad)[2].reasons[-1]
    assert (reason.feature, reason.share, reason.accepted_at) == ("speed", 0.0, None)
    assert "speed is missing" in str(reason)


def test_the_p_value_comes_with_a_calibration(parts, bad):
    model = REF().fit(parts[:300])
    assert explain(model, bad)[0].p_value is None
    model.calibrate(parts[300:], alpha=0.05)
    given = [row.p_value for row in explain(model, bad)]
    np.testing.assert_array_equal(given, model.p_values(bad))
    assert "p = " in str(explain(model, bad)[1])


def test_only_the_first_reasons_are_given_if_asked(parts, bad):
    model = REF().fit(parts)
    few, every = explain(model, bad, reasons=2), explain(model, bad)
    assert [row.reasons for row in few] == [row.reasons[:2] for row in every]
    with pytest.raises(ValueError, match="reasons=0"):
        explain(model, bad, reasons=0)


@pytest.mark.parametrize(("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_as_a_table_there_is_a_line_per_row_and_reason(parts, bad, backend, kind):
    explained = explain(REF().fit(parts), bad)
    frame = explained.to_frame(backend)
    assert isinstance(frame, kind)
    assert frame.shape == (9, 19)
    assert list(frame["rank"]) == [1, 2, 3] * 3
    assert list(frame["feature"])[3] == "torque [Nm]"
    assert len(explained.worst(1).to_frame("pandas")) == 3


def test_the_worst_rows_come_first(parts, bad):
    distances = [row.distance for row in explain(REF().fit(parts), bad).worst(3)]
    assert distances == sorted(distances, reverse=True)


def test_importance_ranks_the_feature_that_moved_first(parts):
    model = REF().fit(parts)
    faster = parts.assign(speed=parts["speed"] + 300.0)
    ranked = importance(model, faster)
    assert ranked[0].feature == "speed"
    assert ranked[0].leads > 0.9
    assert sum(i.share for i in ranked) == pytest.approx(1.0)
    moved = model.contributions(faster).mean(axis=0)
    assert ranked[0].contribution == pytest.approx(moved.max())


def test_what_cannot_be_explained_is_refused(parts):
    with pytest.raises(NotFittedError):
        explain(REF(), parts)
    own = REF(distance=lambda y: abs(y).max(axis=1)).fit(parts)
    with pytest.raises(ValueError, match="cannot be divided"):
        explain(own, parts)


def ranges(values):
    return normal_ranges(Summary.of(np.asarray(values, dtype=float)[:, None], None))[0]


def test_a_real_gap_splits_the_range(rng):
    two = ranges(np.concatenate([rng.normal(0, 1, 500), rng.normal(20, 1, 400)]))
    assert len(two) == 2
    assert two[0][1] < 4 < 16 < two[1][0]
    assert "or" in ranges_text(two)


@pytest.mark.parametrize("n", [5, 20, 60, 300, 5000])
@pytest.mark.parametrize(
    "draw", ["normal", "exponential", "lognormal", "standard_cauchy", "uniform"]
)
def test_chance_and_tails_are_no_gaps(draw, n):
    split = sum(
        len(ranges(getattr(np.random.default_rng(seed), draw)(size=n))) > 1 for seed in range(40)
    )
    assert split <= 1


def test_few_values_are_named_one_by_one(rng):
    assert ranges(rng.integers(2, size=400) * 8) == ((0.0, 0.0), (8.0, 8.0))
    assert ranges_text(ranges(rng.integers(2, size=400) * 8)) == "0 or 8"
    assert ranges(np.full(9, 3.0)) == ((3.0, 3.0),)
    assert ranges([-1e308, 1e308, 0.0]) == ((-1e308, 1e308),)


def test_a_few_strays_do_not_widen_the_range(rng):
    low, high = ranges(np.append(rng.normal(size=2000), [1e6, -1e6]))[0]
    assert -4 < low < -2 < 2 < high < 4


def test_a_creased_model_says_what_it_expected(rng):
    x = rng.normal(size=500)
    table = pd.DataFrame({"load [kN]": 50 + 5 * x, "strain": x + 0.1 * rng.normal(size=500)})
    model = CreasedREF().fit(table)
    (row,) = explain(model, pd.DataFrame({"load [kN]": [55.0], "strain": [-1.0]}))
    assert row.label == -1
    assert row.p_value is not None
    strain = next(reason for reason in row.reasons if reason.feature == "strain")
    assert strain.expected == pytest.approx(1.0, abs=0.1)
    assert str(strain).startswith(
        f"strain −1 is unusual with load 55 kN: expected {strain.expected:.4g} – "
    )
    assert 0.0 < sum(reason.share for reason in row.reasons) <= 1.0


def test_a_common_discrete_value_does_not_lead_when_others_explain(rng):
    table = pd.DataFrame({"year": 2007.0 + rng.integers(3, size=400), "mass": rng.normal(size=400)})
    rows = pd.DataFrame({"year": [2007.0, 2009.0, 2012.0], "mass": [5.0, 2.0, 0.1]})
    model = REF(alpha=0.05).fit(table)
    led = [row.reasons[0].feature for row in explain(model, rows)]
    assert led == ["mass", "mass", "year"]
    years = [next(r for r in row.reasons if r.feature == "year") for row in explain(model, rows)]
    expected = model.contributions(rows)[:, 0]
    np.testing.assert_array_equal([year.contribution for year in years], expected)


@pytest.mark.parametrize("make", [REF, CreasedREF])
def test_without_nearest_values_the_reasons_are_the_same(parts, bad, make):
    model = make().fit(parts)
    for quick, full in zip(explain(model, bad, nearest=False), explain(model, bad), strict=True):
        assert quick.changes == ()
        assert all(reason.accepted_at is reason.stated is None for reason in quick.reasons)
        assert list(map(str, quick.reasons)) == list(map(str, full.reasons))


@pytest.mark.parametrize("nearest", [True, False])
@pytest.mark.parametrize("make", [REF, CreasedREF])
def test_a_row_is_explained_alike_alone_and_among_others(rng, make, nearest):
    model = make(alpha=0.05).fit(rng.normal(size=(300, 4)))
    rows = rng.normal(size=(40, 4)) * rng.choice([1.0, 4.0], size=(40, 4))
    for row, one in zip(rows, explain(model, rows, nearest=nearest), strict=True):
        assert explain(model, [row], nearest=nearest)[0].because() == one.because()


def test_numbers_have_a_real_minus_and_as_many_digits_as_they_need():
    assert number(-26.954) == "−26.95"
    assert number(-12345.6) == "−12,346"
    assert ranges_text(((-26.95, -23.79),)) == "−26.95 to −23.79"
    assert ranges_text(((0.0, 5.0), (20.0, 30.0))) == "0–5 or 20–30"
    reason = Reason("x", 78.4412, 1.0, 1.0, ((70.0, 78.4411),), inside=False, as_far=0.0)
    sentence = "x 78.4412 is 0.0001 above the highest normal value, 78.4411"
    assert str(reason) == f"{sentence} – 100 % of the distance; normal 70–78.4411"


def test_the_rate_of_a_creased_model_is_its_alpha(rng):
    model = CreasedREF(alpha=0.2).fit(rng.normal(size=(200, 2)))
    assert model.alpha_ == 0.2
    assert model.calibrate(alpha=0.1).alpha_ == 0.1
    X = np.r_[rng.normal(size=(20, 2)), rng.normal(9.0, size=(20, 2))]
    assert model.tune_threshold(X, np.repeat([1, -1], 20)).alpha_ is None


def test_a_row_without_any_value_is_said_not_to_be_judged():
    model = REF().fit(np.random.default_rng(0).normal(size=(50, 2)))
    unjudged = explain(model, [[np.nan, np.nan]])[0]
    assert str(unjudged) == "row 0: not judged, it has no value"
