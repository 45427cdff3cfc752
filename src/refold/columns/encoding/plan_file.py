"""What the columns of a table are taken for, in a model file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from refold.columns.date_form import DateForm
from refold.columns.encoding.dependence import BINS, FREQUENT
from refold.columns.encoding.plan import ColumnPlan, Plan
from refold.columns.number_form import NumberForm
from refold.columns.roles import Role
from refold.modelfile import arrays, findings, texts
from refold.modelfile.fields import Field

MEMBERS = ("name", "role", "form", "ranged", "frequent", "edges", "partner", "noticed")


def written(plan: Plan) -> list[dict[str, Any]]:
    """Return a plan as the document has it, an object for each column."""
    return [
        {
            "name": column.name,
            "role": column.role,
            "form": None if column.form is None else column.form.as_dict(),
            "ranged": column.ranged,
            "frequent": list(column.frequent),
            "edges": list(column.edges),
            "partner": column.partner,
            "noticed": findings.written(
                [found for found in plan.noticed if found.column == column.name]
            ),
        }
        for column in plan.columns
    ]


def read(field: Field, columns: Sequence[dict[str, Field]]) -> Plan:
    """Return a checked plan, given the members of each column."""
    plan = Plan(
        tuple(_column(members) for members in columns),
        tuple(found for members in columns for found in findings.read(members["noticed"])),
    )
    texts.check_different(field, [column.name for column in plan.columns])
    if not plan.used:
        field.refuse("must have one that is not ignored")
    _check_partners(columns, plan)
    return plan


def _column(members: dict[str, Field]) -> ColumnPlan:
    role = next(r for r in get_args(Role) if r == members["role"].text(get_args(Role)))
    partner = members["partner"]
    return ColumnPlan(
        members["name"].text(),
        role,
        _form(members["form"], role),
        members["ranged"].boolean(),
        tuple(texts.read(members["frequent"], FREQUENT)),
        _edges(members["edges"]),
        None if partner.is_null() else partner.integer(0),
    )


def _form(field: Field, role: Role) -> NumberForm | DateForm | None:
    if field.is_null():
        return None
    if role not in ("number", "date"):
        field.refuse(f"must be null for the role {role!r}")
    field.object()
    for name, value in field.value.items():
        if type(value) is not bool:
            field.member(name).text()
    try:
        return (NumberForm if role == "number" else DateForm).from_dict(field.value)
    except ValueError as error:
        field.refuse(str(error))


def _edges(field: Field) -> tuple[float, ...]:
    edges = arrays.floats(field, arrays.length_of(field, BINS - 1, least=0))
    rising = np.append(True, edges[1:] > edges[:-1])[: len(edges)]
    arrays.require(field, edges, rising, "must be above the one before it")
    return tuple(edges.tolist())


def _check_partners(columns: Sequence[dict[str, Field]], plan: Plan) -> None:
    """Only a column in use has a partner, another one in use; in a table of numbers none has."""
    place = {column.name: k for k, column in enumerate(plan.used)}
    for members, column in zip(columns, plan.columns, strict=True):
        own = place.get(column.name)
        if column.partner is None:
            continue
        if own is None or plan.plain:
            members["partner"].refuse("must be null for what is looked at alone")
        if column.partner == own or column.partner >= len(plan.used):
            members["partner"].refuse("must be another column that is not ignored")
