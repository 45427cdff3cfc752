"""Tables in a local folder, read as texts, and how they are divided.

The environment variable ``REFOLD_DATA`` names a folder that has ``tables/`` in it: clean tables to
put errors into, ``clean-NAME.csv.gz``, and tables with anomalies of their own,
``natural-NAME.csv.gz``, whose column ``row_is`` says normal or anomaly. Whatever is there is run;
nothing is downloaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import Any, Literal
from zlib import crc32

import numpy as np

from refold.base.needs import needs
from refold.studies.download import DataError, LocalFiles, local_files
from refold.studies.tables.columns import CleanColumn
from refold.studies.tables.injection import KINDS, inject

MAX_TRAINING = 2_000
MAX_NORMALS = 1_000
MAX_ANOMALIES = 2_000
N_ERRORS = 200

CLEAN, NATURAL, ENDING = "clean", "natural", ".csv.gz"
LABEL, NORMAL, ANOMALY = "row_is", "normal", "anomaly"

Reading = Literal["typed", "texts"]


@dataclass(frozen=True, eq=False)
class TableTask:
    """What a method learns from and what it is judged by."""

    train: Any  # normal rows, as texts
    test: Any  # other normal rows, and after them rows that are not; as texts
    kinds: tuple[str, ...]  # what each test row is: normal, an error of a kind, or an anomaly
    # The column of each test row's wrong cell, where there is one and it is known.
    columns: tuple[str | None, ...]

    def read(self, reading: Reading) -> tuple[Any, Any]:
        """Return training and test rows, with types as a reader of CSV guesses them or as texts."""
        if reading == "texts":
            return self.train, self.test
        train = _typed(self.train)
        return train, _typed_like(train, self.test)


def _typed(texts: Any) -> Any:
    """Return what pandas makes of a CSV of these texts."""
    return needs("pandas", "benchmark").read_csv(StringIO(texts.to_csv(index=False)))


def _typed_like(train: Any, texts: Any) -> Any:
    """Return rows with the types that training has: what is no number among numbers is missing."""
    pd = needs("pandas", "benchmark")
    is_numeric, found = pd.api.types.is_numeric_dtype, _typed(texts)
    for name in found.columns:
        if pd.api.types.is_bool_dtype(train[name]):
            found[name] = texts[name].str.lower().map({"true": 1.0, "false": 0.0}).to_numpy()
        elif is_numeric(train[name]) and not is_numeric(found[name]):
            found[name] = pd.to_numeric(found[name], errors="coerce")
        elif is_numeric(found[name]) and not is_numeric(train[name]):
            found[name] = texts[name].to_numpy()
    return found


@dataclass(frozen=True)
class TableFiles:
    """Clean and labelled tables, one file each."""

    source: LocalFiles  # where the files are; only those whose names say what they are count

    @cached_property
    def sha256(self) -> dict[str, str]:
        """Each table's hash by its name, such as clean-flights."""
        found = {name.removesuffix(ENDING): sha for name, sha in self.source.sha256.items()}
        kinds = (f"{CLEAN}-", f"{NATURAL}-")
        return {name: sha for name, sha in found.items() if name.startswith(kinds)}

    def load(self, name: str) -> Any:
        """Return a table as texts; what is missing is null."""
        path = self.source.path(name + ENDING)
        return needs("pandas", "benchmark").read_csv(path, dtype=str)

    def task(self, name: str, seed: int) -> TableTask:
        """Divide a table; the seed decides, with its name, which rows go where."""
        rng = np.random.default_rng([crc32(name.encode()), seed])
        rows = self.load(name)
        return divide_natural(rows, rng) if name.startswith(NATURAL) else divide_clean(rows, rng)


def tables() -> TableFiles:
    """Return the tables in ``REFOLD_DATA``; DataError if there are none."""
    wanted = (
        f"clean tables, {CLEAN}-NAME{ENDING}, and tables whose column {LABEL} says {NORMAL} or "
        f"{ANOMALY}, {NATURAL}-NAME{ENDING},"
    )
    return TableFiles(local_files("tables", ENDING, wanted))


def divide_clean(rows: Any, rng: np.random.Generator) -> TableTask:
    """Divide a clean table, and put errors into rows that are neither learned nor normal test rows.

    Half of the rows, at most 2,000, are to learn from; a quarter, at most 1,000, are normal test
    rows; of what is left 200 rows get an error of each kind that the table allows.
    """
    rows = rows.iloc[rng.permutation(len(rows))].reset_index(drop=True)
    n_train, n_test = min(len(rows) // 2, MAX_TRAINING), min(len(rows) // 4, MAX_NORMALS)
    train, test = rows[:n_train], rows[n_train : n_train + n_test]
    rest = rows[n_train + n_test :].reset_index(drop=True)
    columns = [
        CleanColumn(
            name,
            train[name].dropna().tolist(),
            float(train[name].isna().mean()),
            frozenset(rows[name][n_train:].dropna()),
        )
        for name in rows.columns
    ]
    parts, kinds = [test], [NORMAL] * len(test)
    wrong: list[str | None] = [None] * len(test)
    for kind in KINDS:
        errors = inject(KINDS[kind], columns, rest, N_ERRORS, rng)
        if errors is not None:
            parts.append(errors.rows)
            kinds += [kind] * N_ERRORS
            wrong += errors.columns
    test = needs("pandas", "benchmark").concat(parts, ignore_index=True)
    return TableTask(train, test, tuple(kinds), tuple(wrong))


def divide_natural(rows: Any, rng: np.random.Generator) -> TableTask:
    """Divide a labelled table: half of the normal rows to learn from, the others to judge by."""
    rows = rows.iloc[rng.permutation(len(rows))]
    is_normal = rows[LABEL] == NORMAL
    if not (is_normal | (rows[LABEL] == ANOMALY)).all() or is_normal.sum() < 2 or is_normal.all():
        raise DataError(
            f"The column {LABEL} should say {NORMAL} or {ANOMALY}, and some rows should be either."
        )
    rows = rows.drop(columns=LABEL)
    normals, anomalies = rows[is_normal], rows[~is_normal][:MAX_ANOMALIES]
    half = len(normals) // 2
    test = normals[half:][:MAX_NORMALS]
    kinds = [NORMAL] * len(test) + [ANOMALY] * len(anomalies)
    both = needs("pandas", "benchmark").concat([test, anomalies], ignore_index=True)
    train = normals[:half][:MAX_TRAINING].reset_index(drop=True)
    return TableTask(train, both, tuple(kinds), (None,) * len(both))
