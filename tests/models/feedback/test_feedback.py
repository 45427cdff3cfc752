"""Whatever the model: what is accepted is learned, what is rejected kept, and all is reversible."""

import pickle
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import refold
from refold import REF, CreasedREF, Detector
from refold.models.feedback import MOST_ROWS
from tests.models.feedback.makes import MAKES, made, numbers, odd_parts, parts

NEW = parts(100, seed=1)


@pytest.fixture(params=MAKES)
def name(request):
    return request.param


def same(one, other, table):
    """Whether two models say the same of rows, to the bit."""
    return (
        np.array_equal(one.score_samples(table), other.score_samples(table))
        and one.threshold_ == other.threshold_
        and one.alpha_ == other.alpha_
    )


def test_an_accepted_row_is_nearer_and_the_log_says_how_much(name):
    model, of = made(name)
    odd = of(odd_parts())
    before, limit = -model.score_samples(odd), model.threshold_
    model.accept(odd, note="a new supplier")
    (entry,) = model.feedback_
    assert (entry.kind, len(entry), entry.times, entry.note) == ("accepted", 3, 1, "a new supplier")
    np.testing.assert_array_equal(entry.before.distances, before)
    assert entry.before.threshold == limit
    np.testing.assert_array_equal(entry.after.distances, -model.score_samples(odd))
    assert entry.after.threshold == model.threshold_
    np.testing.assert_array_equal(entry.after.labels, model.predict(odd))
    reported = entry.before.labels == -1
    assert reported.any()
    relative = entry.after.distances / model.threshold_, before / limit
    assert (relative[0] < relative[1])[reported].all()
    assert str(entry).startswith("3 rows accepted; ")
    assert str(entry).endswith("Note: a new supplier")


def test_more_of_a_kind_make_it_normal(name):
    model, of = made(name)
    odd = of(odd_parts())
    model.accept(odd, times=300)
    assert (model.predict(odd) == 1).all()


def test_undoing_restores_every_bit_whatever_the_order(name):
    model, of = made(name)
    new, odd = of(NEW), of(odd_parts())
    untouched, second = clone(model).fit(of(parts(400, 0))), clone(model).fit(of(parts(400, 0)))
    second.accept(odd[1:])
    model.accept(odd[:1]).accept(odd[1:])
    assert same(model.undo_feedback(1), second, new)
    assert same(model.undo_feedback(), untouched, new)
    assert model.feedback_ == ()


