"""The format knows no estimator; an estimator is added by a module beside it and a line."""

import subprocess
import sys
from numbers import Real

from sklearn.base import BaseEstimator

from refold import REF
from refold.base.parameters import Interval
from refold.modelfile.document import from_bytes, to_bytes
from refold.models.files import KINDS


def test_the_format_imports_no_model():
    """In a process of its own: nothing but what the format itself needs is imported there."""
    script = (
        "import sys, refold.modelfile.document, refold.modelfile.json_text\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('refold.')}\n"
        "print(*sorted(rooms - {'_typing', 'base', 'modelfile'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


class Limit(BaseEstimator):
    """Another estimator."""

    _parameter_constraints = {"most": [Interval(Real, 0.0, None, closed="left")]}  # noqa: RUF012

    def __init__(self, most=1.0):
        self.most = most

    def fit(self, X):
        self.n_features_in_ = X.shape[1]
        self.level_, self.noticed_ = float(X.max()), ()
        return self


class LimitFile:
    ESTIMATOR = Limit
    MEMBERS = ("level",)

    @staticmethod
    def written(model, budget):
        return {"level": model.level_}

    @staticmethod
    def least_memory(model, n_features):
        return 8

    @staticmethod
    def read(members, model):
        model.level_ = float(members["level"].number())


def test_another_estimator_needs_one_line_in_the_list(rng):
    kinds = {**KINDS, "Limit": LimitFile}
    X = rng.normal(size=(20, 2))
    model = from_bytes(to_bytes(Limit(most=3.0).fit(X), kinds, "0"), kinds)
    assert (type(model), model.most, model.level_) == (Limit, 3.0, X.max())
    assert type(from_bytes(to_bytes(REF().fit(X), kinds, "0"), kinds)) is REF
