"""Somebody's own table: normal rows, and others if a column says which rows are which.

It is kept as texts, as they are written in a CSV. Of a large table a sample is kept, which does not
depend on anything but the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from refold._typing import Booleans
from refold.base.needs import needs
from refold.columns.frames import is_text
from refold.studies.own.faults import put_faults
from refold.studies.tables.columns import CleanColumn
from refold.studies.tables.suite import ANOMALY, NORMAL, TableTask
from refold.tabular import InputError, TableSource, TrainingSelection
from refold.tabular.block import Block
from refold.tabular.errors import listed
from refold.tabular.training import has_target

MAX_TRAINING, MAX_NORMALS, MAX_ANOMALIES = 5_000, 2_000, 2_000
ALL_OF_FEW = 20  # anomalies


def sizes(table: OwnTable) -> tuple[int, int]:
    """Return how many normal rows are learned and how many judged: two thirds and the others."""
    n = len(table.normals)
    n_train = 2 * n // 3
    return min(n_train, MAX_TRAINING), min(n - n_train, MAX_NORMALS)


def n_anomalies(table: OwnTable) -> int:
    """Return how many anomalies are judged: half of many, so that seeds show what chance does."""
    n = 0 if table.anomalies is None else len(table.anomalies)
    return min(max(n // 2, min(n, ALL_OF_FEW)), MAX_ANOMALIES)


def usual_rate(table: OwnTable) -> float:
    """Return the rate of false alarms that ``refold fit`` would choose for the training rows."""
    return max(0.01, 5.0 / (sizes(table)[0] + 1))


def divide_rows(table: OwnTable, seed: int) -> TableTask:
    """Draw rows to learn from; judged are others, and anomalies or rows with a fault each."""
    rng = np.random.default_rng([crc32(b"own"), seed])
    n_train, n_test = sizes(table)
    order = rng.permutation(len(table.normals))
    train, test = (
        table.normals.iloc[places].reset_index(drop=True)
        for places in (order[:n_train], order[len(order) - n_test :])
    )
    if table.anomalies is not None:
        drawn = rng.permutation(len(table.anomalies))[: n_anomalies(table)]
        return _task(train, test, [(ANOMALY, table.anomalies.iloc[drawn], [None] * len(drawn))])
    columns = [_column(train, test, name) for name in train.columns if name not in table.running]
    found = put_faults(columns, test, rng)
    return _task(train, test, [(tag, faults.rows, faults.columns) for tag, faults in found])


def _task(train: Any, test: Any, others: list[tuple[str, Any, Any]]) -> TableTask:
    kinds, wrong = [NORMAL] * len(test), [None] * len(test)
    for kind, rows, columns in others:
        kinds += [kind] * len(rows)
        wrong += columns
    both = needs("pandas", "benchmark").concat(
        [test, *(rows for _, rows, _ in others)], ignore_index=True
    )
    return TableTask(train, both, tuple(kinds), tuple(wrong))


def _column(train: Any, test: Any, name: str) -> CleanColumn:
    there, elsewhere = train[name].dropna().tolist(), frozenset(test[name].dropna())
    return CleanColumn(name, there, float(train[name].isna().mean()), elsewhere)


FEWEST_NORMALS, FEWEST_ANOMALIES = 20, 5
MOST_KEPT = 20_000  # rows of either kind


@dataclass(frozen=True, eq=False)
class OwnTable:
    """A table as texts."""

    name: str  # what it is called
    normals: Any  # normal rows as texts, in the order of the file; what is missing is null
    anomalies: Any | None = None  # rows that are not normal; None where nothing says which rows are
    is_typed: bool = False  # whether the file has types, as Parquet and workbooks do
    rows_read: int = 0  # how many rows the file has
    left_out: int = 0  # how many of them have no value at all, or no label

    @property
    def title(self) -> str:
        """Its name without folders."""
        return Path(self.name).name

    @cached_property
    def sha256(self) -> str:
        """The hash of what is kept."""
        parts = [self.normals] if self.anomalies is None else [self.normals, self.anomalies]
        texts = "\0".join(part.to_csv(index=False) for part in parts)
        return sha256(f"{self.is_typed}\0{texts}".encode(errors="surrogatepass")).hexdigest()

    @cached_property
    def running(self) -> list[str]:
        """Columns that number the rows or run with time: a next row is always beyond the last."""
        return [name for name in self.normals.columns if _runs(self.normals[name])]


def _runs(texts: Any) -> bool:
    """Whether most values differ and are ordered like the rows; of dates, whether they are."""
    if texts.isna().any():
        return False
    column = CleanColumn("", texts.tolist())
    if column.numbers is not None:
        steps = np.diff(np.argsort(np.argsort(column.numbers, kind="stable")))
        many = len(column.counts) >= len(texts) / 2
    elif column.format is not None:
        steps = np.array([gap.total_seconds() for gap in np.diff(np.array(column.moments))])
        many = len(column.counts) > 1
    else:
        return False
    return bool(many and ((steps >= 0).all() or (steps <= 0).all()))


class Reservoir:
    """A sample of rows that come block by block: all of them, or the most that are kept."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most, self._rng = most, np.random.default_rng(0)
        self._kept: Any = None
        self._keys = np.empty(0)

    def add(self, rows: Any) -> None:
        """Take rows of an Arrow table; each of all rows so far is as likely to be kept."""
        concatenate = needs("pyarrow", "parquet").concat_tables
        self._kept = rows if self._kept is None else concatenate([self._kept, rows])
        self._keys = np.concatenate([self._keys, self._rng.random(rows.num_rows)])
        if len(self._keys) > 2 * self._most:
            self._prune()

    def _prune(self) -> None:
        if len(self._keys) > self._most:
            places = np.sort(np.argpartition(self._keys, self._most)[: self._most])
            self._kept, self._keys = self._kept.take(places), self._keys[places]

    def frame(self) -> Any | None:
        """Return what is kept, in the order in which it came; None if nothing came."""
        self._prune()
        return None if self._kept is None else self._kept.to_pandas().astype("str")


