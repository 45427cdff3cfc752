"""Rows without a context that was learned: how many there are, and how they are judged."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from refold.base.words import printable
from refold.columns.context.context import ContextModel
from refold.columns.context.trend import seconds
from refold.columns.table import Table, as_texts


@dataclass(frozen=True)
class ContextGaps:
    """How many of some rows have no context, or one that was not learned."""

    no_group: int = 0
    new_group: int = 0
    no_time: int = 0
    beyond: int = 0  # later than was tried
    no_context: int = 0

    @classmethod
    def of(cls, context: ContextModel, inputs: Table) -> ContextGaps:
        """Count rows, parsed."""
        no_group = new_group = no_time = beyond = no_context = 0
        if context.given.by:
            missing = np.any([as_texts(inputs[name]).is_null for name in context.given.by], axis=0)
            no_group = int(np.count_nonzero(missing))
            new_group = int(np.count_nonzero(context.groups.codes(inputs) < 0)) - no_group
        if (axis := context.axis) is not None:
            times = seconds(inputs[axis.column], axis.column)
            no_time = int(np.count_nonzero(np.isnan(times)))
            beyond = int(np.count_nonzero(times > axis.end + axis.tried))
        if context.given.context:
            missing = np.any([inputs[name].is_null for name in context.given.context], axis=0)
            no_context = int(np.count_nonzero(missing))
        return cls(no_group, new_group, no_time, beyond, no_context)

    def plus(self, other: ContextGaps) -> ContextGaps:
        """Return the counts of the rows of both."""
        theirs = asdict(other)
        return ContextGaps(**{name: n + theirs[name] for name, n in asdict(self).items()})

    def sentences(self, context: ContextModel) -> list[str]:
        """Say how these rows are judged; nothing where there are none."""
        group = printable(context.given.by[-1]) if context.given.by else ""
        above = "the group above it, or by all rows" if len(context.given.by) > 1 else "all rows"
        time = "".join(map(printable, context.given.over))
        others = " or ".join(map(printable, context.given.context))
        said = {
            f"without {group}: judged by {above}": self.no_group,
            f"with a {group} that training did not have: judged by {above}": self.new_group,
            f"whose {time} is missing or cannot be read: judged as at the end of training": (
                self.no_time
            ),
            f"whose {others} is missing or cannot be read: judged as if it were usual": (
                self.no_context
            ),
            f"later than was tried: {context.learned_until}": self.beyond,
        }
        return [f"{n:,} row{'' if n == 1 else 's'} {words}." for words, n in said.items() if n]
