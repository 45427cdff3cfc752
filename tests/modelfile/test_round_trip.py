"""A model that went through a file is the same model, bit for bit."""

import json
import os
import re
import warnings
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refold
from refold import REF, ModelFileError
from refold.modelfile.document import from_bytes, to_bytes
from refold.models.files import KINDS
from tests.conftest import FOLDS
from tests.modelfile.conftest import MAKES, NAMES, checksum, fitted

METHODS = ("predict", "score_samples", "decision_function", "contributions", "trace", "transform")


def bits(array):
    array = np.asarray(array)
    return array.dtype, array.shape, array.tobytes()


def again(model, folder):
    refold.save(model, folder / "model.json")
    return refold.load(folder / "model.json")


def state(value):
    """Everything in a model, comparable: arrays as bits, objects as their attributes."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype == object else bits(value)
    if isinstance(value, list | tuple):
        return [state(item) for item in value]
    if hasattr(value, "__dict__") and not callable(value):
        derived = ("steps", "compiled")  # cached
        inner = {k: state(v) for k, v in vars(value).items() if k not in derived}
        return type(value), inner
    return type(value), repr(value)


@pytest.mark.parametrize("make", MAKES + FOLDS)
def test_a_model_comes_back_with_every_bit(make, rows, tmp_path):
    model = fitted(make, rows)
    model.chain_  # learned when asked for  # noqa: B018
    loaded = again(model, tmp_path)
    named = hasattr(model, "feature_names_in_")
    new = pd.DataFrame(rows * 1.5, columns=NAMES) if named else rows * 1.5
    for method in METHODS:
        assert bits(getattr(loaded, method)(new)) == bits(getattr(model, method)(new)), method
    assert loaded.get_params() == model.get_params()
    assert state(loaded.chain_) == state(model.chain_)
    assert state(loaded.summary_) == state(model.summary_)
    assert state(loaded) == state(model)
    if hasattr(model, "calibration_"):
        assert bits(loaded.p_values(new)) == bits(model.p_values(new))
        assert loaded.calibrate(alpha=0.2).threshold_ == model.calibrate(alpha=0.2).threshold_


@pytest.mark.parametrize("make", ["sketch", "coarse sketch", "stream"])
def test_a_sketch_goes_on_as_if_it_had_never_been_a_file(make, rows, tmp_path):
    model = fitted(make, rows)
    loaded = again(model, tmp_path)
    named = hasattr(model, "feature_names_in_")
    more = pd.DataFrame(rows[:100] + 0.1, columns=NAMES) if named else rows[:100] + 0.1
    for step in ("partial_fit", "forget", "partial_fit"):
        for one in (model, loaded):
            getattr(one, step)(more)
    merged = [refold.merge(one, one) for one in (model, loaded)]
    for ours, theirs in ((model, loaded), merged):
        assert bits(ours.score_samples(more)) == bits(theirs.score_samples(more))
        assert state(ours.sketch_) == state(theirs.sketch_)


@given(st.data())
def test_every_double_comes_back_as_it_was(data):
    doubles = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)
    shape = data.draw(st.tuples(st.integers(2, 12), st.integers(1, 4)))
    X = np.array(data.draw(st.lists(doubles, min_size=shape[0] * shape[1], max_size=60)))
    X = np.resize(X if X.size else 0.0, shape)
    engine = data.draw(st.sampled_from(["exact", "sketch", "reference"]))
    model = REF(engine=engine, n_iter=data.draw(st.integers(1, 9))).fit(X)
    loaded = from_bytes(to_bytes(model, KINDS, "0"), KINDS)
    assert state(loaded) == state(model)
    assert bits(loaded.score_samples(X)) == bits(model.score_samples(X))


def test_negative_zero_keeps_its_sign(tmp_path):
    model = REF(n_iter=2).fit([[-0.0], [-0.0]])
    assert np.signbit(again(model, tmp_path).summary_.low).all() == np.signbit(model.summary_.low)


def test_parameters_of_other_number_types_come_back_equal(rows, tmp_path):
    model = REF(threshold=np.float32(0.5), n_iter=np.int64(7), n_jobs=-1).fit(rows)
    loaded = again(model, tmp_path)
    assert loaded.get_params() == model.get_params()


def test_parameters_set_after_fitting_do_not_mix_with_what_was_learned(rows, tmp_path):
    model = REF().fit(rows).set_params(fold="sqr", n_iter=3, distance="l2")
    loaded = again(model, tmp_path)
    assert loaded.chain_.fold == "abs"
    assert bits(loaded.score_samples(rows)) == bits(model.score_samples(rows))


def test_a_model_of_another_array_library_comes_back_for_any(rng, tmp_path):
    xp = pytest.importorskip("array_api_strict")
    X = rng.normal(size=(50, 2))
    model = REF().fit(xp.asarray(X))
    loaded = again(model, tmp_path)
    assert loaded.engine_ == "reference"
    assert bits(loaded.score_samples(X)) == bits(model.score_samples(X))
    assert type(loaded.score_samples(xp.asarray(X))) is type(xp.asarray(X))


@pytest.mark.parametrize("make", MAKES)
def test_saving_again_gives_the_same_content_but_for_the_time(make, rows, tmp_path):
    refold.save(fitted(make, rows), tmp_path / "first")
    refold.save(refold.load(tmp_path / "first"), tmp_path / "second")
    documents = [json.loads((tmp_path / name).read_text()) for name in ("first", "second")]
    for document in documents:
        del document["created"], document["sha256"]
    assert json.dumps(documents[0]) == json.dumps(documents[1])


def test_wide_models_come_back(rng, tmp_path):
    X = rng.normal(size=(20, 1000))
    model = REF().fit(X)
    loaded = again(model, tmp_path)
    assert state(loaded) == state(model)
    document = json.loads((tmp_path / "model.json").read_text())
    assert document["chain"]["shifts"]["shape"] == [101, 1000]
    assert document["chain"]["levels"]["dtype"] == "int8"


def test_many_calibration_scores_come_back(rng, tmp_path):
    model = REF().fit(rng.normal(size=(200, 2)))
    model.calibrate(rng.normal(size=(60_000, 2)), alpha=0.01)
    assert state(again(model, tmp_path)) == state(model)


def test_the_file_says_what_it_is_and_is_laid_out_for_people(rows, tmp_path):
    refold.save(fitted("calibrated", rows), tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert (document["format"], document["format_version"]) == ("refold model", 1)
    assert document["refold_version"] == refold.__version__
    created = datetime.fromisoformat(document["created"])
    assert abs(datetime.now(UTC) - created) < timedelta(minutes=5)
    assert document["feature_names"] == NAMES
    assert "长度" in text
    lines = text.splitlines()
    assert lines[:2] == ["{", '  "format": "refold model",']
    assert '  "feature_names": ["width [mm]", "Größe \\"ü\\"", "长度"],' in lines
    assert '  "alpha": 0.1,' in lines
    assert sum('"zlib": "' in line for line in lines) == text.count('"zlib": "')  # one in a line
    assert len(lines) < 100


def test_the_checksum_is_what_the_documentation_says(rows, tmp_path):
    refold.save(fitted("sketch", rows), tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert document["sha256"] == checksum(document)
    assert list(document)[-1] == "sha256"


@pytest.mark.parametrize("style", [{}, {"indent": 4}, {"separators": (",", ":")}])
def test_white_space_does_not_count(style, rows, tmp_path):
    refold.save(fitted("sketch", rows), tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    other = json.dumps(json.loads(text), ensure_ascii=False, **style).replace("\n", "\r\n")
    (tmp_path / "other").write_bytes(other.encode() + b"\n" * 10_000)
    assert state(refold.load(tmp_path / "other")) == state(refold.load(tmp_path / "model.json"))


def test_saving_replaces_a_file_whole_or_not_at_all(rows, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    refold.save(fitted("abs", rows), str(path))
    before = path.read_bytes()

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        refold.save(fitted("sqr", rows), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.json"]


class TestWhatCannotBeSaved:
    def refuse(self, model, error, match, folder):
        with pytest.raises(error, match=match):
            refold.save(model, folder / "model.json")
        assert not os.listdir(folder)

    def test_a_function_as_fold(self, rows, tmp_path):
        self.refuse(REF(fold=np.abs).fit(rows), ModelFileError, "parameters.fold: .*func", tmp_path)

    def test_a_function_as_distance(self, rows, tmp_path):
        model = REF(distance=lambda y: np.abs(y).max(axis=1)).fit(rows)
        self.refuse(model, ModelFileError, "parameters.distance: .*function", tmp_path)

    def test_a_chain_learned_with_a_function(self, rows, tmp_path):
        model = REF(fold=np.abs).fit(rows).set_params(fold="abs")
        self.refuse(model, ModelFileError, r"chain\.fold: .*func", tmp_path)

    def test_a_model_that_is_not_fitted(self, tmp_path):
        self.refuse(REF(), ValueError, "not fitted", tmp_path)

    @pytest.mark.parametrize("thing", [None, 3, "model", REF, {"REF": 1}])
    def test_something_else(self, thing, tmp_path):
        self.refuse(thing, TypeError, "refold.save writes REF", tmp_path)

    def test_a_subclass_that_may_hold_more(self, rows, tmp_path):
        self.refuse(type("Own", (REF,), {})().fit(rows), TypeError, "not Own", tmp_path)

    def test_a_sketch_that_cannot_learn_yet(self, tmp_path):
        model = REF(engine="sketch").partial_fit([[1.0, 2.0]])
        self.refuse(model, ValueError, "at least 2 rows", tmp_path)

    def test_names_that_are_too_long(self, rows, tmp_path):
        model = REF().fit(pd.DataFrame(rows, columns=["a", "b" * 5000, "c"]))
        self.refuse(model, ModelFileError, r"feature_names\[1\]: .*5000", tmp_path)

    def test_names_that_are_no_text(self, rows, tmp_path):
        names = pd.Index(["a", "\ud800", "c"], dtype=object)
        model = REF().fit(pd.DataFrame(rows, columns=names))
        self.refuse(model, ModelFileError, r"feature_names\[1\]: .*surrogate", tmp_path)

    def test_numbers_that_are_not_finite(self, rows, tmp_path):
        model = REF().fit(rows)
        model.chain_.gain[1] = np.inf
        self.refuse(model, ModelFileError, r"chain\.gain\[1\]: .*cannot be saved: inf", tmp_path)

    def test_a_model_over_the_limit(self, rng, tmp_path):
        model = REF(n_iter=2500).fit(rng.normal(size=(3, 4000)))
        pattern = re.compile("The model takes .* MB|cannot be saved.*memory")
        self.refuse(model, ModelFileError, pattern, tmp_path)


def test_findings_still_know_which_rows_their_sentences_name(rng, tmp_path):
    X = rng.normal(size=(300, 2))
    X[17, 1] = 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = refold.CreasedREF(alpha=0.05).fit(X)
    (found,) = [one for one in again(model, tmp_path).noticed_ if one.kind == "absurd-cell"]
    assert "in row 17 " in str(found)
    assert "in row P17 " in str(found.with_row_labels(lambda row: f"P{row}"))
