"""Sketches and chains in a model file: what is written is read again, and every bound is exact."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.algorithm.algorithm_file import (
    chain_written,
    check_evaluable,
    read_chain,
    read_sketch,
    sketch_written,
)
from refold.algorithm.engines import exact
from refold.algorithm.engines.sketch import GrowingSketch, Sketch
from refold.modelfile.arrays import pack_array
from refold.modelfile.errors import ModelFileError
from refold.modelfile.fields import Field
from refold.modelfile.json_text import Budget
from tests.conftest import assert_same_histogram


def field(document):
    """A document as it is read: arrays packed, the rest through JSON."""
    packed = {
        name: pack_array(value) if isinstance(value, np.ndarray) else value
        for name, value in document.items()
    }
    return Field(json.loads(json.dumps(packed)), "sketch", Budget(10**8))


def refusal(document, columns, **options):
    with pytest.raises(ModelFileError) as error:
        read_sketch(field(document), columns, **options)
    return error.value.where


@pytest.fixture
def written():
    """Two columns: bins of width 1/8 and of width 1, the second with gaps."""
    X = np.column_stack(
        [np.arange(40.0) / 8.0, np.where(np.arange(40) % 4, np.arange(40.0), np.nan)]
    )
    X[0] += 1.0 / 64.0
    return sketch_written(Sketch.of(X, n_bins=64))


@given(st.integers(0, 2**32 - 1), st.sampled_from([16, 8192]), st.booleans())
def test_a_sketch_that_was_written_is_read_again(seed, n_bins, weighted):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(50, 3)) * 10.0 ** rng.integers(-300, 300, size=3)
    X[:, 2] = rng.integers(-3, 3, size=50)
    X[rng.random(X.shape) < 0.2] = np.nan
    weights = rng.random(50) if weighted else None
    sketch = Sketch.of(X, weights, n_bins=n_bins)
    again = read_sketch(field(sketch_written(sketch)), 3)
    assert (again.n_bins, again.rows, again.weight) == (n_bins, 50, sketch.weight)
    for one, other in zip(again.histograms, sketch.histograms, strict=True):
        assert_same_histogram(one, other)
        np.testing.assert_array_equal(one.positions, other.positions)


def test_a_sketch_without_rows_is_read_where_it_may_have_none():
    nothing = sketch_written(GrowingSketch(2, 64).sketch())
    assert read_sketch(field(nothing), 2, empty=True).rows == 0
    assert refusal(nothing, 2).startswith("sketch")
    half = sketch_written(Sketch.of(np.array([[1.0, np.nan], [2.0, np.nan]]), n_bins=64))
    assert read_sketch(field(half), 2, empty=True).histograms[1].rows == 0
    half["values"] = np.array([0, 2])
    assert refusal(half, 2, empty=True) == "sketch.values[0]"


def altered(document, name, place, value):
    other = copy.deepcopy(document)
    if place is None:
        other[name] = value
    else:
        other[name] = np.asarray(other[name]).copy()
        other[name][place] = value
    return other


def test_numbers_at_their_bounds_are_read_and_those_beyond_are_refused(written):
    low, counts = np.array(written["low"]), np.array(written["counts"])
    ends = np.cumsum(written["lengths"])
    bins, width = np.array(written["bins"]), np.ldexp(1.0, written["exponent"])
    slack = 1e-6 * (1.0 + written["weight"])
    right = [
        ("positions", 3, -slack),
        ("positions", 3, counts[3] + slack),
        ("missing", 1, written["missing"][1] + 0.9 * slack),
        ("counts", 3, counts[3] + 0.9 * slack),
        ("high", 0, (bins[ends[0] - 1]) * width[0]),
        ("low", 0, (bins[0] + 1) * width[0]),
    ]
    for name, place, value in right:
        assert read_sketch(field(altered(written, name, place, value)), 2).rows == 40, name
    wrong = [
        ("positions", 3, -1.1 * slack),
        ("positions", 3, counts[3] + 1.1 * slack),
        ("missing", 1, written["missing"][1] + 1.1 * slack),
        ("missing", 1, -1e-9),
        ("counts", 3, counts[3] + 1.1 * slack),
        ("counts", 3, 0.0),
        ("values", 0, -1),
        ("high", 0, np.nextafter(bins[ends[0] - 1] * width[0], 0.0)),
        ("low", 0, np.nextafter((bins[0] + 1) * width[0], np.inf)),
        ("exponent", 0, -1075),
        ("exponent", 0, 1024),
        ("bins", 4, bins[3]),
    ]
    for name, place, value in wrong:
        assert refusal(altered(written, name, place, value), 2).startswith("sketch"), name
    assert refusal(altered(written, "high", 1, np.nextafter(low[1], -1.0)), 2) == "sketch.high[1]"
    assert refusal(altered(written, "weight", None, 0.0), 2) == "sketch.weight"


@pytest.mark.parametrize("exponent", [-1074, 1023])
def test_the_narrowest_and_the_widest_bins_are_read(exponent):
    width = 2.0**exponent
    document = sketch_written(Sketch.of(np.array([[0.0], [0.0]]), n_bins=64))
    document |= {
        "exponent": np.array([exponent]),
        "bins": np.array([0, 1]),
        "counts": np.array([1.0, 1.0]),
        "positions": np.array([0.0, 0.0]),
        "lengths": np.array([2]),
        "high": np.array([width]),
    }
    (histogram,) = read_sketch(field(document), 1).histograms
    assert histogram.centroids()[0].tolist() == [0.0, width]


def test_bins_that_no_double_reaches_are_refused():
    document = sketch_written(Sketch.of(np.array([[1.7e308], [1.7e308]]), n_bins=64))
    last = np.floor(1.7e308 / 2.0 ** int(document["exponent"][0]))
    assert document["bins"].tolist() == [last]
    beyond = altered(document, "positions", 0, document["counts"][0])
    beyond["bins"] = beyond["bins"].copy()
    assert read_sketch(field(beyond), 1).rows == 2
    beyond["exponent"] = np.array([1023])
    beyond["bins"] = np.array([1])
    assert refusal(beyond, 1) == "sketch.positions"


def chain_field(chain):
    return field(chain_written(chain))


def test_a_chain_that_was_written_is_read_again_and_bounds_are_exact(rng):
    chain = exact.learn(rng.normal(size=(50, 3)), None, n_iter=7, fold="abs", max_gain=1e6)
    again = read_chain(chain_field(chain), 3)
    for name in ("shifts", "scales", "levels", "gain"):
        np.testing.assert_array_equal(getattr(again, name), getattr(chain, name))
    for name, place, value in (
        ("levels", 0, 1),
        ("levels", 0, 7),
        ("gain", 0, 0.0),
        ("scales", (0, 0), 5e-324),
    ):
        assert read_chain(field(altered(chain_written(chain), name, place, value)), 3).n_iter == 7
    for name, place, value in (
        ("levels", 0, 0),
        ("levels", 0, 8),
        ("gain", 0, -5e-324),
        ("scales", (0, 0), 0.0),
        ("n_iter", None, 0),
    ):
        with pytest.raises(ModelFileError) as error:
            read_chain(field(altered(chain_written(chain), name, place, value)), 3)
        assert name in error.value.where


@pytest.mark.parametrize(
    ("name", "place"), [("shifts", (0, 1)), ("shifts", (3, 1)), ("scales", (2, 1))]
)
def test_steps_that_overflow_together_are_refused_by_their_feature(name, place, rng):
    chain = exact.learn(rng.normal(size=(50, 3)), None, n_iter=7, fold="abs", max_gain=1e6)
    place_of = field(chain_written(chain))
    check_evaluable(place_of, read_chain(chain_field(chain), 3))
    document = chain_written(chain)
    document["scales"] = chain.scales.copy()
    document["scales"][1, 1] = 1e200
    document = altered(document, name, place, 1e300)
    if place == (0, 1):
        document["scales"][0, 1] = 1e-300
    with pytest.raises(ModelFileError, match=r"feature 1 \(counted from 0\) overflow"):
        check_evaluable(place_of, read_chain(field(document), 3))
