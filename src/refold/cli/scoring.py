"""Scoring a table of any length: block by block, in order, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from refold.base.needs import needs
from refold.cli.failures import as_bad_input
from refold.cli.incidents import TableIncidents
from refold.cli.models import LoadedModel
from refold.cli.options import say
from refold.columns.context.gaps import ContextGaps
from refold.decisions.gate import Gate, GateResult
from refold.judgement import Judge, Judgement, WorstRows
from refold.judgement.reading import Reader
from refold.scale.stream import ScoredColumns, judged_blocks
from refold.tabular import InputError, TableSource
from refold.tabular.block import Block

needs("pyarrow", "cli")  # the error names the extra of the commands

_PREFIX = "refold_"


@dataclass
class Scores:
    """What a table came to."""

    worst: WorstRows
    rows: int = 0
    normal: int = 0
    outliers: int = 0
    muted: int = 0  # normal by the user's rules
    farthest: float = 0.0  # the largest distance
    gaps: ContextGaps = field(default_factory=ContextGaps)  # rows whose context was not learned

    def add(self, block: Block, found: Judgement) -> None:
        """Count a block."""
        outliers = int(found.outlier.sum())
        self.rows += block.rows
        self.outliers += outliers
        self.muted += int(found.muted.sum())
        self.normal += int(found.judged.sum()) - outliers
        self.farthest = max(self.farthest, np.nanmax(found.distances, initial=0.0))
        self.worst.add(found, block.first + np.arange(block.rows))
        self.gaps = self.gaps.plus(found.context_gaps)

    def check(self, gate: Gate, judge: Judge) -> list[GateResult]:
        """Say whether the table passes."""
        farthest = self.farthest / judge.threshold if judge.threshold > 0.0 else np.inf
        return gate.check(self.normal + self.outliers, self.outliers, farthest, judge.alpha)


@dataclass(frozen=True)
class Output:
    """How scored rows are written."""

    # Takes the columns to come and the names of those that are added; returns a context that gives
    # a function of a batch.
    opened: Callable[[Any, list[str]], Any] = field(repr=False)
    csv: bool  # whether cells are handed on as they are written
    reasons: int  # how many columns to name as reasons
    # Stands before the names of the columns that are added; None is "" or, where the table has one
    # of these names, "refold_".
    prefix: str | None


def score_table(
    loaded: LoadedModel,
    reader: Reader,
    table: TableSource,
    *,
    worst: int,
    count: Callable[[int], None],
    output: Output | None = None,
    incidents: TableIncidents | None = None,
) -> Scores:
    """Judge every row of a table, write it if there is an output, find incidents if asked to."""
    scores, reasons = Scores(WorstRows(worst)), 0 if output is None else output.reasons
    more = [] if incidents is None else incidents.columns
    needed = [*reader.columns, *({*more} - {*reader.columns})] if output is None else None
    as_written = reader.numeric if output is not None and output.csv else ()
    blocks = reader.blocks(table, needed, as_written=as_written)
    first = next(blocks, None)
    if first is None:  # before an output is opened
        raise InputError(f"{table.name} has column names but no rows.")
    with nullcontext() if output is None else _opened(loaded, reader, table, output) as write:
        for block, found in judged_blocks(reader, chain([first], blocks), explained=reasons > 0):
            if write is not None:
                write(block, found)
            if incidents is not None:
                with as_bad_input(table.name):
                    incidents.add(block, found)
            scores.add(block, found)
            count(block.rows)
    return scores


@contextmanager
def _opened(
    loaded: LoadedModel, reader: Reader, table: TableSource, output: Output
) -> Iterator[Callable[[Block, Judgement], None]]:
    prefix = _free_prefix(table, output.reasons) if output.prefix is None else output.prefix
    with as_bad_input(table.name):
        columns = ScoredColumns(
            loaded.judge,
            table.kinds,
            numeric=reader.numeric,
            reasons=output.reasons,
            prefix=prefix,
            csv=output.csv,
            model=loaded.model if output.reasons else None,
        )
    with output.opened(columns.schema, columns.added) as write:
        yield lambda block, found: write(columns.batch(block.columns, found))


def _free_prefix(table: TableSource, reasons: int) -> str:
    """Return what must stand before the names that are added, and say so if there must be."""
    added = ["distance", "label", "verdict", "p_value", "because"]
    added += [f"reason_{number}" for number in range(1, reasons + 1)]
    taken = [name for name in added if name in table.kinds]
    if not taken:
        return ""
    named = ", ".join(taken)
    say(f"{table.name} has {named} already: the columns added begin with {_PREFIX}.", err=True)
    return _PREFIX
