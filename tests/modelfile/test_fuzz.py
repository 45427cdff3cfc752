"""Whatever a file holds: a model that works, or refold's own error; no code, little memory."""

import itertools
import json
import subprocess
import sys
import tracemalloc
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import REF, CreasedREF, Detector, ModelFileError
from refold.modelfile.document import from_bytes, to_bytes
from refold.models.files import KINDS
from tests.modelfile.conftest import sealed
from tests.modelfile.mutations import Mutations
from tests.modelfile.test_detector import mixed

X = np.random.default_rng(0).normal(size=(24, 1))
MODELS = {
    "exact": REF(n_iter=3).fit(X),
    "calibrated": REF(n_iter=2, levels="all").fit(X[:12]).calibrate(X[12:], alpha=0.2),
    "reference": REF(engine="reference", n_iter=3, fold="sqr", max_gain=None).fit(X),
    "sketch": REF(engine="sketch", n_bins=16, n_iter=2, n_jobs=1).fit(X),
}
ROWS = np.array([[0.1], [-3.0], [1e300], [-1e308], [5e-324]])


def outcome(raw):
    """Load and use a file; anything but refold's own error fails the test."""
    try:
        model = from_bytes(raw, KINDS)
    except ModelFileError as error:
        return error
    model.__dict__.pop("feature_names_in_", None)
    rows = np.repeat(ROWS, model.n_features_in_, axis=1)
    assert np.isfinite(model.score_samples(rows)).all()
    parts = model.contributions(rows) if isinstance(model, REF) else model._reasons(rows).drop
    assert np.isfinite(parts).all()
    assert set(model.predict(rows)) <= {-1, 1}
    assert np.isfinite(model.summary_.quantiles).all()
    return model


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_mutated_file_is_a_working_model_or_refused(name):
    random = Random(name)
    files = Mutations(to_bytes(MODELS[name], KINDS, "0"), random)
    refused = set()
    loaded = 0
    for raw in itertools.islice(files, 25_000):
        result = outcome(raw)
        if isinstance(result, ModelFileError):
            refused.add(result.where.partition("[")[0])
        else:
            loaded += 1
    assert loaded > 200  # changes that leave a model a model
    assert {"chain.scales", "chain.levels", "parameters.n_iter", "threshold", "sha256"} < refused
    assert {"", "parameters", "chain", "sketch" if name == "sketch" else "summary"} < refused
    assert ("sketch.counts" if name == "sketch" else "summary.quantiles") in refused


@pytest.mark.slow
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_a_mutated_file_of_a_creased_model_is_a_working_model_or_refused(learn):
    model = getattr(CreasedREF(n_creases=2, n_levels=1, alpha=0.2, n_init=30), learn)(X)
    files = Mutations(to_bytes(model, KINDS, "0"), Random(learn))
    loaded = sum(
        not isinstance(outcome(raw), ModelFileError) for raw in itertools.islice(files, 5_000)
    )
    assert loaded > 40


ODD = mixed(20, 5)[["machine", "shift", "torque", "made"]].astype({"torque": object})
ODD.loc[:3, "torque"] = [1e300, "x", None, -1e300]
ODD.loc[:1, ["machine", "made"]] = [["zzz", "01.01.9999 00:00"], [None, "never"]]


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_a_mutated_file_of_a_detector_is_a_working_model_or_refused(learn):
    table = mixed(60)[list(ODD)]
    model = getattr(Detector(method="ref", alpha=0.1), learn)(table)
    refused, loaded = set(), 0
    for raw in itertools.islice(Mutations(to_bytes(model, KINDS, "0"), Random(learn)), 1_500):
        try:
            model = from_bytes(raw, KINDS)
        except ModelFileError as error:
            refused.add(error.where.partition("[")[0].partition(".")[0])
            continue
        loaded += 1
        if list(model.feature_names_in_) == list(ODD):
            assert np.isfinite(model.score_samples(ODD)).all()
            assert set(model.predict(ODD)) <= {-1, 1}
    assert loaded > 20
    assert {"sample", "inside", "sha256", "table" if learn == "fit" else "waiting"} <= refused


def test_mutated_files_take_little_memory():
    files = Mutations(to_bytes(MODELS["sketch"], KINDS, "0"), Random(1))
    outcome(next(iter(files)))
    tracemalloc.start()
    try:
        for raw in itertools.islice(files, 300):
            outcome(raw)
        assert tracemalloc.get_traced_memory()[1] < 5 * 2**20
    finally:
        tracemalloc.stop()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.data())
def test_any_json_in_any_place_is_a_working_model_or_refused(data):
    document = json.loads(to_bytes(MODELS[data.draw(st.sampled_from(sorted(MODELS)))], KINDS, "0"))
    here = document
    while True:
        key = data.draw(
            st.sampled_from(sorted(here) if isinstance(here, dict) else range(len(here)))
        )
        if not isinstance(here[key], dict | list) or not here[key] or data.draw(st.booleans()):
            break
        here = here[key]
    here[key] = data.draw(json_values)
    try:
        raw = sealed(document)
    except UnicodeEncodeError:
        return
    outcome(raw)


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda t: t.encode(errors="replace")))
def test_any_bytes_are_refused(raw):
    assert isinstance(outcome(raw), ModelFileError)


# What a file could make the process do, as Python itself reports it.
WATCHED = """
import sys
from random import Random
import refold
from tests.modelfile.mutations import Mutations
path = sys.argv[1]
refold.load(path).predict([[0.0]])
files = iter(Mutations(open(path, "rb").read(), Random(3)))
events, watching = set(), False

def watch(event, arguments):
    if watching and not (event == "open" and str(arguments[0]) == path):
        events.add((event, str(arguments)[:80]))

sys.addaudithook(watch)
loaded = 0
for number in range(1500):
    raw = next(files)
    with open(path, "wb") as file:
        file.write(raw)
    watching = True
    try:
        refold.load(path)
        loaded += 1
    except refold.ModelFileError:
        pass
    watching = False
print(loaded, sorted(events))
"""


def test_no_file_makes_the_process_do_anything_else(tmp_path, pytestconfig):
    path = tmp_path / "model.json"
    path.write_bytes(to_bytes(MODELS["sketch"], KINDS, "0"))
    command = [sys.executable, "-c", WATCHED, str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=pytestconfig.rootpath
    )
    assert done.returncode == 0, done.stderr
    loaded, events = done.stdout.split(" ", 1)
    assert int(loaded) > 10
    assert events.strip() == "[]"
