"""CreasedREF keeps scikit-learn's contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from refold import CreasedREF

# With more features than rows a row that was learned is always nearer than one left out: none of
# them is rejected. These checks want some to be.
NONE_REJECTED = "of rows that were learned, none is rejected when there are fewer than features"


def expected_failures(estimator):
    names = ("check_outliers_fit_predict", "check_outliers_train")
    return dict.fromkeys(names, NONE_REJECTED) if estimator.n_creases == 256 else {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [CreasedREF(), CreasedREF(n_creases=16)], expected_failed_checks=expected_failures
)
def test_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
