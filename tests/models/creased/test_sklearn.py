"""CreasedREF keeps scikit-learn's contract, without any exception."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from refold import CreasedREF


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([CreasedREF(), CreasedREF(n_creases=16), CreasedREF(box=0.0)])
def test_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
