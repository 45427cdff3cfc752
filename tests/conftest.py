"""Settings and data that several test files share."""

import os
from pathlib import Path

os.environ["SCIPY_ARRAY_API"] = "1"  # read once by SciPy; lets scikit-learn check array-API input

import numpy as np
import pytest
from hypothesis import settings

from refold.studies.download import DataError
from refold.studies.paper.data import load_task, load_tasks
from tests.browser import CHROMIUM

settings.register_profile("refold", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=2000)  # --hypothesis-profile
settings.load_profile("refold")

FOLDS = ("abs", "sqr", "cos-abs", "cos", "sin", "tanh")

BESIDE = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data():
    """Let refold find the author's data: REFOLD_DATA, beside the repository, or the network."""
    with pytest.MonkeyPatch.context() as patch:
        if "REFOLD_DATA" not in os.environ and BESIDE.is_dir():
            patch.setenv("REFOLD_DATA", str(BESIDE))
        try:
            load_task("Iris1")
        except DataError:
            pytest.skip("the author's data is neither in REFOLD_DATA nor can it be downloaded")
        yield


@pytest.fixture(scope="module")
def browser():
    """A browser without a window; its loop ends with the module, or no other could run here."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def paper_tasks(data):
    """(task, split) -> training targets, test rows, whether each test row is a target."""
    tasks = (task.standardized() for task in load_tasks())
    return {(t.info.task, t.split): (t.train_target, t.X_test, t.y_test == 1) for t in tasks}


def gmean(labels, is_target):
    """Geometric mean of the true positive and the true negative rate, in percent."""
    accepted = np.asarray(labels) == 1
    return 100 * np.sqrt(accepted[is_target].mean() * (~accepted)[~is_target].mean())


def assert_same_histogram(a, b):
    """The same bins and counts; positions within the bins up to rounding."""
    facts = [(h.exponent, h.low, h.high, h.missing, h.rows) for h in (a, b)]
    assert facts[0] == facts[1]
    np.testing.assert_array_equal(a.bins, b.bins)
    np.testing.assert_array_equal(a.counts, b.counts)
    np.testing.assert_allclose(a.positions, b.positions, rtol=1e-9, atol=1e-9)


def adbench_files():
    return sorted((Path(os.environ.get("REFOLD_DATA", BESIDE)) / "adbench").glob("*.npz"))


def load_adbench(file):
    """Rows, and which of them are anomalies."""
    data = np.load(file, allow_pickle=True)
    return data["X"].astype(float), data["y"].ravel() == 1


def adbench_normals(name):
    for file in adbench_files():
        if file.stem == name:
            X, anomaly = load_adbench(file)
            return X[~anomaly]
    pytest.skip(f"{name} of ADBench is neither in REFOLD_DATA nor beside the checkout")


def real_table(name):
    """The path of a table that is not in the repository."""
    path = Path(os.environ.get("REFOLD_DATA", BESIDE)) / "tables" / name
    if not path.exists():
        pytest.skip(f"tables/{name} is neither in REFOLD_DATA nor beside the checkout")
    return path


@pytest.fixture
def rng():
    return np.random.default_rng(0)
