"""How often each verdict is given, by simulation: false alarms, power, and telling apart."""

from collections import Counter

import numpy as np
import pytest

from refold import REF, CreasedREF, drift
from tests.monitoring.test_monitor import mixed


def normal(rng, rows):
    return rng.normal(size=(rows, 20))


def correlated(rng, rows):
    return rng.normal(size=(rows, 20)) + rng.normal(size=(rows, 1))


def verdicts(runs, change, *, rows=normal, n=5_000, calibrated=0.01, alpha=0.01):
    """Count the verdicts on new rows that went through `change`."""
    found = Counter()
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        model = REF(n_iter=11).fit(rows(rng, n))
        if calibrated is not None:
            model.calibrate(rows(rng, n), alpha=calibrated)
        Y = rows(rng, n)
        change(rng, Y)
        found[drift(model, Y, alpha=alpha).verdict] += 1
    return found


def nothing(rng, Y):
    pass


def shift(by, columns=slice(None)):
    def change(rng, Y):
        Y[:, columns] += by

    return change


def outliers(share, columns, strange):
    def change(rng, Y):
        rows = np.flatnonzero(rng.random(len(Y)) < share)
        at = np.ix_(rows, np.arange(Y.shape[1])[columns])
        Y[at] = strange(rng, Y[at])

    return change


def both(*changes):
    def change(rng, Y):
        for each in changes:
            each(rng, Y)

    return change


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["exact", "sketch"])
@pytest.mark.parametrize(
    ("rows", "new_rows", "calibrated"),
    [(50, 50, True), (300, 2_000, True), (1_000, 1_000, False), (12_000, 50, True)],
)
def test_false_alarms_are_rarer_than_asked_for(engine, rows, new_rows, calibrated):
    runs, alpha = 200, 0.05
    alarms = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        model = REF(engine=engine, n_iter=5).fit(mixed(rng, rows))
        if calibrated:
            model.calibrate(mixed(rng, 300), alpha=0.05)
        alarms += drift(model, mixed(rng, new_rows), alpha=alpha).verdict != "same"
    assert alarms <= alpha * runs


@pytest.mark.slow
@pytest.mark.parametrize("calibrated", [0.01, None])
def test_a_small_shift_of_one_feature_of_twenty_is_found(calibrated):
    found = verdicts(100, shift(0.3, [7]), calibrated=calibrated)
    assert found["changed"] >= 95


def test_the_feature_that_has_changed_is_named(rng):
    model = REF().fit(normal(rng, 5_000)).calibrate(normal(rng, 5_000), alpha=0.01)
    Y = normal(rng, 5_000)
    Y[:, 7] += 0.3
    found = drift(model, Y)
    assert [feature.name for feature in found.features if feature.changed] == ["x7"]
    assert found.features[7].shift == pytest.approx(0.3, abs=0.1)


def stuck(rng, Y):
    Y[:, 3] = Y[0, 3]


def out_of_range(rng, Y):
    Y[:, 3] = rng.normal(100.0, size=len(Y))


def wider(rng, Y):
    Y[:, 3] *= 1.5


def narrower(rng, Y):
    Y[:, 3] *= 0.6


def more_missing(rng, Y):
    Y[rng.random(len(Y)) < 0.02, 3] = np.nan


@pytest.mark.parametrize("calibrated", [0.01, 0.1, None])
@pytest.mark.parametrize("change", [stuck, out_of_range, wider, narrower, more_missing])
def test_other_changes_of_one_feature_are_found(change, calibrated):
    assert verdicts(3, change, calibrated=calibrated, n=3_000) == {"changed": 3}


STRANGE = {
    "far off in every feature": outliers(0.05, slice(None), lambda rng, Y: Y + 10),
    "far off in three features": outliers(0.10, [0, 1, 2], lambda rng, Y: Y + 8),
    "far off in one feature": outliers(0.03, [0], lambda rng, Y: np.full(Y.shape, 50.0)),
    "on both sides": outliers(0.10, slice(None), lambda rng, Y: Y * 5),
    "each in a place of its own": outliers(
        0.07, slice(4), lambda rng, Y: rng.uniform(6, 99, Y.shape)
    ),
}


@pytest.mark.parametrize("rows", [normal, correlated])
@pytest.mark.parametrize("kind", STRANGE)
def test_a_pure_increase_of_outliers_is_reported_as_such(kind, rows):
    assert verdicts(5, STRANGE[kind], rows=rows) == {"more outliers": 5}


@pytest.mark.parametrize("kind", STRANGE)
def test_without_calibration_outliers_are_never_called_a_change(kind):
    found = verdicts(5, STRANGE[kind], calibrated=None)
    assert set(found) <= {"changed or more outliers", "same"}


@pytest.mark.parametrize("by", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("rows", [normal, correlated])
def test_a_bulk_that_moves_is_a_change_however_many_rows_are_rejected(by, rows):
    assert verdicts(3, shift(by), rows=rows) == {"changed": 3}


def test_a_change_is_found_among_outliers():
    change = both(shift(0.3, [5]), STRANGE["far off in three features"])
    assert verdicts(5, change) == {"changed": 5}


def test_few_rows_that_are_all_strange_are_a_change():
    rng = np.random.default_rng(0)
    model = REF().fit(normal(rng, 2_000)).calibrate(normal(rng, 2_000), alpha=0.01)
    found = drift(model, normal(rng, 60) + 4.0)
    assert found.rejected > 0.9
    assert found.verdict == "changed"


def test_rows_like_those_of_training_are_the_same():
    assert verdicts(10, nothing) == {"same": 10}


def test_a_column_that_is_far_off_in_a_few_rows_is_not_as_in_training(rng):
    model = REF(alpha=0.05).fit(normal(rng, 2000))
    new = normal(rng, 100)
    new[:6, 1] += 50.0
    found = drift(model, new)
    off = found.features[1]
    assert off.differs
    assert off.beyond == 0.06
    assert off.adjusted_p_value < 1e-4
    assert not off.changed  # six rows may be outliers
    assert found.verdict in ("more outliers", "changed or more outliers")
    assert not any(feature.differs for feature in found.features if feature is not off)


def test_values_beyond_training_have_the_exact_chance(rng):
    """Of equal distributions a share alpha of samples is called different, at most."""
    alarms = 0
    for _ in range(300):
        X = rng.normal(size=(60, 1))
        alarms += drift(REF().fit(X), rng.normal(size=(20, 1)), alpha=0.1).features[0].differs
    assert alarms <= 300 * 0.1 + 3 * np.sqrt(300 * 0.1 * 0.9)


def test_not_proven_is_not_called_alike(rng):
    model = REF(alpha=0.05).fit(normal(rng, 500))
    found = drift(model, normal(rng, 6))
    assert found.verdict == "same"
    assert "like" not in found.meaning
    assert "With 6 rows only a large one could be." in str(found)


def test_one_row_and_one_column_are_told_in_the_singular(rng):
    model = CreasedREF(alpha=0.05).fit(rng.normal(size=(200, 1)))
    text = str(drift(model, [[0.1]]))
    assert "With 1 row only" in text
    assert "1 row; 0 of 1 column differs" in text
