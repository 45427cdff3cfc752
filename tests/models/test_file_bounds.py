"""Numbers in a model file: one at its bound is taken, one beyond is refused by its path."""

import json
from functools import cache

import numpy as np
import pytest

from refold import REF, CreasedREF, Detector, ModelFileError
from refold.modelfile.document import from_bytes, to_bytes
from refold.modelfile.json_text import MOST_MEMORY
from refold.models.files import KINDS, check_columns
from tests.modelfile.conftest import put, sealed, unpacked

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(250, 2)), np.full(250, 7.0), RNG.exponential(size=250)])
TABLE = [{"a": float(x), "b": "ST"[k % 2]} for k, x in enumerate(X[:, 0])]
LEAST = 5e-324


def creased(**options):
    return CreasedREF(n_creases=8, n_init=100, n_jobs=1, **options)


def distances(*scores):
    return {"source": "held-out", "scores": np.array(scores), "weights": np.ones(len(scores))}


MAKES = {
    "creased": lambda: creased().fit(X),
    "few rows": lambda: creased().fit(X[:12]),
    "constants": lambda: creased().fit(np.ones((120, 2))),
    "trimmed": lambda: creased(trim=0.1).fit(X),
    "waiting": lambda: creased().partial_fit(X[:40]),
    "said": lambda: creased().fit(X).accept(X[:1] + 3.0, note="x"),
    "sketch, said": lambda: REF(engine="sketch", n_bins=16, n_iter=3).fit(X).reject(X[:1] + 3.0),
    "ref": lambda: REF(n_iter=3).fit(X),
    "table": lambda: Detector(n_jobs=1).fit(TABLE),
    "table, ref": lambda: Detector(method="ref", n_jobs=1).fit(TABLE),
}

# What may stand there, and what may not; of the first something else may be refused for it.
BOUNDS = {
    "creased": {
        "recipe.n_creases": ([1, 2**20], [0, 2**20 + 1]),
        "recipe.n_levels": ([1, 1024], [0, 1025]),
        "recipe.ridge": ([LEAST], [0.0]),
        "recipe.n_init": ([2], [1]),
        "recipe.seed": ([0, 2**31 - 1], [-1, 2**31]),
        "recipe.box": ([0.0, 1e9], [-LEAST, 1.0001e9]),
        "recipe.magnitudes": ([0, 4], [-1, 5]),
        "recipe.trim": ([0.0, 0.4999], [-LEAST, 0.5]),
        "creases.constant": ([np.array([0]), np.array([3])], [np.array([-1]), np.array([4])]),
        "creases.offsets": ([np.zeros(1), np.zeros(2**20)], [np.zeros(0), np.zeros(2**20 + 1)]),
        "creases.scale[1]": ([LEAST], [0.0]),
        "creases.spreads[0][0]": ([0.0], [-LEAST]),
        "creases.gauss.slopes[0]": ([LEAST], [0.0]),
        "creases.gauss.knots": ([], [np.arange(65.0 * 3 + 1)]),
        "creases.gauss.starts[0]": ([0], [1]),
        "creases.gauss.starts[1]": ([64, 65], [0, 66]),
        "sums.weight": ([0.0], [-LEAST]),
        "sample.seen": ([0], [-1]),
        "sample.keys": ([np.zeros(250)], [np.zeros(10_001)]),
        "sample.keys[0]": ([0.0, 1.0 - 2.0**-53], [-LEAST, 1.0]),
        "sample.weights[0]": ([LEAST], [0.0]),
        "judge.ridge": ([LEAST], [0.0]),
        "judge.typical": ([LEAST], [0.0]),
        "judge.unit": ([LEAST], [0.0]),
        "judge.left_out[0]": ([0.0], [-LEAST]),
        "dropped": ([np.array([0])], [np.array([-1])]),
        "cut": ([None], [{}]),
    },
    "few rows": {
        "sums.counts": (
            [np.full(15, 0.8)],
            [np.full(16, 0.75), np.full(12, 1.1), np.full(12, 0.9)],
        ),
        "sums.counts[0]": ([1.0 + 1e-5, 1.0 - 1e-5], [1.0 + 1.3e-5, 1.0 - 1.3e-5, -LEAST]),
    },
    "constants": {"creases.offsets": ([np.zeros(0)], [np.zeros(1)])},
    "trimmed": {
        "cut.rows.left_out": ([0, 250], [-1, 251]),
        "cut.rows.limit": ([0.0], [-LEAST]),
        "cut": ([], [None]),
    },
    "waiting": {
        "waiting[0].weights[0]": ([0.0], [-LEAST]),
        "waiting": ([], [[], None]),
        "cut": ([None], [{}]),
    },
    "said": {
        "feedback": ([[]], [[{}] * 10_001]),
        "feedback[0].note": (["x" * 1000], ["x" * 1001]),
        "feedback[0].times": ([1, 10_000], [0, 10_001]),
        "feedback[0].before.threshold": ([0.0], [-LEAST]),
        "feedback[0].before.distances[0]": ([0.0], [-LEAST]),
        "feedback[0].decision": (
            [
                {"threshold": 1e300, "alpha": 0.5, "calibration": None},
                {"threshold": None, "alpha": None, "calibration": None},
                {"threshold": 1.0, "alpha": 0.5, "calibration": distances(1.0, 2.0, 2.0)},
            ],
            [
                {"threshold": 1.0001e300, "alpha": 0.5, "calibration": None},
                {"threshold": 1.0, "alpha": 0.5, "calibration": distances(1.0, 2.0, 1.9)},
            ],
        ),
    },
    "sketch, said": {
        "feedback[0].decision": (
            [{"threshold": 1.0, "alpha": None, "calibration": None}],
            [
                {"threshold": None, "alpha": None, "calibration": None},
                {"threshold": 1.0, "alpha": 0.5, "calibration": None},
            ],
        ),
    },
    "ref": {"max_gain": ([1.0], [np.nextafter(1.0, 0.0), None])},
    "table": {
        "threshold": ([0.0, 1e300], [-LEAST, 1.0001e300, None]),
        "inside.threshold": ([0.0], [-LEAST, 1.0001e300]),
        "sample.seed": ([0, 2**31 - 1], [-1, 2**31]),
        "sample.seen": ([0], [-1]),
        "sample.keys[0]": ([0.0, 1.0 - 2.0**-53], [-LEAST, 1.0]),
    },
    "table, ref": {"inside.calibration": ([], [None]), "inside.model": ([None], [{}])},
}
CASES = [(make, path, *values) for make, by in BOUNDS.items() for path, values in by.items()]


