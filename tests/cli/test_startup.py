"""Commands import what their work needs: modules are counted, not seconds."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.cli.conftest import as_csv

RUN = """
import json, sys
sys.argv = ["refold", *sys.argv[1:]]
from refold.cli import app
try:
    app()
except SystemExit as left:
    sys.stderr.write(json.dumps([left.code, sorted(sys.modules)]))
"""


@pytest.fixture
def run(tmp_path):
    """Run a command in a process of its own; return the modules that it has imported."""

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", RUN, *arguments], cwd=tmp_path, capture_output=True, text=True
        )
        code, modules = json.loads(done.stderr[done.stderr.index("[") :])
        assert code == 0, done.stderr
        return set(modules)

    return run


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("score", "--help")])
def test_help_needs_neither_numpy_nor_scikit_learn(run, arguments):
    assert not run(*arguments) & {"numpy", "scipy", "sklearn", "pyarrow", "narwhals"}


def test_scoring_imports_neither_pandas_nor_statistics(run, rng, tmp_path):
    (tmp_path / "t.csv").write_text(as_csv(rng.normal(size=(120, 3))))
    run("fit", "t.csv", "-o", "m.json")
    modules = run("score", "m.json", "t.csv", "-o", "scored.csv")
    assert not modules & {"pandas", "scipy.stats._stats_py", "refold.report", "refold.service"}
    assert len(modules) < 1250  # 1,750 with pandas and scipy.stats
    assert not run("inspect", "m.json") & {"pandas", "scipy.stats._stats_py"}


def test_nothing_is_searched_for_garbage_at_the_end():
    program = (
        "import atexit, gc; atexit.register(lambda: print('frozen', gc.get_freeze_count()))\n"
        "from refold.cli import app; app()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--version"], capture_output=True, text=True, check=True
    )
    assert int(done.stdout.split()[-1]) > 1000


def test_learning_of_dates_and_drift_load_no_statistics(run, rng, tmp_path):
    days = np.datetime64("2024-01-01") + np.arange(600)
    rows = zip(days, rng.normal(size=600), rng.normal(size=600), strict=True)
    text = "day,a,b\n" + "".join(f"{day},{a:.3f},{b:.3f}\n" for day, a, b in rows)
    (tmp_path / "t.csv").write_text(text)
    for command in (("fit", "t.csv", "-o", "m.json"), ("drift", "m.json", "t.csv")):
        assert not run(*command) & {"pandas", "scipy.stats._stats_py"}


def test_what_is_loaded_later_is_whole_once_it_is_used():
    code = """
from refold.cli.startup import light_imports
with light_imports():
    import sklearn.base, sys
    assert "scipy.stats._stats_py" not in sys.modules
    from scipy import stats
    from scipy.stats import norm
assert stats.norm.ppf(0.5) == norm.ppf(0.5) == 0.0
assert "scipy.stats._stats_py" in sys.modules
import pandas
"""
    subprocess.run([sys.executable, "-c", code], check=True)
