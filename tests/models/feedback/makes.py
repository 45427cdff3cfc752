"""Every kind of model that takes feedback, fitted; rows that it learned, and rows that are new."""

import numpy as np
import pandas as pd

from refold import REF, CreasedREF, Detector

NUMBERS = ["torque", "speed", "grade"]


def parts(rows, seed):
    """Numbers, one of them discrete, a category, and a date."""
    rng = np.random.default_rng(seed)
    torque = rng.normal(75.0, 3.0, rows)
    return pd.DataFrame(
        {
            "torque": torque,
            "speed": 0.5 * torque + rng.normal(size=rows),
            "grade": rng.integers(1, 6, rows).astype(float),
            "machine": rng.choice(list("ABC"), rows),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 90, rows), "D"),
        }
    )


def odd_parts():
    """A value far out, one never seen, a category never seen."""
    rows = parts(3, seed=7)
    rows.loc[0, "torque"] = 99.0
    rows.loc[1, "grade"] = 7.0
    rows.loc[2, "machine"] = "Z"
    return rows


def numbers(table):
    return table[NUMBERS]


def whole(table):
    return table


# How to make one, and which columns it takes.
MAKES = {
    "REF, sketch": (lambda: REF(engine="sketch"), numbers),
    "REF, sketch with a rate": (lambda: REF(engine="sketch", alpha=0.05), numbers),
    "CreasedREF": (lambda: CreasedREF(n_creases=32), numbers),
    "Detector of numbers, creased": (lambda: Detector(), numbers),
    "Detector of numbers, ref": (lambda: Detector(method="ref"), numbers),
    "Detector, creased": (lambda: Detector(), whole),
    "Detector, ref": (lambda: Detector(method="ref"), whole),
}


def made(name, rows=400):
    make, of = MAKES[name]
    return make().fit(of(parts(rows, seed=0))), of