@cache
def written(make):
    return to_bytes(MAKES[make](), KINDS, "0")


def changed(make, path, value):
    document = unpacked(json.loads(written(make)))
    put(document, path, value)
    return document


def refused(document):
    """Where a file is refused; nowhere if it is read."""
    try:
        from_bytes(sealed(document), KINDS)
    except ModelFileError as error:
        return error.where
    return ""


@pytest.mark.parametrize(("make", "path", "right", "wrong"), CASES)
def test_a_number_at_its_bound_is_read_and_one_beyond_is_not(make, path, right, wrong):
    for value in right:
        assert not refused(changed(make, path, value)).startswith(path), value
    parent = path.partition("[")[0]
    for value in wrong:
        assert refused(changed(make, path, value)).startswith(parent), value


def test_few_rows_along_creases_of_which_one_overflows_are_refused():
    assert refused(changed("few rows", "creases.spreads[0][0]", LEAST)) == "sums.rows"


@pytest.mark.parametrize(("factor", "right"), [(1.0 - 9e-7, True), (1.0 + 9e-7, True)])
@pytest.mark.parametrize("beyond", [False, True])
def test_a_direction_has_the_length_1_but_for_rounding(factor, right, beyond):
    document = unpacked(json.loads(written("creased")))
    document["creases"]["directions"][2] *= factor + (factor - 1.0) * 0.3 * beyond
    assert (refused(document) != "creases.directions[2]") == (right and not beyond)


@pytest.mark.parametrize(("share", "right"), [(1.001, True), (0.999, False), (0.0, False)])
def test_gaps_must_have_expected_values_that_do_not_overflow(share, right):
    least = 1e6 * 3 * (1.0 + 1e-90) / 1e100  # three columns of which one says hardly anything
    precision = np.diag([0.5, 0.5, least * share])
    where = refused(changed("creased", "creases.precision", precision))
    assert (where != "creases.precision") == right


def test_what_columns_say_of_each_other_is_looked_at_from_both_sides():
    turned = np.eye(3)
    turned[0, 1], turned[1, 0] = 20.0, -20.0  # the halves of both take each other away
    assert refused(changed("creased", "creases.precision", turned)) != "creases.precision"
    turned[1, 0] = 20.0
    assert refused(changed("creased", "creases.precision", turned)) == "creases.precision"


def test_a_bend_may_have_a_single_knot():
    document = unpacked(json.loads(written("creased")))
    gauss = document["creases"]["gauss"]
    starts = gauss["starts"]
    for name in ("knots", "heights"):
        gauss[name] = np.append(gauss[name][:1], gauss[name][starts[1] :])
    gauss["starts"] = np.append(0, starts[1:] - starts[1] + 1)
    assert refused(document) == ""
    gauss["starts"][-1] -= 1
    assert refused(document) == "creases.gauss.starts"


@pytest.mark.parametrize(
    ("model", "each"),
    [
        (CreasedREF(), 256),  # creases
        (CreasedREF(n_creases=7), 7),
        (Detector(), 256),
        (REF(n_iter=5), 2 * 5 + 257),  # levels and quantiles
    ],
)
def test_as_many_columns_are_learned_as_a_file_has_memory_for(model, each):
    most = MOST_MEMORY // (2 * 8 * each)  # twice: as the file has them, and as they are
    check_columns(model, most)
    with pytest.raises(ModelFileError, match=f"of {most + 1:,} columns is too large"):
        check_columns(model, most + 1)


HOSTILE = (LEAST, 1e-300, 1e-150, 1e150, 1e300, 1.7e308)


@pytest.mark.parametrize("make", ["creased", "few rows"])
@pytest.mark.parametrize(
    "path",
    [
        *("creases.center[1]", "creases.scale[1]", "creases.offsets[1]", "creases.shifts[0][1]"),
        *("creases.shifts[1][7]", "creases.spreads[0][1]", "creases.spreads[1][7]"),
        *("creases.gauss.slopes[1]", "sums.total[1]", "judge.ridge", "judge.typical", "judge.unit"),
    ],
)
def test_what_is_read_gives_any_row_a_finite_distance(make, path):
    rows = np.concatenate([X[:5], 1e3 * X[:5], -1e300 * np.sign(X[:5] - 1.0)])
    outcomes = set()
    for value in HOSTILE:
        try:
            model = from_bytes(sealed(changed(make, path, value)), KINDS)
        except ModelFileError:
            outcomes.add("refused")
            continue
        with np.errstate(all="ignore"):
            assert np.isfinite(model.score_samples(rows)).all(), value
        outcomes.add("read")
    assert "read" in outcomes