def test_a_file_and_a_pickle_have_it_all(name, tmp_path):
    model, of = made(name)
    new = of(NEW)
    base = clone(model).fit(of(parts(400, 0)))
    model.accept(of(odd_parts()), times=2, note="ü").reject(new[:2])
    refold.save(model, tmp_path / "model.json")
    for again in (refold.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert same(again, model, new)
        assert list(map(repr, again.feedback_)) == list(map(repr, model.feedback_))
        assert same(again.undo_feedback().undo_feedback(), base, new)


def test_what_is_rejected_changes_nothing_until_the_threshold_is_tuned(name):
    model, of = made(name)
    new = of(NEW)
    if not hasattr(model, "calibration_"):
        model.calibrate(of(parts(200, seed=2)), alpha=0.05)
    before, limit = model.score_samples(new), model.threshold_
    fault = np.argsort(-before)[80:90]  # normal ones, farther out than most
    model.reject(new.iloc[fault])
    np.testing.assert_array_equal(model.score_samples(new), before)
    assert model.threshold_ == limit
    assert "taken as normal" in str(model.feedback_[-1])
    model.tune_threshold()
    assert model.threshold_ < limit
    assert model.alpha_ is None
    # Gmean by another way: at the threshold that was found it is largest.
    scores, weights = model.calibration_.scores, model.calibration_.weights
    faults = -before[fault]

    def gmean(t):
        kept = weights[scores <= t].sum() / weights.sum()
        return np.sqrt(kept * np.mean(faults > t))

    assert gmean(model.threshold_) >= max(gmean(t) for t in scores) - 1e-12


def test_outliers_that_are_caught_already_are_no_reason_to_report_less(name):
    model, of = made(name)
    if not hasattr(model, "calibration_"):
        model.calibrate(of(parts(200, seed=2)), alpha=0.05)
    limit, alpha = model.threshold_, model.alpha_
    odd = of(odd_parts())
    model.reject(odd[model.predict(odd) == -1]).tune_threshold()
    assert (model.threshold_, model.alpha_) == (limit, alpha)


def test_without_rejected_rows_there_is_nothing_to_tune_by(name):
    model, _ = made(name)
    with pytest.raises(ValueError, match=r"No row was rejected yet.*reject\(rows\)"):
        model.tune_threshold()


def test_the_later_word_counts_and_the_earlier_one_comes_back_with_it(name):
    model, of = made(name)
    new, odd = of(NEW), of(odd_parts())
    one = clone(model).fit(of(parts(400, 0))).accept(odd[1:])
    model.accept(odd).reject(odd[:1])
    assert same(model, one, new)
    assert model.feedback_[0].standing.tolist() == [False, True, True]
    assert "The opposite was said of one later" in str(model.feedback_[0])
    model.accept(odd[:1])
    assert model.feedback_[1].standing.tolist() == [False]
    model.undo_feedback().undo_feedback()
    assert model.feedback_[0].standing.all()


def test_learning_on_goes_underneath(name):
    if name == "REF, sketch with a rate":
        pytest.skip("it learns from all rows at once")
    model, of = made(name)
    new, more = of(NEW), of(parts(200, seed=3))
    other = clone(model).fit(of(parts(400, 0))).partial_fit(more)
    model.accept(of(odd_parts())).partial_fit(more)
    assert len(model.feedback_) == 1
    assert not same(model, other, new)
    assert same(model.undo_feedback(), other, new)


def test_fitting_again_starts_anew(name):
    model, of = made(name)
    untouched = clone(model).fit(of(parts(400, 0)))
    model.accept(of(odd_parts())).fit(of(parts(400, 0)))
    assert model.feedback_ == ()
    assert same(model, untouched, of(NEW))
    assert not hasattr(clone(model.accept(of(odd_parts()))), "_learned")


def test_a_failure_changes_nothing(name):
    model, of = made(name)
    new, odd = of(NEW), of(odd_parts())
    before, empty = model.score_samples(new), odd.astype(object)
    empty.iloc[1] = None
    wrong = [
        (lambda: model.accept(odd, times=0), r"times=0 must be a whole number"),
        (lambda: model.accept(odd, times=True), r"times=True"),
        (lambda: model.accept(odd, note="x" * 1001), r"at most 1,000 characters"),
        (lambda: model.reject(odd, note="\ud800"), r"surrogate"),
        (lambda: model.accept(odd, times=MOST_ROWS), r"30,000 rows of feedback.*fit again"),
        (lambda: model.reject(odd[odd.columns[:1]]), r"speed"),
        (lambda: model.undo_feedback(), r"There is no feedback to undo"),
        (lambda: model.undo_feedback(0), r"There is no feedback to undo"),
        (lambda: model.accept(empty.convert_dtypes()), r"row 1"),
        (lambda: model.accept(odd.iloc[:0]), r"no rows|0 sample"),
    ]
    for act, said in wrong:
        with pytest.raises(ValueError, match=said):
            act()
    assert model.feedback_ == ()
    np.testing.assert_array_equal(model.score_samples(new), before)


def test_merged_models_have_what_was_said_to_each(name):
    if name == "REF, sketch with a rate":
        pytest.skip("only models without a rate are merged")
    model, of = made(name)
    new, odd = of(NEW), of(odd_parts())
    empty = getattr(model, "empty_like", lambda: clone(model))()
    other = empty.partial_fit(of(parts(300, seed=4)))
    plain = refold.merge(model, other)
    model.accept(odd[:2])
    other.accept(odd[2:])
    merged = refold.merge(model, other)
    assert [len(entry) for entry in merged.feedback_] == [2, 1]
    assert not same(merged, plain, odd)
    assert same(merged.undo_feedback().undo_feedback(), plain, new)


def test_others_score_while_one_accepts():
    model, of = made("CreasedREF")
    new, odd = of(NEW), of(odd_parts())
    before = model.score_samples(new)
    after = clone(model).fit(of(parts(400, 0))).accept(odd).score_samples(new)
    seen, done = [], threading.Event()

    def score():
        while not done.is_set():
            seen.append(model.score_samples(new))

    thread = threading.Thread(target=score)
    thread.start()
    model.accept(odd)
    done.set()
    thread.join()
    assert all(np.array_equal(s, before) or np.array_equal(s, after) for s in seen)


@pytest.mark.parametrize("engine", ["exact", "reference"])
def test_engines_that_keep_no_rows_say_what_to_do(engine, tmp_path):
    X = numbers(parts(300, 0))
    model = REF(engine=engine, alpha=0.05).fit(X)
    with pytest.raises(ValueError, match=r"keeps no rows.*engine='sketch'"):
        model.accept(X[:1])
    assert model.feedback_ == ()
    model.reject(X[:1])
    refold.save(model, tmp_path / "model.json")
    assert len(refold.load(tmp_path / "model.json").feedback_) == 1


def test_rows_may_come_as_they_do_for_predict():
    rows = parts(300, 0)
    records = odd_parts().assign(day="2026-01-05").to_dict("records")
    model = Detector().fit(rows.assign(day=rows["day"].dt.strftime("%Y-%m-%d")))
    assert len(model.accept(records).feedback_[-1]) == 3
    bare = CreasedREF(n_creases=8).fit(rows[["torque", "speed"]].to_numpy())
    bare.accept([[90.0, 40.0]]).accept(pd.DataFrame([[91.0, 40.0]]).to_numpy())
    assert len(bare.feedback_) == 2


def test_a_training_row_that_was_accepted_calibrates_as_it_did(rng):
    table = pd.DataFrame({"a": rng.normal(size=100), "k": rng.choice(["x", "y"], 100)})
    table.loc[5, "a"] = 9.0
    model = Detector(method="ref", alpha=0.05, n_jobs=1).fit(table)
    farthest = model.calibration_.scores.max()
    model.accept(table.iloc[[5]])
    assert model.calibration_.scores.max() == farthest
