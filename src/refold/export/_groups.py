"""What is expected of each group, as constants that any language can look up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refold._typing import Floats
from refold.base.errors import UserError
from refold.base.once import once
from refold.columns.context.context import ContextModel
from refold.columns.table import Column, NumberColumn, Table, TextColumn

# Of each column: expected value, spread, degrees of freedom, and how far off is as expected.
CONSTANTS = ("mu", "sd", "free", "near")
SMALL = 1e-4  # below, ln(1 + x) loses digits
_SMALLEST = 1e-50


def check_context(context: ContextModel, language: str) -> None:
    """Refuse what a statement or graph cannot say of a context."""
    instead = "Judge with refold score or refold serve, or learn"
    if context.given.over or context.given.context or context.window is not None:
        raise UserError(
            f"{language} does not take a model with over=, context= or window=: it looks groups "
            f"up. {instead} with by= alone."
        )
    texts = [name for name, column in context.texts.items() if column.matters]
    if texts:
        raise UserError(
            f"{language} judges the numbers of groups alone; the texts of {texts[0]!r} differ "
            f"between groups. {instead} without {texts[0]!r}: roles={{{texts[0]!r}: 'ignore'}}."
        )


@dataclass(frozen=True, eq=False)
class GroupConstants:
    """The groups of a model, and those above them."""

    context: ContextModel
    scales: Floats | None  # (groups + 1,): see TableScorer

    @once
    def keys(self) -> dict[int, list[tuple[str, ...]]]:
        """The groups of each depth: the group of a row itself first, 0 for all rows."""
        depths = range(len(self.context.given.by), -1, -1)
        groups = list(self.context.groups.keys)
        return {depth: list(dict.fromkeys(key[:depth] for key in groups)) for depth in depths}

    def of(self, depth: int) -> Floats:
        """Return the constants of rows of which no more than a group of some depth is known.

        By what their distances are divided comes last.
        """
        columns: dict[str, Column] = {}
        keys = self.keys[depth]
        for place, name in enumerate(self.context.given.by):
            if place < depth:
                values = list(dict.fromkeys(key[place] for key in keys))
                at = {value: k for k, value in enumerate(values)}
                codes = [at[key[place]] for key in keys]
                columns[name] = TextColumn(values, np.array(codes, dtype=np.int64))
            else:
                columns[name] = TextColumn([], np.full(len(keys), -1))
        for name in self.context.columns:
            columns[name] = NumberColumn(np.ones(len(keys)))
        table = Table(list(columns), list(columns.values()), len(keys))
        groups = self.context.groups.codes(table)
        out = []
        for units in self.context.units(table).values():
            column, found = units.column, units.scores
            near = column.as_expected(groups, found.spread, found.freedom) * column.scale
            out.append(found.expected * column.scale + column.middle)
            out.append(np.maximum(found.spread * column.scale, _SMALLEST))
            out += [found.freedom, near]
        scales = np.ones(len(keys)) if self.scales is None else self.scales[groups]
        return np.column_stack([*out, scales])
