"""Parameters of estimators: at their bounds and beyond, and as the documentation says."""

import ast
import inspect
import re

import numpy as np
import pytest

from refold import REF, CreasedREF, Detector
from refold.algorithm.kernels import LEAST_BINS, MOST_BINS
from refold.base.parameters import validate_parameters

ABOVE, BELOW_HALF = np.nextafter(0.0, 1.0), np.nextafter(0.5, 0.0)
SHARE = ([ABOVE, np.nextafter(1.0, 0.0)], [0.0, 1.0, -0.1])
TRIM = ([0.0, BELOW_HALF], [-ABOVE, 0.5])
BOUNDS = {
    REF: {
        "n_iter": ([1, 10**9], [0, -1, 1.5]),
        "threshold": ([0.0, 1e300], [-ABOVE]),
        "alpha": SHARE,
        "trim": TRIM,
        "max_gain": ([1.0, 1e300], [np.nextafter(1.0, 0.0), 0]),
        "n_bins": ([LEAST_BINS, MOST_BINS], [LEAST_BINS - 1, MOST_BINS + 1]),
        "n_jobs": ([1, -1, None], [0]),
    },
    CreasedREF: {
        "n_creases": ([1, "auto"], [0, 1.5]),
        "n_levels": ([1], [0]),
        "ridge": ([ABOVE, 1e300], [0.0]),
        "box": ([0.0, 1e9], [-ABOVE, np.nextafter(1e9, 2e9)]),
        "alpha": SHARE,
        "trim": TRIM,
        "n_init": ([2], [1]),
        "random_state": ([0, 2**32 - 1, None], [-1, 2**32]),
    },
    Detector: {
        "alpha": SHARE,
        "trim": TRIM,
        "window": ([1, "7d"], [1.5]),
        "random_state": ([0, None], [-1]),
    },
}
CASES = [(kind, name, *values) for kind, by in BOUNDS.items() for name, values in by.items()]


@pytest.mark.parametrize(("kind", "name", "right", "wrong"), CASES)
def test_a_parameter_at_its_bound_is_taken_and_one_beyond_is_refused(kind, name, right, wrong):
    for value in right:
        validate_parameters(kind(**{name: value}))
    for value in wrong:
        with pytest.raises(ValueError, match=f"'{name}'|{name}="):
            validate_parameters(kind(**{name: value}))


def documented(function, text):
    """The parameters that a docstring has, each with its default."""
    found = re.findall(r"^\s*(\w+) : .*?default=([^\s,]+|\"[^\"]*\")$", text, re.M)
    known = inspect.signature(function).parameters
    return {name: ast.literal_eval(value) for name, value in found if name in known}


@pytest.mark.parametrize("kind", [REF, CreasedREF, Detector], ids=lambda kind: kind.__name__)
def test_defaults_are_those_of_the_documentation(kind):
    own = documented(kind, kind.__doc__)
    signature = inspect.signature(kind).parameters
    assert {name: signature[name].default for name in own} == own
    assert len(own) > len(signature) - 2
    for method in ("fit", "accept", "reject", "undo_feedback", "explain", "stream"):
        function = getattr(kind, method)
        given = documented(function, inspect.getdoc(function))
        parameters = inspect.signature(function).parameters
        assert {name: parameters[name].default for name in given} == given


@pytest.mark.parametrize("kind", [REF, CreasedREF, Detector], ids=lambda kind: kind.__name__)
def test_gaps_are_taken_and_only_a_detector_takes_texts(kind):
    tags = kind().__sklearn_tags__().input_tags
    assert tags.allow_nan
    assert tags.string == tags.categorical == (kind is Detector)