def read_own(
    table: TableSource,
    ignore: Collection[str] = (),
    label: str | None = None,
    normal: str | None = None,
    count: Callable[[int], None] = lambda rows: None,
) -> OwnTable:
    """Read a table."""
    learned = TrainingSelection(ignore=ignore, target_column=label, target=normal).of(table)
    normals, anomalies, seen = Reservoir(), Reservoir(), Counter[str]()
    read = left_out = 0
    for block in table.blocks():
        count(block.rows)
        read += block.rows
        chosen = np.ones(block.rows, dtype=bool)
        if label is not None and normal is not None:
            chosen = has_target(block, label, normal, seen)
        rows = _texts(block, learned)
        judged = _has_value(rows) & _has_label(block, label)
        left_out += int(np.sum(~judged))
        for into, of_kind in ((normals, chosen & judged), (anomalies, ~chosen & judged)):
            if of_kind.any():
                into.add(rows.filter(needs("pyarrow", "parquet").array(of_kind)))
    if read == 0:
        raise InputError(f"{table.name} has column names but no rows.")
    found = OwnTable(
        table.name,
        normals.frame(),
        anomalies.frame(),
        not all(is_text(table.kinds[name]) for name in learned),
        read,
        left_out,
    )
    _check(found, label, normal, seen)
    return found


def _check(found: OwnTable, label: str | None, normal: str | None, seen: Counter[str]) -> None:
    """Refuse a table with too few rows of a kind, in words that say what there is."""
    n_normals = 0 if found.normals is None else len(found.normals)
    there = listed([value for value, _ in seen.most_common()])
    if n_normals < FEWEST_NORMALS:
        which = "" if label is None else f" with {normal!r} in column {label!r}"
        hint = "" if label is None else f" Found there: {there}."
        raise InputError(
            f"{found.name}: {n_normals} rows{which} are too few to compare detectors; it takes "
            f"{FEWEST_NORMALS}.{hint}"
        )
    n_others = 0 if found.anomalies is None else len(found.anomalies)
    if label is not None and n_others < FEWEST_ANOMALIES:
        raise InputError(
            f"{found.name}: {n_others} rows have something else than {normal!r} in column "
            f"{label!r}; it takes {FEWEST_ANOMALIES} rows that are not normal. Found there: "
            f"{there}. Without --label and --normal, faults are put into normal rows; --ignore "
            "leaves the column out."
        )


def _texts(block: Block, learned: list[str]) -> Any:
    """Return rows as an Arrow table of texts."""
    plain = block.select(learned).with_plain_numbers().without_missing()
    return needs("pyarrow", "parquet").table({name: plain.texts(name) for name in learned})


def _has_value(rows: Any) -> Booleans:
    return np.asarray(np.any([column.is_valid().to_numpy() for column in rows.columns], axis=0))


def _has_label(block: Block, label: str | None) -> Booleans:
    if label is None:
        return np.ones(block.rows, dtype=bool)
    labels = block.select([label]).without_missing().columns[label]
    return np.asarray(labels.is_valid().to_numpy(zero_copy_only=False))
