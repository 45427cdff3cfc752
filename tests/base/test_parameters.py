"""Constraints on parameters, held against those that scikit-learn has for itself."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import _param_validation as theirs

from refold import REF, CreasedREF, Detector
from refold.base import parameters as ours

VALUES = [
    *(-1, 0, 1, 2, 2**32 - 1, 2**32, -0.5, 0.0, 0.5, 1.0, float("inf"), float("nan")),
    *(True, None, "a", "b", np.int64(1), np.float32(0.5), np.float64(1), np.bool_(True)),
    *([1], {}, len, np.random.RandomState(0), REF()),
]
CONSTRAINTS = [
    (ours.Interval(kind, low, high, closed), theirs.Interval(kind, low, high, closed=closed))
    for kind in (Integral, Real)
    for low, high, closed in [
        (0, 1, "both"),
        (0, 1, "neither"),
        (0, None, "left"),
        (None, 0, "right"),
    ]
] + [
    (ours.StrOptions("b", "a"), theirs.StrOptions({"a", "b"})),
    (ours.HasMethods("fit", "predict"), theirs.HasMethods(["fit", "predict"])),
    (None, None),
    (callable, callable),
    (bool, bool),
    (dict, dict),
]


@pytest.mark.parametrize(("our", "their"), CONSTRAINTS, ids=[str(our) for our, _ in CONSTRAINTS])
def test_a_constraint_takes_what_that_of_scikit_learn_takes(our: object, their: object) -> None:
    def takes(call) -> list[bool]:
        taken = []
        for value in VALUES:
            try:
                call(value)
            except (ValueError, TypeError):
                taken.append(False)
            else:
                taken.append(True)
        return taken

    assert takes(lambda value: ours.check_parameter("M", {"p": [our]}, "p", value)) == takes(
        lambda value: theirs.validate_parameter_constraints({"p": [their]}, {"p": value}, "M")
    )


def test_random_states_are_those_that_scikit_learn_takes() -> None:
    for value in VALUES:
        taken = any(ours._meets(value, constraint) for constraint in ours.RANDOM_STATE)
        assert taken == theirs._RandomStates().is_satisfied_by(value), value


def test_the_error_names_the_parameter_its_owner_all_constraints_and_the_value() -> None:
    with pytest.raises(ours.InvalidParameterError) as raised:
        CreasedREF(n_creases=0).fit(np.eye(5))
    assert str(raised.value) == (
        "The 'n_creases' parameter of CreasedREF must be an int in the range [1, inf) or a str "
        "among {'auto'}. Got 0 instead."
    )


@pytest.mark.parametrize("model", [REF, CreasedREF, Detector])
def test_every_parameter_of_a_model_has_a_constraint(model: type[BaseEstimator]) -> None:
    assert model._parameter_constraints.keys() == model().get_params(deep=False).keys()
