"""Settings and data that several test files share."""

from tests import environment  # first: libraries read some of what it sets when they are imported

environment.prepare()

import os
import shutil
import sys
import warnings

import numpy as np
import pytest
from hypothesis import settings

from tests.browser import CHROMIUM
from tests.environment import nothing_skipped
from tests.tables import beside_the_checkout

settings.register_profile("refold", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=2000)  # --hypothesis-profile
settings.load_profile("refold")

FOLDS = ("abs", "sqr", "cos-abs", "cos", "sin", "tanh")

# What is neither in the repository nor in a package of the tests: make test does without.
ELSEWHERE = {"paper_data", "adbench", "browser", "postgres", "site"}


@pytest.hookimpl(tryfirst=True)  # before those that are not asked for are left out
def pytest_collection_modifyitems(items):
    for item in items:
        if ELSEWHERE & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def paper_data():
    """Let refold find the author's data: REFOLD_DATA, beside the repository, or the network."""
    from refold.studies.download import DataError
    from refold.studies.paper.data import load_task

    with beside_the_checkout():
        try:
            load_task("Iris1")
        except DataError:
            pytest.skip("the author's data is neither in REFOLD_DATA nor can it be downloaded")
        yield


@pytest.fixture(scope="module")
def browser():
    """A browser without a window; its loop ends with the module, or no other could run here."""
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None and not nothing_skipped():
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def spark():
    """Spark in local mode; what needs it is skipped where there is no Java."""
    if shutil.which("java") is None and not nothing_skipped():
        pytest.skip("There is no Java to run Spark.")
    from pyspark.sql import SparkSession

    # Workers are the Python that runs the tests.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "700",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.adaptive.enabled": "false",
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("refold")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres():
    """The address of a PostgreSQL server of the tests' own."""
    from tests.postgresql import running

    with running() as address:
        yield address


@pytest.fixture(scope="session")
def paper_tasks(paper_data):
    """(task, split) -> training targets, test rows, whether each test row is a target."""
    from refold.studies.paper.data import load_tasks

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


@pytest.fixture(autouse=True)
def _environment_is_left_as_it_was():
    before = dict(os.environ)
    yield
    # pytest's own, and what scikit-learn and polars set when they are first imported.
    names = {name for name, _ in before.items() ^ os.environ.items()}
    names = {name for name in names if not name.startswith(("PYTEST_", "KMP_", "_RJEM_"))}
    assert not names, f"a test has changed {', '.join(sorted(names))} for those after it"


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def few_are_many(monkeypatch):
    """Let 100 rows and 30 features be enough to score by quarters of the pivots."""
    monkeypatch.setattr("refold.models.creased.leverage.MANY_ROWS", 100)
    monkeypatch.setattr("refold.models.creased.leverage.MANY_FEATURES", 30)
