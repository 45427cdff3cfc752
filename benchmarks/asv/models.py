"""Learning and scoring, by every model, on the tables that people have."""

import warnings

import numpy as np
import pandas as pd

from refold import REF, CreasedREF, Detector

MODELS = {
    "REF": lambda: REF(alpha=0.01),
    "REF, sketch": lambda: REF(engine="sketch"),
    "CreasedREF": lambda: CreasedREF(alpha=0.01),
    "Detector": Detector,
}
ROWS = 5000


def numbers():
    """Return rows whose columns depend on each other."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((ROWS, 4)) @ rng.standard_normal((4, 12))


def mixed():
    """Return a table of numbers, categories, dates and gaps."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((ROWS, 4)), columns=list("abcd"))
    table["machine"] = rng.choice(["north", "south", "east"], ROWS)
    table["part"] = [f"AB-{k:05d}" for k in rng.integers(0, 5000, ROWS)]
    table["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 365, ROWS), "D")
    return table.mask(rng.random(table.shape) < 0.01)


class Numbers:
    """One table of numbers, all models."""

    params = tuple(MODELS)
    param_names = ("model",)
    timeout = 300

    def setup(self, name):
        warnings.simplefilter("ignore")
        self.rows = numbers()
        self.model = MODELS[name]().fit(self.rows)
        self.row = self.rows[:1]

    def time_fit(self, name):
        MODELS[name]().fit(self.rows)

    def peakmem_fit(self, name):
        MODELS[name]().fit(self.rows)

    def time_score(self, name):
        self.model.score_samples(self.rows)

    def time_score_one_row(self, name):
        self.model.score_samples(self.row)


class MixedTable:
    """A table as people have it."""

    timeout = 300

    def setup(self):
        warnings.simplefilter("ignore")
        self.table = mixed()
        self.model = Detector().fit(self.table)

    def time_fit(self):
        Detector().fit(self.table)

    def peakmem_fit(self):
        Detector().fit(self.table)

    def time_score(self):
        self.model.score_samples(self.table)

    def time_explain_100_rows(self):
        self.model.explain(self.table.head(100))
