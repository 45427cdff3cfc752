"""What people wait for before and after the work: imports, files, commands."""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import refold
import refold.scale


class Start:
    """A new process."""

    def time_import(self):
        subprocess.run([sys.executable, "-c", "import refold"], check=True)

    def time_import_a_model(self):
        subprocess.run([sys.executable, "-c", "from refold import Detector"], check=True)


class ModelFile:
    """A model goes to a file and comes back."""

    def setup(self):
        warnings.simplefilter("ignore")
        rows = np.random.default_rng(0).standard_normal((2000, 10))
        self.model = refold.Detector().fit(rows)
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "model.json")
        refold.save(self.model, self.path)

    def teardown(self):
        self.folder.cleanup()

    def time_save(self):
        refold.save(self.model, self.path)

    def time_load(self):
        refold.load(self.path)

    def track_bytes(self):
        return self.path.stat().st_size

    track_bytes.unit = "bytes"


class TableFile:
    """A table is read and scored file to file."""

    def setup(self):
        warnings.simplefilter("ignore")
        rows = np.random.default_rng(0).standard_normal((20_000, 8))
        self.folder = tempfile.TemporaryDirectory()
        self.table, self.out = (Path(self.folder.name, name) for name in ("t.csv", "s.csv"))
        pd.DataFrame(rows, columns=list("abcdefgh")).to_csv(self.table, index=False)
        self.model = refold.REF(alpha=0.01).fit(pd.read_csv(self.table))

    def teardown(self):
        self.folder.cleanup()

    def time_learn(self):
        refold.scale.learn(self.table, refold.REF(engine="sketch"), progress=False)

    def time_score(self):
        refold.scale.score(self.model, self.table, self.out, progress=False)
