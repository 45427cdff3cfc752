"""Stages put together around a table, in the way that each database allows.

The table's columns are not known here, and may have any names. They must come out as they are, and
must not be mistaken for a column of a stage: so the two are kept apart, by a join with a subquery
of the row at hand where there is one, or else with the row as one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from refold.export._sql_groups import GroupJoin
from refold.export._sql_stages import Expression, Stage, Vocabulary, call, case_when

Select = exp.Select


@dataclass(frozen=True)
class SourceTable:
    """The table whose rows the stages judge."""

    table: Expression  # the table, by a name of its own (`row`)
    row: str  # what a row of it is called
    stem: str  # beginning of names for the stages
    groups: Sequence[GroupJoin] = ()  # tables that are joined with each row

    def column(self, name: str) -> Expression:
        """Return a column of the table."""
        return exp.column(exp.to_identifier(name, quoted=True), table=self.row)

    def joined(self, select: Select) -> Select:
        """Select from the table, with what is known of each row's group."""
        select = select.from_(self.table, copy=False)
        for join in self.groups:
            select = select.join(join.name, on=join.on, join_type="left", copy=False)
        return select

    def with_groups(self, query: Select) -> Select:
        """Put the tables of groups before a query."""
        for join in self.groups:
            alias = f"{join.name}({', '.join(join.columns)})"
            query = query.with_(alias, as_=join.rows, copy=False)
        return query

    def everything(self) -> Expression:
        """Return all columns of the table."""
        return exp.Column(this=exp.Star(), table=exp.to_identifier(self.row))


Answers = Sequence[tuple[str, Expression]]
Fence = Callable[[Select], Select]
Compose = Callable[[SourceTable, Iterable[Stage], Answers], Select]


def _chained(source: SourceTable, stages: Iterable[Stage], last: Stage, fence: Fence) -> Select:
    """Select each stage from the one before, the first from nothing: it is about one row."""
    query = exp.Select()
    before: str | None = None
    for number, stage in enumerate(stages, 1):
        select = exp.select(*stage, copy=False)
        if before:
            select = select.from_(before, copy=False)
        before = f"{source.stem}{number}"
        query = query.with_(before, as_=fence(select), copy=False)
    return query.select(*last, copy=False).from_(str(before), copy=False)


def beside_the_row(source: SourceTable, stages: Iterable[Stage], answers: Answers) -> Select:
    """PostgreSQL: a lateral join. OFFSET 0 keeps stages from being merged, expressions small."""
    last = [exp.alias_(value, name, quoted=True) for name, value in answers]
    body = _chained(source, stages, last, lambda select: select.offset(0, copy=False))
    answer = f"{source.stem}answer"
    lateral = exp.Lateral(this=body.subquery(copy=False), alias=_table_alias(answer))
    names = [exp.column(exp.to_identifier(n, quoted=True), table=answer) for n, _ in answers]
    query = source.joined(exp.select(source.everything(), *names))
    return source.with_groups(query.join(lateral, join_type="cross"))


def by_way_of_json(source: SourceTable, stages: Iterable[Stage], answers: Answers) -> Select:
    """SQLite: its only lateral join is with a table-valued function, and json_each is one.

    JSON would round numbers; as text with 17 digits they stay what they are. LIMIT keeps stages
    from being merged.
    """
    values = [value for _, value in answers]
    digits = call("PRINTF", exp.Literal.string("%!.17g"), values[1].copy())
    values[1] = case_when([(exp.not_(values[1].is_(exp.null())), digits)])
    packed = call("JSON_ARRAY", call("JSON_ARRAY", *values))
    body = _chained(
        source, stages, [packed], lambda select: select.limit(-1, copy=False).offset(0, copy=False)
    )
    answer = f"{source.stem}answer"
    each = exp.Table(this=call("JSON_EACH", body.subquery(copy=False)), alias=_table_alias(answer))
    columns = []
    for number, (name, _) in enumerate(answers):
        place = exp.Literal.string(f"$[{number}]")
        value = call("JSON_EXTRACT", exp.column("value", table=answer), place)
        value = exp.cast(value, "double") if number == 1 else value
        columns.append(exp.alias_(value, name, quoted=True))
    query = source.joined(exp.select(source.everything(), *columns))
    return source.with_groups(query.join(each, join_type="cross"))


