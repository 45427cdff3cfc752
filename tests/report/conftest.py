"""A model and a table with everything in it that a report has to say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from refold import REF
from refold.report import write_report

HOSTILE = "</script><script>alert(1)</script>"
QUOTED = """a "quoted" 'name' & <b>{{ 7 * 7 }}"""


def parts(rng, rows):
    """Return the parts of a production line: every kind of column that pictures must show."""
    half = rows // 2
    return pd.DataFrame(
        {
            "torque [Nm]": rng.normal(75.0, 2.0, rows),
            "pressure": rng.exponential(3.0, rows),
            "temperature": np.r_[rng.normal(20.0, 1.0, half), rng.normal(60.0, 2.0, rows - half)],
            "valve": rng.integers(0, 2, rows).astype(float),
            "constant": np.full(rows, 3.0),
            HOSTILE: rng.normal(size=rows),
            QUOTED: rng.uniform(size=rows),
        }
    )


@pytest.fixture(scope="session")
def normal():
    table = parts(np.random.default_rng(0), 1500)
    table.iloc[::13, 1] = np.nan
    return table


@pytest.fixture(scope="session")
def model(normal):
    return REF(levels="all", alpha=0.01).fit(normal)


@pytest.fixture(scope="session")
def new():
    table = parts(np.random.default_rng(1), 800)
    table.iloc[5, 0] = 91.2
    table.iloc[40:60, 2] = 40.0
    table.iloc[7, 4] = 4.0
    table.iloc[77] = np.nan
    table.iloc[:, 5] += 0.5
    return table


@pytest.fixture(scope="session")
def written(model, new, tmp_path_factory):
    """Return the page of the table, and what it says."""
    page = tmp_path_factory.mktemp("report") / "report.html"
    names = [f"part-{i}" for i in range(len(new))]
    about = {"Table": HOSTILE}
    report = write_report(model, new, page, title=f"Line 4 {HOSTILE}", row_names=names, about=about)
    return page, report
