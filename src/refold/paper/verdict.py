"""Equal, within seed noise, or different, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Literal

from refold.paper.entries import Entry
from refold.paper.errata import errata_of
from refold.paper.printed import AVERAGE

Kind = Literal["equal", "noise", "differs"]
TITLES: dict[Kind, str] = {
    "equal": "equal",
    "noise": "within seed noise",
    "differs": "different",
}

# Half of the last printed digit, and a little for numbers that end in a 5 there.
_HALF_DIGIT = 0.05 + 1e-9
# The standard deviation of what rounding to one decimal does.
_ROUNDING = 0.1 / sqrt(12.0)
_MAX_Z = 3.0


@dataclass(frozen=True)
class Verdict:
    """What is said of a cell; `because` is empty if there is nothing to explain."""

    kind: Kind
    because: str = ""

    @property
    def title(self) -> str:
        """The verdict in words."""
        return f"differs, because {self.because}" if self.kind == "differs" else TITLES[self.kind]


def z_score(entry: Entry) -> float:
    """Return how many standard deviations of the seed noise the printed mean lies away."""
    spread = hypot(entry.ours.noise * sqrt(1.0 + 1.0 / entry.ours.n_seeds), _ROUNDING)
    return abs(entry.printed.mean - entry.ours.cell.mean) / spread


def is_equal(entry: Entry) -> bool:
    """Whether mean and standard deviation round to the printed ones."""
    ours, printed = entry.ours.cell, entry.printed
    return all(abs(a - b) <= _HALF_DIGIT for a, b in zip(ours, printed, strict=True))


def judge(entries: Sequence[Entry]) -> list[Verdict]:
    """Return the verdict on each entry of one table; averages are judged by their columns."""
    verdicts = [_judge_cell(entry) for entry in entries]
    for i, entry in enumerate(entries):
        if entry.key.task == AVERAGE and verdicts[i].kind == "differs":
            column = (
                other.key.task
                for other, verdict in zip(entries, verdicts, strict=True)
                if other.key[:2] == entry.key[:2]
                and other.key.task != AVERAGE
                and verdict.kind == "differs"
            )
            verdicts[i] = Verdict("differs", _average_reason(column))
    return verdicts


def _judge_cell(entry: Entry) -> Verdict:
    if is_equal(entry):
        return Verdict("equal")
    if entry.ours.n_seeds > 1 and z_score(entry) <= _MAX_Z:
        return Verdict("noise")
    return Verdict("differs", _reason(entry))


def _reason(entry: Entry) -> str:
    known = errata_of(entry.table, entry.key)
    if known:
        # Trials run in the default setting: elsewhere an erratum is likely, but not shown.
        doubt = ", likely here too" if entry.key.setting == "optimized" else ""
        return "; ".join(f"{e.short} (erratum {e.number}{doubt})" for e in known)
    if entry.ours.n_seeds > 1:
        what = "folds" if entry.key.setting == "optimized" else "draws"
        return (
            f"of something that we have not found: the paper's random {what} are not published, "
            f"but ours move this cell by ±{entry.ours.noise:.1f} only ({entry.ours.n_seeds} seeds)"
        )
    return "of something that we have not found"


def _average_reason(tasks: Iterable[str]) -> str:
    names = ", ".join(tasks)
    if names:
        return f"of the cells above that differ: {names}"
    return "small differences of the cells above, none beyond seed noise alone, add up"
