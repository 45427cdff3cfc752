"""A change of a stream is seen soon, and hardly ever where there is none."""

import pickle

import numpy as np
import pandas as pd
import pytest

from refold import REF, Detector
from refold.monitoring import DriftMonitor
from refold.monitoring._martingale import BETS, ConformalMartingale, _log_odds


def watched(values, train):
    martingale = ConformalMartingale(*np.unique(train, return_counts=True))
    largest = 0.0
    for begin in range(0, len(values), 50):
        martingale.update(values[begin : begin + 50])
        largest = max(largest, martingale.log_capital)
    return largest


def test_every_bet_is_fair():
    p = (np.arange(200_000) + 0.5) / 200_000
    odds = np.exp(_log_odds(p))
    assert odds.shape[0] == BETS
    np.testing.assert_allclose(odds.mean(axis=1), 1.0, atol=0.02)  # p**-0.7 converges slowly
    assert (odds > 0.0).all()


@pytest.mark.parametrize("digits", [15, 0])
def test_p_values_are_ranks_among_all_before(digits):
    rng = np.random.default_rng(3)
    train, new = rng.normal(size=40).round(digits), rng.normal(size=300).round(digits)
    martingale = ConformalMartingale(*np.unique(train, return_counts=True))
    found = np.concatenate([martingale._p_values(part) for part in np.array_split(new, 7)])
    before = train.tolist()
    for value, p in zip(new.tolist(), found.tolist(), strict=True):
        more = sum(v > value for v in before)
        same = sum(v == value for v in before) + 1
        if digits == 15:  # between known values the order of new ones is not kept
            known = np.sort(train)
            bins = np.searchsorted(known, [value, *before], "left") + np.searchsorted(
                known, [value, *before], "right"
            )
            more, same = (bins[1:] > bins[0]).sum(), (bins[1:] == bins[0]).sum() + 1
        assert more / (len(before) + 1) <= p <= (more + same) / (len(before) + 1)
        before.append(value)


def test_false_alarms_are_rarer_than_asked_however_often_one_looks():
    rng = np.random.default_rng(0)
    largest = [watched(rng.normal(size=2_000), rng.normal(size=100)) for _ in range(200)]
    assert np.mean(np.exp(largest) >= 10.0) <= 0.1
    coarse = [watched(rng.integers(4, size=2_000), rng.integers(4, size=100)) for _ in range(100)]
    assert np.mean(np.exp(coarse) >= 10.0) <= 0.1


@pytest.mark.parametrize(
    ("shift", "scale", "rows"), [(1.0, 1.0, 100), (0.0, 2.0, 100), (0.5, 1.0, 400)]
)
def test_a_change_after_many_normal_rows_is_seen_soon(shift, scale, rows):
    rng = np.random.default_rng(1)
    train, normal = rng.normal(size=1_000), rng.normal(size=5_000)
    changed = rng.normal(shift, scale, size=rows)
    assert watched(normal, train) < np.log(100.0)
    assert watched(np.concatenate([normal, changed]), train) > np.log(100.0)


def test_the_column_is_named_and_chunks_do_not_matter():
    rng = np.random.default_rng(0)
    columns = ["p", "q", "r"]
    good = pd.DataFrame(rng.normal(size=(800, 3)), columns=columns)
    new = pd.DataFrame(rng.normal(size=(900, 3)), columns=columns)
    new.loc[600:, "q"] += 0.8
    new.loc[::7, "r"] = np.nan
    model = Detector(alpha=0.01).fit(good)
    whole = DriftMonitor(model).update(new).change()
    monitor = DriftMonitor(model)
    for begin in range(0, 900, 41):
        monitor.update(new[begin : begin + 41])
        monitor = pickle.loads(pickle.dumps(monitor))
    parts = monitor.change()
    assert (whole.changed, whole.column, whole.rows) == (True, "q", 900)
    assert parts.e_value >= whole.e_value  # looked at more often
    assert (parts.column, parts.outliers) == ("q", whole.outliers)
    assert whole.outliers == (model.predict(new) == -1).sum()
    assert whole.p_value == pytest.approx(1.0 / whole.e_value)
    assert str(whole).startswith("The stream has changed (p < 0.000001)")
    assert str(whole).endswith(", most in column 'q'.")


def test_one_who_does_not_watch_is_told_how_to():
    monitor = DriftMonitor(REF().fit(np.eye(3)), watch=False)
    with pytest.raises(ValueError, match="set watch=True"):
        monitor.change()


def test_monitors_of_several_streams_add_up():
    rng = np.random.default_rng(0)
    good = pd.DataFrame({"p": rng.normal(size=600), "kind": rng.choice(["a", "b"], 600)})
    model = Detector(alpha=0.01).fit(good)
    parts = [good.sample(250, random_state=k).reset_index(drop=True) for k in range(3)]
    parts[1].loc[100:, "p"] += 1.0
    parts[2].loc[5, "kind"] = "new"
    monitors = [DriftMonitor(model).update(part) for part in parts]
    alone = [monitor.change() for monitor in monitors]
    assert [each.changed for each in alone] == [False, True, False]
    merged = DriftMonitor(model)
    for monitor in monitors:
        merged.merge(pickle.loads(pickle.dumps(monitor)))
    whole = DriftMonitor(model).update(pd.concat(parts))
    assert merged.result().to_dict() == whole.result().to_dict()
    change = merged.change()
    assert change.p_value == pytest.approx(min(1.0, 4.0 * alone[1].p_value))  # four streams
    assert (change.column, change.rows, change.changed) == ("p", 750, True)
    assert change.outliers == sum(each.outliers for each in alone)
    before = monitors[1].change()
    twice = monitors[1].merge(DriftMonitor(model)).change()
    assert twice.p_value == pytest.approx(2.0 * before.p_value)


def test_a_merged_monitor_goes_on_with_its_own_stream():
    rng = np.random.default_rng(1)
    model = REF(alpha=0.01).fit(rng.normal(size=(500, 2)))
    first, other = rng.normal(size=(300, 2)), rng.normal(size=(77, 2))
    later = rng.normal(1.0, 1.0, size=(300, 2))
    own = DriftMonitor(model).update(first).update(later).change()
    merged = DriftMonitor(model).update(first).merge(DriftMonitor(model).update(other))
    assert merged.update(later).change().e_value == pytest.approx(own.e_value / 2.0)


def test_false_alarms_of_merged_monitors_are_rarer_than_asked():
    rng = np.random.default_rng(2)
    model = REF(alpha=0.05).fit(rng.normal(size=(300, 1)))
    alarms = 0
    for _ in range(60):
        merged = DriftMonitor(model, alpha=0.1)
        for _ in range(3):
            merged.merge(DriftMonitor(model).update(rng.normal(size=(200, 1))))
        alarms += merged.change().changed
    assert alarms <= 6


def test_what_does_not_add_up_is_not_merged():
    rng = np.random.default_rng(0)
    model, other = (REF().fit(rng.normal(size=(100, 2))) for _ in range(2))
    monitor = DriftMonitor(model)
    with pytest.raises(ValueError, match="of different models"):
        monitor.merge(DriftMonitor(other))
    with pytest.raises(ValueError, match="with itself"):
        monitor.merge(monitor)
    with pytest.raises(ValueError, match="watch=False"):
        monitor.merge(DriftMonitor(model, watch=False))