def with_the_row_as_value(source: SourceTable, stages: Iterable[Stage], answers: Answers) -> Select:
    """BigQuery: the whole row travels through the stages as one value."""
    whole = f"{source.stem}whole"
    query = source.with_groups(exp.Select())
    before: str | None = None
    for number, stage in enumerate(stages, 1):
        row = exp.column(whole) if before else exp.alias_(exp.column(source.row), whole)
        select = exp.select(row, *stage, copy=False)
        select = select.from_(before, copy=False) if before else source.joined(select)
        before = f"{source.stem}{number}"
        query = query.with_(before, as_=select, copy=False)
    last = [exp.alias_(value, name, quoted=True) for name, value in answers]
    star = exp.Column(this=exp.Star(), table=exp.to_identifier(whole))
    return query.select(star, *last, copy=False).from_(str(before), copy=False)


def behind_a_join(source: SourceTable, stages: Iterable[Stage], answers: Answers) -> Select:
    """DuckDB: as a value, too. A join with one row keeps it from looking up rows late.

    For ``ORDER BY distance LIMIT 5`` it would else write all stages into the expression to order
    by, which takes it longer than anybody waits.
    """
    query = with_the_row_as_value(source, stages, answers)
    first = query.ctes[len(source.groups)].this
    first.join(exp.select("1").subquery(), join_type="cross", copy=False)
    return query


def with_the_row_at_large(source: SourceTable, stages: Iterable[Stage], answers: Answers) -> Select:
    """Snowflake: the row's columns travel beside those of the stages, told apart by their names."""
    query = exp.Select()
    before: str | None = None
    ours: list[str] = []
    for number, stage in enumerate(stages, 1):
        rest = exp.Column(this=_star_without(ours), table=exp.to_identifier(before or source.row))
        select = exp.select(rest, *stage, copy=False).from_(before or source.table, copy=False)
        ours = [column.alias_or_name for column in stage]
        before = f"{source.stem}{number}"
        query = query.with_(before, as_=select, copy=False)
    last = [exp.alias_(value, name, quoted=True) for name, value in answers]
    rest = exp.Column(this=_star_without(ours), table=exp.to_identifier(before))
    return query.select(rest, *last, copy=False).from_(str(before), copy=False)


def _star_without(names: Sequence[str]) -> Expression:
    """Return ``* EXCLUDE (names)``; the builder knows how this version of sqlglot calls it."""
    if not names:
        return exp.Star()
    listed = ", ".join(names)
    parsed: Any = exp.maybe_parse(f"SELECT * EXCLUDE ({listed})", dialect="snowflake")
    return parsed.selects[0]


def _table_alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name))


def _as_number(column: Expression) -> Expression:
    return exp.cast(column, "double")


def _as_sqlite_number(column: Expression) -> Expression:
    """SQLite's columns hold anything: text is no number, however it begins."""
    kinds = [exp.Literal.string("integer"), exp.Literal.string("real")]
    is_number = call("TYPEOF", column.copy()).isin(*kinds)
    infinity = exp.Literal.number("9e999")
    missing = column.copy().is_(exp.null())
    return case_when([(is_number, _as_number(column)), (missing, exp.null())], infinity)


@dataclass(frozen=True)
class Database:
    """How a statement is put together for a database."""

    compose: Compose
    greatest: str = "GREATEST"
    least: str = "LEAST"
    read: Callable[[Expression], Expression] = _as_number
    own_names: bool = True

    def words(self, stem: str) -> Vocabulary:
        """Return the words for stages, with short names for columns where no others are near."""
        return Vocabulary(self.greatest, self.least, "" if self.own_names else stem, self.read)


DATABASES = {
    "duckdb": Database(behind_a_join),
    "postgres": Database(beside_the_row),
    "sqlite": Database(by_way_of_json, "MAX", "MIN", _as_sqlite_number),
    "snowflake": Database(with_the_row_at_large, own_names=False),
    "bigquery": Database(with_the_row_as_value),
}
