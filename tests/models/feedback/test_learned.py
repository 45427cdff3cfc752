"""Accepted rows are learned as partial_fit learns rows, and calibrate nothing."""

import numpy as np
import pandas as pd
import pytest

from refold import REF, CreasedREF, Detector
from refold.algorithm import kernels
from tests.conftest import assert_same_histogram
from tests.models.feedback.makes import numbers, odd_parts, parts
from tests.tables import adbench_normals, real_table

ROWS, ODD = parts(600, seed=0), odd_parts()


def assert_same_sketch(one, other):
    assert (one.rows, one.weight) == (other.rows, other.weight)
    for a, b in zip(one.histograms, other.histograms, strict=True):
        assert_same_histogram(a, b)


def test_a_sketch_is_that_of_partial_fit():
    accepted = REF(engine="sketch").fit(numbers(ROWS)).accept(numbers(ODD), times=2)
    learned = REF(engine="sketch").fit(numbers(ROWS))
    learned.partial_fit(numbers(ODD), sample_weight=[2.0, 2.0, 2.0])
    assert_same_sketch(accepted.sketch_, learned.sketch_)
    np.testing.assert_array_equal(accepted.chain_.shifts, learned.chain_.shifts)


def test_a_calibration_of_a_sketch_is_kept():
    model = REF(engine="sketch", alpha=0.05).fit(numbers(ROWS))
    calibration, threshold = model.calibration_, model.threshold_
    model.accept(numbers(ODD))
    assert model.calibration_ is calibration
    assert (model.threshold_, model.alpha_) == (threshold, 0.05)


def test_sums_are_those_of_partial_fit_and_calibration_rows_stay():
    accepted = CreasedREF(n_creases=32).fit(numbers(ROWS)).accept(numbers(ODD))
    learned = CreasedREF(n_creases=32).fit(numbers(ROWS)).partial_fit(numbers(ODD))
    np.testing.assert_array_equal(accepted.sums_.total, learned.sums_.total)
    np.testing.assert_array_equal(accepted.sums_.products(), learned.sums_.products())
    np.testing.assert_array_equal(accepted.creases_.directions, learned.creases_.directions)
    assert_same_sketch(accepted._learned.state.sketch, learned._learned.state.sketch)
    np.testing.assert_array_equal(accepted.training_sample(), numbers(ROWS).to_numpy())
    assert accepted.calibration_.total == 600.0
    assert learned.calibration_.total == 603.0


def test_the_calibration_is_by_leaving_out_one_row_of_the_model_with_accepted_ones():
    """By hand: learn all rows but one with the same creases, accept, and score that one."""
    rows, odd = numbers(ROWS).to_numpy()[:300], numbers(ODD).to_numpy()
    model = CreasedREF(n_creases=16, box=0.0).fit(rows)
    empty = model.empty_like()
    model.accept(odd)
    scoring = model.scoring_
    for left_out in (0, 17, 299):
        others = np.delete(rows, left_out, axis=0)
        without = empty.empty_like().partial_fit(others).accept(odd).scoring_
        form, row = without.form, rows[[left_out]]
        expected = kernels.leverages(scoring.creases.map, form, row, 1)[0] / scoring.unit
        assert scoring.left_out[left_out] == pytest.approx(expected, rel=1e-6)


def test_a_training_row_that_is_accepted_does_not_lower_the_threshold():
    """Else the rows that were reported would no longer count for the rate."""
    X = np.random.default_rng(0).normal(size=(1000, 4))
    new = np.random.default_rng(1).normal(size=(20_000, 4))
    model = CreasedREF(alpha=0.05, n_creases=64).fit(X)
    alarms = X[model.predict(X) == -1]
    model.accept(alarms)
    assert (model.predict(alarms) == 1).mean() > 0.9
    assert np.mean(model.predict(new) == -1) == pytest.approx(0.05, abs=0.015)


def test_a_discrete_column_stays_discrete():
    rows, odd = numbers(ROWS), numbers(ODD)[1:2]  # grade 7, where there are 1 to 5
    model = CreasedREF(n_creases=32).fit(rows).accept(odd)
    levels = model._learned.state.box.levels[2]
    np.testing.assert_array_equal(levels, [1.0, 2.0, 3.0, 4.0, 5.0, 7.0])
    between = rows[:1].assign(grade=3.5)
    assert model.predict(between) == [-1]


@pytest.mark.parametrize("method", ["creased", "ref"])
def test_counts_are_those_of_partial_fit_and_the_sample_stays(method):
    accepted = Detector(method=method).fit(ROWS).accept(ODD)
    learned = Detector(method=method).fit(ROWS).partial_fit(ODD)
    ours, theirs = accepted.encoder_.counts, learned.encoder_.counts
    assert ours.rows == theirs.rows == 603
    assert ours.others[3].values.counts == theirs.others[3].values.counts
    np.testing.assert_array_equal(ours.others[4].weekdays, theirs.others[4].weekdays)
    assert_same_sketch(ours.numbers.sketch, theirs.numbers.sketch)
    assert len(accepted.kept_rows()) == 600
    assert accepted.calibration_.total == 600.0


@pytest.mark.parametrize("method", ["creased", "ref"])
def test_what_was_never_seen_has_been_seen_once_it_is_accepted(method):
    model, new = Detector(method=method).fit(ROWS), ODD[2:]
    assert model.explain(new)[0].reasons[0].words.startswith("was never seen")
    model.accept(new)
    assert "never seen" not in " ".join(r.words for r in model.explain(new)[0].reasons)


# On real tables: the false alarms among rows of one part are accepted, and the rate is measured on
# another part.
RATES = {
    "CreasedREF": lambda: CreasedREF(alpha=0.05),
    "REF, sketch": lambda: REF(engine="sketch", alpha=0.05),
    "Detector, creased": lambda: Detector(alpha=0.05),
    "Detector, ref": lambda: Detector(method="ref", alpha=0.05),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", RATES)
@pytest.mark.parametrize("name", ["27_PageBlocks", "23_mammography", "41_Waveform", "19_landsat"])
def test_the_rate_holds_after_all_false_alarms_were_accepted(make, name):
    X = np.random.default_rng(0).permutation(adbench_normals(name))[:3000]
    third = len(X) // 3
    model = RATES[make]().fit(X[:third])
    seen, new = X[third : 2 * third], X[2 * third :]
    before = np.mean(model.predict(new) == -1)
    model.accept(seen[model.predict(seen) == -1])
    after = np.mean(model.predict(new) == -1)
    assert after < max(before, 0.05) + 0.02
    if make != "REF, sketch":  # it has no rows to calibrate on again: its rate falls
        assert after > min(before, 0.05) - 0.02


@pytest.mark.slow
@pytest.mark.parametrize("method", ["creased", "ref"])
def test_a_category_of_a_real_table_is_accepted(method):
    taxis = pd.read_csv(real_table("clean-taxis.csv.gz"))
    green = taxis["color"] == "green"
    model = Detector(method=method).fit(taxis[~green][:4000])
    seen, others = taxis[green][:40], taxis[green][40:440]
    assert (model.predict(seen) == -1).all()
    model.accept(seen)
    assert np.mean(model.predict(others) == 1) > 0.8
