"""REF keeps scikit-learn's contract, whatever its parameters."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from refold import REF


class Largest:
    """A user's distance; its name is the same in every worker that collects the tests."""

    def __call__(self, y):
        return np.abs(y).max(axis=1)

    def __repr__(self):
        return "largest"


largest = Largest()

ESTIMATORS = [
    REF(),
    REF(engine="exact"),
    REF(engine="reference"),
    REF(engine="sketch"),
    REF(levels="all"),
    REF(levels="all", distance="l2"),
    REF(distance="l2"),
    REF(distance=largest),
    REF(distance=largest, levels="all"),
    REF(fold=np.abs),
    REF(n_iter=1),
    REF(alpha=0.4),
    REF(alpha=0.4, engine="sketch"),
    *(REF(fold=fold) for fold in ("sqr", "cos-abs", "cos", "sin", "tanh")),
    *(REF(fold=fold, engine="reference") for fold in ("sqr", "cos-abs", "cos", "sin", "tanh")),
]


NOT_IN_PARTS = dict.fromkeys(
    ("check_n_features_in_after_fitting", "check_fit_score_takes_y"),
    "partial_fit refuses alpha",
)


def expected_failures(estimator):
    return NOT_IN_PARTS if estimator.alpha and estimator.engine == "sketch" else {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
