"""Settings and data that several test files share."""

import os
from pathlib import Path

os.environ["SCIPY_ARRAY_API"] = "1"  # read once by SciPy; lets scikit-learn check array-API input

import numpy as np
import pytest
from hypothesis import settings
from scipy.io import loadmat

settings.register_profile("refold", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=2000)  # --hypothesis-profile
settings.load_profile("refold")

FOLDS = ("abs", "sqr", "cos-abs", "cos", "sin", "tanh")

# The paper's tasks: (data file, number of classes, prefix of the task names).
PAPER_SETS = (
    ("iris", 3, "Iris"),
    ("seeds", 3, "Seed"),
    ("ionosphere", 2, "Ion"),
    ("sonar", 2, "Son"),
    ("bankruptcy", 2, "Bank"),
    ("happiness", 2, "Happ"),
)


def shared_folder(variable, *places):
    """The folder that an environment variable names, or the first of `places` that exists."""
    root = Path(__file__).parents[1]
    candidates = [os.environ.get(variable), *(root / place for place in places)]
    return next((Path(c) for c in candidates if c and Path(c).is_dir()), None)


@pytest.fixture(scope="session")
def paper_tasks():
    """(task, split) -> training targets, test rows, whether each test row is a target."""
    folder = shared_folder("REFOLD_DATA", "../shared/data")
    if folder is None or not (folder / "ref-paper").is_dir():
        pytest.skip("The paper's data is not here: REFOLD_DATA names no folder with ref-paper/.")
    tasks = {}
    for file, classes, prefix in PAPER_SETS:
        data = loadmat(folder / "ref-paper" / f"{file}.mat")
        for label in range(1, classes + 1):
            for split in range(5):
                train = data["fulltraindata"][split].T[data["fulltrainlabels"][split] == label]
                train = np.ascontiguousarray(train, dtype=float)
                test = np.ascontiguousarray(data["fulltestdata"][split].T, dtype=float)
                mean, std = train.mean(axis=0), train.std(axis=0, ddof=1)
                std[std < 1e-3] = 1e-3
                tasks[f"{prefix}{label}", split] = (
                    (train - mean) / std,
                    (test - mean) / std,
                    data["fulltestlabels"][split] == label,
                )
    return tasks


def gmean(labels, is_target):
    """Geometric mean of the true positive and the true negative rate, in percent."""
    accepted = np.asarray(labels) == 1
    return 100 * np.sqrt(accepted[is_target].mean() * (~accepted)[~is_target].mean())


@pytest.fixture
def rng():
    return np.random.default_rng(0)
