"""What every model says of rows of real tables does not change unless somebody means it to.

``REFOLD_UPDATE_ANSWERS=1`` writes the file anew, after a change that is meant to give others.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from refold import REF, CreasedREF, Detector
from tests.tables import real_table

FILE = Path(__file__).with_name("frozen_answers.npz")
ROWS = 40

NUMBERS = {
    "REF": REF,
    "REF, alpha": lambda: REF(alpha=0.05),
    "REF, all levels": lambda: REF(alpha=0.05, levels="all"),
    "REF, sketch": lambda: REF(alpha=0.05, engine="sketch"),
    "CreasedREF": lambda: CreasedREF(alpha=0.05),
    "CreasedREF, 512 creases": lambda: CreasedREF(alpha=0.05, n_creases=512),
    "CreasedREF, trimmed": lambda: CreasedREF(alpha=0.05, trim=0.05),
}
MIXED = {
    "Detector": lambda: Detector(alpha=0.05),
    "Detector, ref": lambda: Detector(method="ref", alpha=0.05),
}


def of_class(load):
    found = load(as_frame=True)
    return found.data[found.target == 1]


TABLES = {
    **{
        name: lambda name=name: pd.read_csv(real_table(name)).sample(frac=1.0, random_state=1)
        for name in ("penguins.csv", "weather-ewr.csv.gz", "clean-flights.csv.gz", "planes.csv")
    },
    "wine": lambda: of_class(load_wine),
    "breast cancer": lambda: of_class(load_breast_cancer),
    "diabetes": lambda: load_diabetes(as_frame=True, scaled=False).data,
}
# From 150 rows, which are left out one by one, to more than are kept for calibration.
SIZES = {"penguins.csv": 150, "weather-ewr.csv.gz": 6000, "clean-flights.csv.gz": 3000}


def halves(table):
    """Rows to learn from, and others: of these each third has a cell of another row, or none."""
    size = SIZES.get(table, 0)
    rows = TABLES[table]().reset_index(drop=True)
    train = rows[: size or len(rows) - ROWS]
    new = rows[-ROWS:].reset_index(drop=True)
    rng = np.random.default_rng(2)
    for i in range(0, ROWS, 3):
        name = new.columns[rng.integers(new.shape[1])]
        other = rows[name].iloc[rng.integers(len(rows))]
        if isinstance(other, float) and i % 2:
            other = 3.0 * rows[name].max()
        new[name] = new[name].astype(object)
        new.loc[i, name] = other if i % 4 else None
    return train, new


def numbers(table):
    return table.apply(pd.to_numeric, errors="coerce").astype(float)


def answers(table, make):
    train, new = halves(table)
    if make in NUMBERS:
        columns = list(train.select_dtypes("number").dropna(axis=1, thresh=len(train) // 2).columns)
        train, new = train[columns], numbers(new[columns])
        train = train[train.notna().any(axis=1)]
        new = new[new.notna().any(axis=1)]
    model = (NUMBERS | MIXED)[make]().fit(train)
    distances = -model.score_samples(new)
    p_values = model.p_values(new) if make != "REF" else distances
    return np.array([distances, p_values, model.predict(new)])


# Of fewer rows than features nearly all are explained by the others: 1 - h, by which the unit is
# divided, is a difference of nearly equal numbers, and its last digits are those of the processor.
FEW_ROWS = ("penguins.csv", "wine", "breast cancer", "diabetes")


def tolerance(table, make):
    creased = make.startswith("CreasedREF") or make == "Detector"
    return 1e-5 if creased and table in FEW_ROWS else 1e-8


CASES = [(table, make) for table in TABLES for make in (*NUMBERS, *MIXED)]


@pytest.fixture(scope="module")
def frozen():
    if os.environ.get("REFOLD_UPDATE_ANSWERS"):
        np.savez_compressed(FILE, **{", ".join(case): answers(*case) for case in CASES})
    with np.load(FILE) as found:
        return dict(found)


@pytest.mark.parametrize(("table", "make"), CASES)
def test_answers_stay_what_they_were(table, make, frozen):
    distances, p_values, labels = answers(table, make)
    before = frozen[f"{table}, {make}"]
    np.testing.assert_array_equal(labels, before[2])
    np.testing.assert_allclose(p_values, before[1], rtol=1e-8)
    np.testing.assert_allclose(distances, before[0], rtol=tolerance(table, make))
