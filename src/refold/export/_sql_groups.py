"""What is expected of each group, as tables that a statement joins, and scores made with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from refold.base.errors import UserError
from refold.columns.context.context import ContextModel
from refold.columns.context.spread import FARTHEST_T
from refold.columns.encoding.plan import Plan
from refold.export._exported_columns import missing_texts
from refold.export._groups import CONSTANTS, SMALL, GroupConstants, check_context
from refold.export._sql_cells import READERS
from refold.export._sql_stages import Expression, call, case_when, divide, is_finite, real

_LARGEST = 1e250

Step = Mapping[str, Expression]


def check_groups(context: ContextModel, dialect: str) -> None:
    """Refuse what a statement cannot say of a context."""
    check_context(context, "A SQL statement")
    if dialect not in READERS:
        raise UserError(
            f"Groups can be judged in {', '.join(READERS)}; not in {dialect}, where it could not "
            "be tested."
        )


@dataclass(frozen=True, eq=False)
class GroupJoin:
    """A table of groups: what it is called, its query, and which row it is joined with."""

    name: str
    columns: list[str]
    rows: Expression
    on: Expression


class GroupTables:
    """The groups of a model: one table for each depth, the group of a row itself first."""

    def __init__(self, groups: GroupConstants, plan: Plan, dialect: str, stem: str) -> None:
        self._context, self._plan, self._stem = groups.context, plan, stem
        self._reader = READERS[dialect]
        self._groups = groups

    @property
    def log(self) -> dict[str, bool]:
        """The columns that are judged beside their group, and whether as logarithms."""
        return {name: column.log for name, column in self._context.columns.items()}

    def joins(self, cells: Mapping[str, Expression]) -> list[GroupJoin]:
        """Return the tables to join; `cells` are the columns of the table that name groups."""
        texts = [self._text(name, cells[name]) for name in self._context.given.by]
        found = []
        for depth, keys in self._groups.keys.items():
            if depth == 0:
                continue
            constants = self._groups.of(depth)
            rows = [
                exp.Tuple(
                    expressions=[
                        *map(self._reader.literal, key),
                        *map(real, values.tolist()),
                    ]
                )
                for key, values in zip(keys, constants, strict=True)
                if all(map(self._reader.holds, key))
            ]
            name = f"{self._stem}group{depth}"
            columns = [f"k{i}" for i in range(depth)]
            on = exp.and_(
                *(
                    exp.column(key, table=name).eq(text.copy())
                    for key, text in zip(columns, texts, strict=False)
                )
            )
            columns += [f"{what}{j}" for j in range(len(self.log)) for what in CONSTANTS]
            columns.append("scale")
            found.append(GroupJoin(name, columns, exp.Values(expressions=rows), on))
        return found

    def constants(self, column: str) -> dict[str, Expression]:
        """Return the constants of a column for the row at hand."""
        j = list(self.log).index(column)
        width = len(CONSTANTS)
        unknown = self._groups.of(0)[0, width * j : width * (j + 1)]
        return {
            what: self._looked_up(f"{what}{j}", value)
            for what, value in zip(CONSTANTS, unknown.tolist(), strict=True)
        }

    @property
    def scale(self) -> Expression | None:
        """By what the distance of the row at hand is divided; None if that of none is."""
        return None if self._groups.scales is None else self._looked_up("scale", 1.0)

    def _looked_up(self, what: str, unknown: float) -> Expression:
        """Return a constant of the row at hand, by the smallest of its groups that is known."""
        names = [f"{self._stem}group{depth}" for depth in self._groups.keys if depth]
        others = [exp.column(what, table=name) for name in names[1:]]
        return exp.Coalesce(
            this=exp.column(what, table=names[0]), expressions=[*others, real(unknown)]
        )

    def _text(self, name: str, cell: Expression) -> Expression:
        """Return the group of a row as text, NULL where it is missing."""
        plan = next(column for column in self._plan.used if column.name == name)
        text = self._reader.text(cell)
        if plan.truth:
            text = self._reader.truth(text)
        return self._reader.known(text, missing_texts(plan))


def score_steps(
    at: Callable[[str], Expression], greatest: str, *, log: bool, kept: Sequence[str] = ()
) -> Iterator[Step]:
    """Turn a number (raw) into its score, given mu, sd, free and near; what is not finite stays."""
    raw = at("raw")
    there = is_finite(raw)
    value: Expression = raw.copy()
    if log:
        smallest = real(float(np.finfo(np.float64).tiny))
        value = exp.Ln(this=call(greatest, value, smallest))
    beyond = [
        (value.copy() > real(_LARGEST), real(_LARGEST)),
        (value.copy() < real(-_LARGEST), real(-_LARGEST)),
    ]
    rest = {name: at(name) for name in ("raw", "sd", "free", "near", *kept)}
    yield {**rest, "t": case_when([(there, exp.paren(case_when(beyond, value) - at("mu")))])}
    near = exp.Abs(this=at("t")) < rest.pop("near")
    rest.pop("sd")
    yield {**rest, "t": case_when([(near, real(0.0))], divide(at("t"), at("sd")))}
    size = case_when(
        [(exp.Abs(this=at("t")) > real(FARTHEST_T), real(FARTHEST_T))],
        exp.Abs(this=at("t")),
    )
    yield {
        **rest,
        "side": case_when([(at("t") < real(0.0), real(-1.0))], real(1.0)),
        "t": size,
    }
    rest["side"] = at("side")
    yield {**rest, "t": divide(at("t") * at("t"), at("free"))}
    t = at("t")
    series = t * (
        exp.paren(
            real(1.0)
            - t.copy()
            * exp.paren(real(0.5) - t.copy() * exp.paren(real(1.0 / 3.0) - t.copy() * real(0.25)))
        )
    )
    exact = exp.Ln(this=exp.Add(this=real(1.0), expression=t.copy()))
    yield {**rest, "t": case_when([(t.copy() < real(SMALL), series)], exact)}
    free = at("free")
    factor = divide(
        exp.paren(real(8.0) * free.copy() + real(1.0)),
        exp.paren(real(8.0) * free.copy() + real(3.0)),
    )
    z = at("side") * factor * exp.Sqrt(this=free.copy() * at("t"))
    yield {
        **{name: at(name) for name in kept},
        "raw": case_when([(is_finite(at("raw")), z)], at("raw")),
    }
