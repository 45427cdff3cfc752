"""What a Detector makes of tables that packages bring: rates, single-cell faults, findings.

``python -m refold.studies.tables.packaged plotly statsmodels`` prints it as Markdown. Nothing is
downloaded or imported: the CSV files in the folders of the packages are read, and those in their
archives.
"""

from __future__ import annotations

import sys
import tarfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from refold.base.needs import needs
from refold.checks import check
from refold.models.detector import Detector
from refold.studies.tables.suite import NORMAL, TableTask, divide_clean

PACKAGES = ("statsmodels", "plotly", "vega_datasets", "pydataset", "palmerpenguins")
# Training rows from so many on; the last has no end.
BANDS = (100, 200, 500, 1000)
_ALPHA = 0.01
_MOST_COLUMNS, _MOST_ROWS, _EXPLAINED = 60, 20_000, 20


def packaged_tables(packages: Iterable[str] = PACKAGES) -> Iterator[tuple[str, Any]]:
    """Give the name of each table that is large enough, and the table as texts."""
    pd = needs("pandas", "benchmark")
    for name, file in _files(packages):
        try:
            packed = "gzip" if name.endswith(".gz") else None
            rows = pd.read_csv(file, dtype=str, nrows=_MOST_ROWS, compression=packed)
        except (ValueError, UnicodeError):  # not a table: a note, a list of files
            continue
        if len(rows) >= 2 * BANDS[0] and 2 <= rows.shape[1] <= _MOST_COLUMNS:
            yield name, rows.loc[:, rows.notna().any()]


def _files(packages: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for package in packages:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            continue
        folder = Path(spec.origin).parent
        for path in sorted(folder.rglob("*")):
            name = f"{package}/{path.name}"
            if "tests" in path.parts:
                continue
            if path.name.endswith((".csv", ".csv.gz")):
                yield name, path
            elif path.name.endswith(".tar.gz"):
                with tarfile.open(path) as archive:
                    for member in archive:
                        if member.isfile() and member.name.endswith(".csv"):
                            yield f"{package}/{Path(member.name).name}", archive.extractfile(member)


@dataclass
class PackagedResults:
    """What all tables came to: of each table the share, so that large ones do not count more."""

    rates: dict[int, list[float]] = field(default_factory=dict)  # by the size of the table
    caught: dict[str, list[float]] = field(default_factory=dict)  # by the kind of fault
    right: dict[str, list[float]] = field(default_factory=dict)  # the top reason is the wrong cell
    findings: Counter[str] = field(default_factory=Counter)  # by kind
    refused: dict[str, str] = field(default_factory=dict)  # tables without a model, and why

    def add(self, name: str, rows: Any, seed: int = 0) -> None:
        """Divide a table, learn from one part, and count what is said of the other."""
        task = divide_clean(rows, np.random.default_rng([crc32(name.encode()), seed]))
        train, test = task.read("typed")
        self.findings.update(found.kind for found in check(train))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = Detector(alpha=_ALPHA).fit(train)
        except ValueError as error:
            self.refused[name] = str(error)
            return
        outlier, kinds = model.predict(test) == -1, np.array(task.kinds)
        band = max(size for size in BANDS if size <= len(train))
        self.rates.setdefault(band, []).append(float(outlier[kinds == NORMAL].mean()))
        for kind in dict.fromkeys(task.kinds[task.kinds.count(NORMAL) :]):
            self.caught.setdefault(kind, []).append(float(outlier[kinds == kind].mean()))
            found = np.flatnonzero(outlier & (kinds == kind))[:_EXPLAINED]
            if len(found):
                self.right.setdefault(kind, []).append(_top_right(model, test, task, found))

    def markdown(self) -> str:
        """Return the tables to print."""
        lines = [f"| training rows | tables | false alarms at {_ALPHA:.0%} |", "|---|--:|--:|"]
        for band, rates in sorted(self.rates.items()):
            lines.append(f"| from {band:,} | {len(rates)} | {100 * np.mean(rates):.1f} % |")
        lines += ["", "| fault | tables | caught | top reason right |", "|---|--:|--:|--:|"]
        for kind, caught in self.caught.items():
            right = self.right.get(kind)
            share = "–" if right is None else f"{100 * np.mean(right):.0f} %"
            lines.append(f"| {kind} | {len(caught)} | {100 * np.mean(caught):.0f} % | {share} |")
        lines += ["", "| finding | times |", "|---|--:|"]
        lines += [f"| {kind} | {times} |" for kind, times in self.findings.most_common()]
        return "\n".join(lines)


def _top_right(model: Any, test: Any, task: TableTask, found: Any) -> float:
    """Return how often the first reason of some rows is the column that is wrong."""
    said = model.explain(test.iloc[found], reasons=1)
    pairs = zip(said, found.tolist(), strict=True)
    return float(np.mean([row.reasons[0].feature == task.columns[at] for row, at in pairs]))


def main(packages: Iterable[str] = PACKAGES) -> None:
    """Go over all tables, and print what came out."""
    results = PackagedResults()
    for name, rows in packaged_tables(packages):
        print(name, file=sys.stderr)
        results.add(name, rows)
    print(results.markdown())
    for name, why in results.refused.items():
        print(f"\n{name}: {why}")


if __name__ == "__main__":
    main(sys.argv[1:] or PACKAGES)
