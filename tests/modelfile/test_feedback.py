"""Feedback in a model file: any wrong member is named, hostile rows give a sound model or none."""

import itertools
import json
from random import Random

import numpy as np
import pytest

from refold import REF, CreasedREF, Detector, ModelFileError
from refold.modelfile.document import from_bytes, to_bytes
from refold.models.feedback import MOST_ROWS
from refold.models.files import KINDS
from tests.modelfile.conftest import put, sealed
from tests.modelfile.mutations import Mutations
from tests.modelfile.test_detector import mixed
from tests.modelfile.test_refusals import document_of, refusal

X = np.random.default_rng(0).normal(size=(60, 2))
FAR = [[4.0, 0.5], [np.nan, 5.0]]
TABLE = mixed(60)[["machine", "torque", "seen"]]
MAKES = {
    "sketch": lambda: REF(engine="sketch", n_bins=16, n_iter=3).fit(X).accept(FAR, times=2),
    "exact": lambda: REF(n_iter=3).fit(X).reject(FAR),
    "creased": lambda: CreasedREF(n_creases=4).fit(X).accept(FAR).reject(X[:1]),
    "waiting": lambda: CreasedREF(n_creases=4).partial_fit(X).accept(FAR, note="new"),
    "detector": lambda: Detector().fit(TABLE).accept(TABLE[:1].assign(machine="Z")),
    "detector, ref": lambda: Detector(method="ref").fit(TABLE).accept(TABLE[:2]),
    "detector of numbers": lambda: Detector(method="ref").fit(X).accept(FAR[:1]),
    "detector, waiting": lambda: Detector().partial_fit(TABLE).accept(TABLE[:1]),
}
WRONG = {
    "feedback": [None, {}, 1, [{}] * (MOST_ROWS + 1)],
    "feedback[0]": [None, [], "accepted"],
    "feedback[0].kind": ["forgotten", None],
    "feedback[0].time": ["yesterday", "2026-13-01T00:00:00Z", 5],
    "feedback[0].note": [None, 1, "x" * 1001],
    "feedback[0].times": [0, -1, 1.5, True, MOST_ROWS + 1],
    "feedback[0].before.threshold": [-1.0, None, "1"],
    "feedback[0].before.distances": [[1.0, 2.0], None, np.ones((2, 1)), np.ones(MOST_ROWS + 1)],
    "feedback[0].before.distances[0]": [-1.0, np.nan],
    "feedback[0].decision": [
        {"threshold": -1.0, "alpha": None, "calibration": None},
        {"threshold": 1e305, "alpha": None, "calibration": None},
        {"threshold": 1.0, "alpha": 1.5, "calibration": None},
        {"threshold": 1.0, "alpha": None, "calibration": {}},
        {"threshold": 1.0, "alpha": None},
        [],
    ],
    "feedback[0].after.distances": [np.ones(1), np.ones(0), np.ones(3)],
}


@pytest.mark.parametrize(
    ("path", "value"), [(path, value) for path, values in WRONG.items() for value in values]
)
@pytest.mark.parametrize("make", ["sketch", "creased"])
def test_a_wrong_value_is_named(make, path, value):
    document = document_of(MAKES[make]())
    put(document, path, value)
    assert refusal(document).where.startswith(path)


def test_rows_that_are_not_the_model_s_are_named():
    creased, table = (document_of(MAKES[n]()) for n in ("creased", "detector"))
    put(creased, "feedback[0].rows[1]", [np.nan, np.nan])
    assert refusal(creased).where == "feedback[0].rows[1]"
    put(creased, "feedback[0].rows", np.ones((2, 1)))
    assert refusal(creased).where == "feedback[0].rows.shape[1]"
    put(table, "feedback[0].rows.columns[0].name", "other")
    assert refusal(table).where == "feedback[0].rows.columns"
    put(table, "feedback[0].rows.rows", 7)
    assert refusal(table).where.startswith("feedback[0].rows")


@pytest.mark.parametrize("seconds", [1e19, -1e13])
def test_a_time_that_no_calendar_has_is_named(seconds):
    document = document_of(MAKES["detector"]())
    put(document, "feedback[0].rows.columns[2].seconds", np.array([seconds]))
    assert refusal(document).where == "feedback[0].rows.columns[2].seconds[0]"


def test_accepted_rows_need_an_engine_that_learns_them():
    document = document_of(MAKES["exact"]())
    document["feedback"][0]["kind"] = "accepted"
    assert "the engine 'exact' cannot learn them" in str(refusal(document))


def test_there_is_no_feedback_inside_a_detector():
    document = document_of(Detector().fit(X))
    document["inside"]["model"]["feedback"] = document_of(MAKES["creased"]())["feedback"]
    assert refusal(document).where == "inside.model.feedback"


@pytest.mark.parametrize("make", MAKES)
def test_what_is_written_again_is_the_same(make):
    raw = to_bytes(MAKES[make](), KINDS, "0")
    again = to_bytes(from_bytes(raw, KINDS), KINDS, "0")
    first, second = ({**json.loads(r), "created": 0, "sha256": 0} for r in (raw, again))
    assert first == second


@pytest.mark.parametrize("make", MAKES)
def test_huge_rows_are_refused_or_give_finite_distances(make):
    model = MAKES[make]()
    rows = TABLE if "detector" in make and "numbers" not in make else X
    document, refused = document_of(model), []
    for value in (1e308, -1e308, 1e155, 5e-324):
        _numbers(document["feedback"][0]["rows"])[0] = value
        try:
            loaded = from_bytes(sealed(document), KINDS)
        except ModelFileError as error:
            refused.append(error.where)
        else:
            assert np.isfinite(loaded.score_samples(rows)).all()
    assert all(where.startswith("feedback") for where in refused)


def _numbers(rows):
    """Return the first row of a matrix, or the first column of numbers of a table."""
    if isinstance(rows, np.ndarray):
        return rows[0]
    column = next(c for c in rows["columns"] if "numbers" in c)
    column["numbers"] = column["numbers"].astype(np.float64)
    return column["numbers"]


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKES)
def test_a_mutated_file_is_a_working_model_or_refused(make):
    random = Random(make)
    model = MAKES[make]()
    rows = TABLE if "detector" in make and "numbers" not in make else X
    document = json.loads(to_bytes(model, KINDS, "0"))
    files = Mutations(json.dumps({"sha256": "", "feedback": document["feedback"]}).encode(), random)
    outcomes = set()
    for raw in itertools.islice(files, 400):
        try:
            changed = json.loads(raw)["feedback"]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        try:
            loaded = from_bytes(sealed({**document, "feedback": changed}), KINDS)
        except (ModelFileError, UnicodeEncodeError) as error:
            outcomes.add(type(error).__name__)
            continue
        outcomes.add("loaded")
        assert np.isfinite(loaded.score_samples(rows)).all()
    assert {"loaded", "ModelFileError"} <= outcomes
